"""The queues that a client serves, and the tasks that it has in hand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Awaitable, Callable

from .errors import CallboardError
from .messages import Message, check_size

PREFIX = "~s"  # of the ids of queues that are served
MAX_AT_ONCE = 1000
MAX_REASON = 1024  # characters of an error that is told

# A broker that is killed may not have passed on what came last: answers are said again to the next one.
SAY_AGAIN = 30.0  # s
MAX_SAID = 1000
MAX_SAID_BYTES = 16 << 20


class Task:
    """A task that a server has in hand."""

    def __init__(self, servers: Servers, m: Message) -> None:
        self.name: str = m["task"]  # a lasting word
        self.queue: str = m.get("queue") or ""
        self.origin: str = m.get("from") or ""  # the client that asked, "": one without an id
        self.body: Any = m.get("body")
        self.again: bool = m.get("again") or False  # somebody had it in hand before, perhaps this program
        self.left: float = m.get("left") or 0  # s that there were when it came
        self._servers = servers
        self._work: asyncio.Task[Any] | None = None
        self._why = "the task was cancelled"

    def progress(self, progress: Any) -> None:
        """Tells who asked how it comes on. Of what a slow connection keeps waiting the newest stands."""
        message = {"op": "done", "task": self.name, "progress": progress}
        check_size(message)
        self._servers.tell(self, message)

    def end(self, why: str) -> None:
        """Its answer is not wanted any more."""
        self._why = why
        if self._work:
            self._work.cancel()

    def begin(self, handler: Handler, done: Callable[[Message, int], None]) -> None:
        loop = asyncio.get_running_loop()
        self._work = loop.create_task(self._do(handler))
        timer = loop.call_later(self.left, self.end, "the task's time is over")

        def ended(work: asyncio.Task[Any]) -> None:
            timer.cancel()
            done(*self._answer(work))

        self._work.add_done_callback(ended)

    async def _do(self, handler: Handler) -> Any:
        return await handler(self)

    def _answer(self, work: asyncio.Task[Any]) -> tuple[Message, int]:
        """Returns what is said of it, and how many bytes that has."""
        reason = self._why
        if not work.cancelled():
            try:
                message = {"op": "done", "task": self.name, "body": work.result()}
                return message, check_size(message)
            except Exception as error:  # the handler's, or of what it has returned
                reason = str(error) or type(error).__name__
        return {"op": "done", "task": self.name, "error": {"message": reason[:MAX_REASON]}}, MAX_REASON


Handler = Callable[[Task], Awaitable[Any]]


class Server:
    """A queue that the client serves."""

    def __init__(self, servers: Servers, id: str, queue: str, at_once: int, handler: Handler) -> None:
        self.queue = queue
        self.error: CallboardError | None = None  # why it has ended
        self._servers, self._id, self._at_once, self._handler = servers, id, at_once, handler
        self._in_hand = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._ended = asyncio.Event()

    async def stop(self) -> None:
        """Takes no further tasks, and returns when those in hand are done. Not to be waited for by the handler."""
        self._servers.stop(self._id)
        await self._idle.wait()

    async def wait(self) -> None:
        """Waits until the broker refuses the queue, or the client ends: raises why."""
        await self._ended.wait()
        assert self.error
        raise self.error

    def message(self) -> Message:
        return {"op": "serve", "id": self._id, "queue": self.queue, "at_once": self._at_once}

    def begin(self, task: Task, done: Callable[[Message, int], None]) -> None:
        self._in_hand += 1
        self._idle.clear()

        def ended(message: Message, size: int) -> None:
            self._in_hand -= 1
            done(message, size)
            if self._in_hand == 0:
                self._idle.set()

        task.begin(self._handler, ended)

    def end(self, error: CallboardError) -> None:
        """It has ended for good."""
        self.error = self.error or error
        self._ended.set()


@dataclass(slots=True)
class Said:
    """An answer that was given lately."""

    message: Message
    size: int
    at: float  # loop time


class Servers:
    def __init__(self, send: Callable[[Message], None], lasting: bool) -> None:
        self._send = send
        self._lasting = lasting  # the client has an id
        self._greeted = False
        self._all: dict[str, Server] = {}  # by id
        self._hands: dict[str, Task] = {}  # by word
        self._said: dict[str, Said] = {}  # by word, the oldest first
        self._said_bytes = 0
        self._counter = 0

    def serve(self, queue: str, handler: Handler, at_once: int) -> Server:
        if not queue or not callable(handler):
            raise ValueError("callboard: to serve takes the name of a queue and a handler")
        if not 1 <= at_once <= MAX_AT_ONCE:
            raise ValueError(f"callboard: {at_once} tasks at once; expected 1 to {MAX_AT_ONCE}")
        self._counter += 1
        id = f"{PREFIX}{self._counter}"
        s = self._all[id] = Server(self, id, queue, at_once, handler)
        if self._greeted:
            self._send(s.message())
        return s

    def stop(self, id: str) -> None:
        if self._all.pop(id, None) and self._greeted:
            self._send({"op": "unserve", "id": id})

    def tell(self, task: Task, message: Message) -> None:
        """Says something of a task that is still in hand."""
        if self._hands.get(task.name) is task and self._greeted:
            self._send(message)

    def words(self) -> list[str]:
        """Returns what a hello says: the words of tasks that are in hand, or were answered lately."""
        self._forget()
        return sorted({*self._hands, *self._said})

    def greeted(self) -> None:
        """Hello was said: behind it what was answered lately, and what is served."""
        self._greeted = True
        for said in self._said.values():
            self._send(said.message)
        for s in self._all.values():
            self._send(s.message())

    def detached(self) -> None:
        self._greeted = False
        if not self._lasting:
            self._let_go("the connection was lost: others do the task")

    def _let_go(self, why: str) -> None:
        hands, self._hands = self._hands, {}
        self._said, self._said_bytes = {}, 0
        for task in hands.values():
            task.end(why)

    def end(self, error: CallboardError) -> None:
        """The client has ended: what is in hand goes back to its queue."""
        servers, self._all = self._all, {}
        for s in servers.values():
            s.end(error)
        self._let_go(error.message)

    def task(self, m: Message) -> None:
        s = self._all.get(m["id"])
        if not s or m["task"] in self._hands:
            return  # it is given to another server, once the broker knows
        task = self._hands[m["task"]] = Task(self, m)

        def done(message: Message, size: int) -> None:
            if self._hands.get(task.name) is not task:
                return
            del self._hands[task.name]
            self._remember(task.name, Said(message, size, asyncio.get_running_loop().time()))
            if self._greeted:
                self._send(message)

        s.begin(task, done)

    def _remember(self, word: str, said: Said) -> None:
        if old := self._said.pop(word, None):
            self._said_bytes -= old.size
        self._said[word] = said
        self._said_bytes += said.size
        self._forget()

    def _forget(self) -> None:
        """Forgets what is old, or too much."""
        since = asyncio.get_running_loop().time() - SAY_AGAIN
        for word, said in list(self._said.items()):
            if said.at >= since and len(self._said) <= MAX_SAID and self._said_bytes <= MAX_SAID_BYTES:
                return
            del self._said[word]
            self._said_bytes -= said.size

    def cancelled(self, m: Message) -> None:
        if task := self._hands.get(m.get("task") or ""):
            task.end("the task was cancelled")

    def failed(self, error: CallboardError) -> bool:
        """Takes an error; False if it is about none of these."""
        s = self._all.pop(error.id or "", None)
        if s:
            s.end(error)
        return s is not None
