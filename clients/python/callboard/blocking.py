"""The client for scripts without asyncio.

It runs in a thread of its own::

    from callboard import Notification
    from callboard.blocking import Client

    with Client("ws://127.0.0.1:8800/ws") as client:
        client.subscribe("near", "laser.min < 1")
        for event in client:
            if isinstance(event, Notification):
                print(event.robot, event.time, event.reading["min"])
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, Coroutine, Self, TypeVar

from . import client as asynchronous
from . import serve as asynchronous_serve
from .errors import CallboardError, closed
from .events import Event, State, Subscribed

T = TypeVar("T")


class Client:
    """callboard.Client, whose calls wait. It takes the same arguments, and is attached when it is made."""

    def __init__(self, *brokers: str, **config: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="callboard", daemon=True)
        self._thread.start()
        try:
            self._client = self._do(self._make(brokers, config))
        except BaseException:
            self._stop()
            raise

    async def _make(self, brokers: tuple[str, ...], config: dict[str, Any]) -> asynchronous.Client:
        return await asynchronous.Client(*brokers, **config).__aenter__()

    def _do(self, what: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        if self._loop.is_closed():
            what.close()
            raise closed()
        future = asyncio.run_coroutine_threadsafe(what, self._loop)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def _stop(self) -> None:
        self._do(_settle())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not self._loop.is_closed():
            self._do(self._client.__aexit__(kind, error, trace))
            self._stop()

    def close(self) -> None:
        """Ends it."""
        self.__exit__(GeneratorExit, None, None)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        try:
            return self._do(self._client.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    def next(self, timeout: float) -> Event | None:
        """Returns the next event, None if there is none within so many seconds."""
        try:
            return self._do(asyncio.wait_for(self._client.__anext__(), timeout))
        except TimeoutError:
            return None

    @property
    def id(self) -> str:
        return self._client.id

    def state(self) -> State:
        return self._client.state()

    def subscribe(self, id: str, condition: str, **options: Any) -> Subscribed:
        return self._do(self._client.subscribe(id, condition, **options))

    def update(self, id: str, **changes: Any) -> Subscribed:
        return self._do(self._client.update(id, **changes))

    def unsubscribe(self, id: str) -> None:
        self._do(self._client.unsubscribe(id))

    def command(self, robot: str, name: str, *args: Any, **options: Any) -> Any:
        return self._do(self._client.command(robot, name, *args, **options))

    def request(self, queue: str, body: Any = None, **options: Any) -> Any:
        """callboard.Client.request. accepted and progress are called in the client's thread, and must not block."""
        return self._do(self._client.request(queue, body, **options))

    def serve(self, queue: str, handler: Callable[[Task], Any], *, at_once: int = 1) -> Server:
        """Does the tasks of a queue, each by a call of handler in a thread of its own, until stop."""

        async def work(task: asynchronous_serve.Task) -> Any:
            one = Task(self, task)
            answer: asyncio.Future[Any] = _in_thread(lambda: handler(one))
            try:
                return await asyncio.shield(answer)
            except asyncio.CancelledError:
                one.cancelled.set()
                return await answer  # the thread goes on until it sees that

        async def begin() -> asynchronous_serve.Server:
            return self._client.serve(queue, work, at_once=at_once)

        return Server(self, self._do(begin()))

    def list(self, what: str) -> Any:
        return self._do(self._client.list(what))

    def move(self, url: str) -> None:
        self._do(self._client.move(url))


class Task:
    """A task that a server has in hand: callboard.Task, for a thread."""

    def __init__(self, client: Client, task: asynchronous_serve.Task) -> None:
        self.name, self.queue, self.origin, self.body, self.again = task.name, task.queue, task.origin, task.body, task.again
        self.cancelled = threading.Event()  # set when its answer is not wanted any more
        self._client, self._task = client, task

    def progress(self, progress: Any) -> None:
        """Tells who asked how it comes on."""

        async def tell() -> None:
            self._task.progress(progress)

        self._client._do(tell())


class Server:
    """A queue that the client serves."""

    def __init__(self, client: Client, server: asynchronous_serve.Server) -> None:
        self._client, self._server = client, server

    @property
    def error(self) -> CallboardError | None:
        """Why it has ended, None while it goes on."""
        return self._server.error

    def stop(self) -> None:
        """Takes no further tasks, and returns when those in hand are done. Not to be called by the handler."""
        self._client._do(self._server.stop())

    def wait(self) -> None:
        """Waits until the broker refuses the queue, or the client ends: raises why."""
        self._client._do(self._server.wait())


def _in_thread(function: Callable[[], T]) -> asyncio.Future[T]:
    """Calls a function in a thread that ends with the program."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(set: Callable[[Any], None], what: Any) -> None:
        if not answer.done():
            set(what)

    def run() -> None:
        try:
            end = (answer.set_result, function())
        except Exception as error:
            end = (answer.set_exception, error)  # type: ignore[assignment]
        try:
            loop.call_soon_threadsafe(settle, *end)
        except RuntimeError:
            pass  # the client has ended meanwhile

    threading.Thread(target=run, name="callboard-task", daemon=True).start()
    return answer


async def _settle() -> None:
    """Waits until what goes on has ended, the last words of a connection for example."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        _, late = await asyncio.wait(others, timeout=2)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
