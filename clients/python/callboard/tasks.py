"""Tasks that are asked for, and commands with a key."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass
from typing import Any, Callable

from .errors import CallboardError, unavailable
from .messages import Message, check_size

PREFIX = "~t"  # of the ids of tasks; those of commands and lists are numbers
TTL = 10.0  # s that a task may wait and take, if nothing else is said
GRACE = 10.0  # s that its answer is waited for beyond that
MAX_CANCELLED = 1000  # tasks whose cancelling is remembered

log = logging.getLogger("callboard")


@dataclass(slots=True, eq=False)
class Asked:
    """A task whose answer is awaited."""

    message: Message
    deadline: float  # loop time
    answer: asyncio.Future[Any]
    accepted: Callable[[int], Any] | None
    progress: Callable[[Any], Any] | None
    known: bool = False  # it was accepted

    @property
    def key(self) -> str:
        return str(self.message["key"])


class Tasks:
    """Their answers find the client wherever it hangs on."""

    def __init__(self, send: Callable[[Message], None], lasting: bool) -> None:
        self._send = send
        self._lasting = lasting  # the client has an id; without one it is another client on each connection
        self._open = False  # hello was said; without an id: and answered
        self._asked: dict[str, Asked] = {}  # by key
        self._cancelled: dict[str, float] = {}  # by key: until when its cancelling is said behind each hello
        self._counter = 0

    async def ask(
        self, message: Message, ttl: float | None, accepted: Callable[[int], Any] | None = None, progress: Callable[[Any], Any] | None = None
    ) -> Any:
        """Asks for what a message says, and returns the answer. If it is cancelled, so is the task."""
        loop = asyncio.get_running_loop()
        ttl = ttl or TTL
        key = message.get("key") or secrets.token_hex(12)
        if key in self._asked:
            raise CallboardError("conflict", f'the answer to the task "{key}" is awaited already')
        self._counter += 1
        message = {**message, "id": f"{PREFIX}{self._counter}", "key": key, "ttl": ttl}
        check_size(message)
        a = self._asked[key] = Asked(message, loop.time() + ttl, loop.create_future(), accepted, progress)
        self._cancelled.pop(key, None)
        if self._open:
            self._say(a)
        try:
            async with asyncio.timeout(ttl + GRACE):
                return await a.answer
        except TimeoutError:
            raise unavailable("no broker has answered in time; the task may have been done") from None
        finally:
            self._give_up(a)

    def _say(self, a: Asked) -> None:
        left = a.deadline - asyncio.get_running_loop().time()
        if left > 0:
            self._send({**a.message, "ttl": left})

    def _give_up(self, a: Asked) -> None:
        """Nobody waits for the answer any more. A connection may be lost before the broker has heard of it."""
        if self._asked.get(a.key) is not a:
            return
        del self._asked[a.key]
        if self._lasting and len(self._cancelled) < MAX_CANCELLED:
            self._cancelled[a.key] = a.deadline
        self._send({"op": "cancel", "key": a.key})

    def words(self) -> list[str]:
        """Returns what a hello says: the keys whose answers are awaited."""
        return sorted(a.key for a in self._asked.values() if a.known)

    def greeted(self) -> None:
        """Hello was said: behind it what was not accepted."""
        if self._lasting:
            self._begin()

    def attached(self) -> None:
        if not self._lasting:
            self._begin()

    def _begin(self) -> None:
        self._open = True
        now = asyncio.get_running_loop().time()
        self._cancelled = {key: until for key, until in self._cancelled.items() if until > now}
        for key in self._cancelled:
            self._send({"op": "cancel", "key": key})
        for a in self._asked.values():
            if not a.known:
                self._say(a)

    def detached(self) -> None:
        if not self._lasting and self._open:
            self.end(CallboardError("lost", "the connection was lost before the answer came"))
        self._open = False

    def end(self, error: CallboardError) -> None:
        """Answers all that wait."""
        asked, self._asked = self._asked, {}
        for a in asked.values():
            _refuse(a, error)

    def accepted(self, m: Message) -> None:
        a = self._asked.get(m.get("key") or "")
        if a and not a.known:
            a.known = True
            _tell(a.accepted, int(m.get("ahead") or 0))

    def progressed(self, m: Message) -> None:
        a = self._asked.get(m.get("key") or "")
        if a:
            _tell(a.progress, m.get("progress"))

    def replied(self, m: Message) -> None:
        """Takes the reply to a task. What nobody waits for is acknowledged, too."""
        self._send({"op": "ack", "key": m["key"]})
        self._cancelled.pop(m["key"], None)
        a = self._asked.pop(m["key"], None)
        if not a:
            return
        if not m["ok"]:
            _refuse(a, CallboardError.of(m.get("error") or {}, a.message["id"]))
        elif not a.answer.done():
            a.answer.set_result(m.get("result"))

    def failed(self, error: CallboardError) -> bool:
        """Takes an error; False if it is about none of these."""
        a = next((one for one in self._asked.values() if one.message["id"] == error.id), None)
        if a:
            del self._asked[a.key]
            _refuse(a, error)
        return a is not None


def _refuse(a: Asked, error: CallboardError) -> None:
    if not a.answer.done():
        a.answer.set_exception(error)


def _tell(handler: Callable[[Any], Any] | None, what: Any) -> None:
    """Calls what is the program's."""
    try:
        if handler:
            handler(what)
    except Exception:
        log.exception("a handler failed")
