"""A program's attachment to a network of brokers."""

from __future__ import annotations

import asyncio
import ssl as tls
from dataclasses import dataclass
from typing import Any, Callable, Self

from .errors import CallboardError, closed
from .events import Event, State, Subscribed
from .queue import Item, Queue
from .roam import Roamer
from .roster import Broker, broker_url
from .serve import Handler, Server
from .session import Session


@dataclass
class _Config:
    brokers: list[str]
    client: str
    anonymous: bool
    token: str
    resume: State | None
    choose: Callable[[str, list[Broker]], list[str] | None] | None
    ssl: tls.SSLContext | None
    compression: bool
    cbor: bool
    connect_timeout: float
    backoff: tuple[float, float]
    ack_count: int
    ack_bytes: int
    ack_delay: float


class Client:
    """A client of Callboard. Its methods are for one event loop.

    brokers are addresses ("host:port", ws://…, wss://…), best first; those that
    a welcome names are known besides.

    client is the lasting id of this program; the default is a random one, which
    ends with the program. anonymous attaches without one: nothing is
    acknowledged, nor kept over a lost connection. resume goes on where an
    earlier program was: what state() returned there.

    choose says which brokers to be attached to, best first: it is asked when one
    was lost (current is then "") and when a welcome has named some. Nothing means
    the default: stay as long as the current one lives; then the others, nearest
    first.

    cbor speaks CBOR instead of JSON: numbers that are not finite come as themselves,
    not as None.

    Times are seconds. Acknowledgements go out after ack_count notifications,
    ack_bytes characters, or ack_delay. What has come and is not handled is bounded
    by queue_count and queue_bytes: beyond them the connection is dropped, and
    resumed when half is handled.

    ``async with`` attaches at once, and fails if no broker takes the client.
    ``run`` waits patiently.
    """

    def __init__(
        self,
        *brokers: str,
        client: str = "",
        anonymous: bool = False,
        token: str = "",
        resume: State | None = None,
        choose: Callable[[str, list[Broker]], list[str] | None] | None = None,
        ssl: tls.SSLContext | None = None,
        compression: bool = False,
        cbor: bool = False,
        connect_timeout: float = 10,
        backoff: tuple[float, float] = (0.1, 5),
        ack_count: int = 64,
        ack_bytes: int = 256 << 10,
        ack_delay: float = 0.1,
        queue_count: int = 1 << 16,
        queue_bytes: int = 64 << 20,
    ) -> None:
        if not brokers:
            raise ValueError("callboard: no broker URL given")
        if anonymous and (client or resume):
            raise ValueError("callboard: an anonymous client has neither an id nor a state to resume")
        config = _Config(
            [broker_url(b) for b in brokers], client, anonymous, token, resume, choose, ssl, compression, cbor, connect_timeout, backoff, ack_count, ack_bytes, ack_delay
        )
        self._config = config
        self._queue = Queue(queue_count, queue_bytes)
        self._session = Session(config, self._queue)
        self._roamer: Roamer | None = None
        self._item: Item | None = None  # in the program's hands
        self._over: asyncio.Event = asyncio.Event()
        self._error: CallboardError | None = None  # what ended it

    async def __aenter__(self) -> Self:
        roamer = self._start()
        roamer.first = asyncio.get_running_loop().create_future()
        try:
            await roamer.first
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if kind is None:
            self._handled()
        await self.close()

    def _start(self) -> Roamer:
        if self._roamer:
            raise RuntimeError("callboard: the client runs already, or has run")
        self._roamer = Roamer(self._config, self._session, self._queue, self._ended)
        self._roamer.start()
        return self._roamer

    async def run(self) -> None:
        """Attaches and stays attached until close, or until going on makes no sense: taken over, unauthorized, forbidden."""
        self._start()
        try:
            await self._over.wait()
        finally:
            await self.close()
        if self._error:
            raise self._error

    async def close(self) -> None:
        """Ends it: what was handled is acknowledged, and the subscriptions of a random id end."""
        if self._roamer and not self._over.is_set():
            await self._roamer.stop()
            self._session.end(closed())
            self._ended(None)

    def _ended(self, error: CallboardError | None) -> None:
        self._error = error
        self._over.set()
        self._queue.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """Returns the next event; the one before is handled by now, and so acknowledged. What ended the client is raised."""
        self._handled()
        self._item = await self._queue.take()
        if self._item is None:
            if self._error:
                raise self._error
            raise StopAsyncIteration
        return self._item.event

    def _handled(self) -> None:
        item, self._item = self._item, None
        if item:
            self._session.handled(item)

    @property
    def id(self) -> str:
        """The client id in use, "" if it is anonymous."""
        return self._session.client

    @property
    def known(self) -> list[Broker]:
        """The brokers that the client may attach to."""
        return self._roamer.roster.known() if self._roamer else []

    def state(self) -> State:
        """Returns what a later program needs to go on from here."""
        return self._session.state()

    def _open(self) -> None:
        if self._over.is_set():
            raise self._error or closed()

    async def subscribe(
        self,
        id: str,
        condition: str,
        *,
        robots: list[str] | None = None,
        devices: list[str] | None = None,
        trigger: str | None = None,
        min_interval: float | None = None,
        for_: float | None = None,
        select: dict[str, str] | None = None,
        keep: str | None = None,
    ) -> Subscribed:
        """Asks for notifications and returns when the subscription is in force, or raises the broker's error.

        robots and devices are names or patterns, all by default. trigger is
        "every" matching reading (the default), "rising" or "change". min_interval
        and for_ are seconds of the readings' time. select maps names to
        expressions, which are sent instead of the reading. keep is "all" (the
        default), or "latest": of what waits only the newest per robot and device.
        The subscription goes on over lost connections.
        """
        self._open()
        fields = _fields(robots=robots, devices=devices, trigger=trigger, min_interval=min_interval, for_=for_, select=select, keep=keep)
        return await self._session.subscribe({"id": id, "condition": condition, **fields})

    async def update(
        self,
        id: str,
        *,
        condition: str | None = None,
        robots: list[str] | None = None,
        devices: list[str] | None = None,
        trigger: str | None = None,
        min_interval: float | None = None,
        for_: float | None = None,
        select: dict[str, str] | None = None,
        keep: str | None = None,
    ) -> Subscribed:
        """Changes a subscription. Nothing is missed, nothing comes twice; after an error all is as it was."""
        self._open()
        fields = _fields(condition=condition, robots=robots, devices=devices, trigger=trigger, min_interval=min_interval, for_=for_, select=select, keep=keep)
        return await self._session.change(id, "update", fields)

    async def unsubscribe(self, id: str) -> None:
        """Ends a subscription. What is still on its way may come until then."""
        self._open()
        await self._session.change(id, "unsubscribe", {})

    async def command(
        self,
        robot: str,
        name: str,
        *args: Any,
        interface: str | None = None,
        index: int | None = None,
        ttl: float | None = None,
        key: str | None = None,
    ) -> Any:
        """Sends a command to a robot, once attached, and returns its result.

        It is never sent twice: a connection that is lost before the answer is an
        error (lost). ttl is how many seconds it may wait for the robot. With a key,
        a lasting name that is unique for this client, it is carried out once,
        whatever becomes of connections and brokers meanwhile.
        """
        self._open()
        fields = _fields(args=list(args) or None, interface=interface, index=index, ttl=ttl, key=key)
        message = {"op": "command", "robot": robot, "name": name, **fields}
        return await (self._session.tasks.ask(message, ttl) if key else self._session.request(message))

    async def request(
        self,
        queue: str,
        body: Any = None,
        *,
        ttl: float | None = None,
        key: str | None = None,
        accepted: Callable[[int], Any] | None = None,
        progress: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Has a program that serves the queue do a task, and returns its answer.

        It lasts over lost connections, roams and brokers that are killed. An error's
        code says how the task has ended otherwise: failed (the server's own error),
        expired, cancelled, unavailable, overloaded. If the call is cancelled, so is
        the task.

        ttl is how many seconds it may wait and take (10 if left out). key is its
        lasting name, unique for this client: the same key again, also of a later
        program with the same client id, is the same task. accepted is called when it
        is stored, with how many are before it, progress with what the server tells of
        how it comes on.
        """
        self._open()
        return await self._session.tasks.ask({"op": "request", "queue": queue, "body": body, **_fields(key=key)}, ttl, accepted, progress)

    def serve(self, queue: str, handler: Handler, *, at_once: int = 1) -> Server:
        """Does the tasks of a queue, up to at_once at a time (at most 1,000), until stop.

        What the handler, a coroutine function, returns is the answer; what it raises
        is told as the reason why there is none. It is cancelled when the task's time
        is over, when the task is cancelled, and with the client.
        """
        self._open()
        return self._session.servers.serve(queue, handler, at_once)

    async def list(self, what: str) -> Any:
        """Returns what the broker knows of "robots", "brokers" or "subscriptions"."""
        self._open()
        return await self._session.request({"op": "list", "what": what})

    async def move(self, url: str) -> None:
        """Hands over to another broker, and returns when that has taken the client. Another move replaces it (overtaken)."""
        self._open()
        if not self._roamer:
            raise closed()
        await self._roamer.move(url)


def _fields(**given: Any) -> dict[str, Any]:
    return {name.rstrip("_"): v for name, v in given.items() if v is not None}
