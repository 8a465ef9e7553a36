"""What goes on over connections: who this is, what is subscribed, how far each source is."""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import Any, Callable

from .acks import Acknowledger
from .connection import Connection
from .errors import CallboardError, unavailable
from .events import Attached, Event, Failure, Fault, Gap, Match, Notification, Resubscribed, Robot, State, Subscribed
from .identity import Identity
from .messages import Message, check_size, malformed, read
from .queue import Item, Queue
from .requests import REQUEST_PREFIX, Requests
from .sequences import Sequence, Sequences
from .serve import Servers
from .sides import Terms
from .subscription import Change, Subscription
from .tasks import Tasks

MAX_FIRST = 64 << 10  # bytes that a hello may have of a client whose token is not known yet
MAX_SOURCES = 1 << 16  # that a broker may name


class Session:
    def __init__(self, config: Any, queue: Queue) -> None:
        self.greeted = False  # hello was said over the connection
        self.attached = False  # and answered
        self.welcome: Message = {}  # the last one
        self.subscriptions: dict[str, Subscription] = {}
        self._config = config
        self._queue = queue
        self._connection: Connection | None = None
        self._welcomed: Callable[[], None] = lambda: None
        self._away: set[str] = set()  # robots, and devices, that the broker has told are away
        self._sequences = Sequences()
        self._requests = Requests(self.send)
        self.tasks = Tasks(self.send, not config.anonymous)
        self.servers = Servers(self.send, not config.anonymous)
        self.terms = Terms()
        self._acks = Acknowledger(config, self._sequences, self.send)
        self._random = not config.anonymous and not config.client and not config.resume
        self._identity = Identity("py-" + secrets.token_hex(8) if self._random else config.client)
        if config.resume:
            self._restore(config.resume)

    def _restore(self, state: State) -> None:
        self._identity.client = state["client"]
        self._identity.session, self._identity.attachment = state["session"], state["attachment"]
        self._sequences.restore(state.get("num") or {})
        self._away = set(state.get("away") or [])
        self.terms.restore(state.get("terms") or {})
        for spec in state.get("subscriptions") or []:
            s = self.subscriptions[spec["id"]] = Subscription(spec)
            s.confirmed = True

    @property
    def client(self) -> str:
        return self._identity.client

    def state(self) -> State:
        """Returns what a later program needs to go on from here."""
        return {
            "client": self.client,
            "session": self._identity.session,
            "attachment": self._identity.attachment,
            "num": self._sequences.numbers(),
            "subscriptions": self._confirmed(),
            "away": sorted(self._away),
            "terms": self.terms.all(),
        }

    def _confirmed(self) -> list[dict[str, Any]]:
        return [s.spec for s in self.subscriptions.values() if s.confirmed and not s.ending]

    @property
    def large(self) -> bool:
        """Whether hello may be too large for a client whose token is not known yet."""
        return len(json.dumps(self.state())) > MAX_FIRST // 2

    def send(self, message: Message) -> None:
        if self._connection:
            self._connection.send(message)

    def hello(self, connection: Connection, welcomed: Callable[[], None]) -> None:
        """Says hello; welcomed is called once the broker has taken this client."""
        self._connection, self._welcomed = connection, welcomed
        message: Message = {"op": "hello", **self._identity.hello()}
        if self._identity.session:
            message |= {"session": self._identity.session, "num": self._sequences.hello(), "away": sorted(self._away)}
        if self._config.token:
            message["token"] = self._config.token
        if confirmed := self._confirmed():
            message["subscriptions"] = confirmed
        if self.client and (words := [*self.tasks.words(), *self.servers.words()]):
            message["tasks"] = words
        if term := self.terms.of(connection.url):
            message["term"] = term
        connection.send(message)
        self.greeted = True
        for s in self.subscriptions.values():
            s.listed = s.confirmed and not s.ending
            if s.change and not s.ending:
                self._ask(s)
        self.servers.greeted()
        self.tasks.greeted()

    def listens(self, url: str) -> Message:
        """Returns the hello of a connection that only listens at a side of a pair of brokers."""
        message: Message = {"op": "hello", "standby": True}
        if self._config.token:
            message["token"] = self._config.token
        if term := self.terms.of(url):
            message["term"] = term
        return message

    def detach(self, connection: Connection) -> None:
        """The connection has ended."""
        if self._connection is not connection:
            return
        self._acks.stop()
        self._connection = None
        self.greeted = self.attached = False
        self._requests.detached()
        self.tasks.detached()
        self.servers.detached()
        for s in self.subscriptions.values():
            s.listed = False
            if s.change:
                s.change.sent = False

    def end(self, error: CallboardError) -> None:
        """The client has ended: what waits is answered."""
        self._requests.end(error)
        self.tasks.end(error)
        self.servers.end(error)
        for s in self.subscriptions.values():
            s.refused(error)

    def farewell(self) -> str:
        """Says the last words over a connection. Returns the reason to close it with."""
        if not self.attached:
            return ""
        if self._random:  # nobody comes back
            for id in self.subscriptions:
                self.send({"op": "unsubscribe", "id": id})
        self._acks.flush(True)
        return "goodbye" if self._random else ""

    async def settled(self, timeout: float) -> None:
        """Waits until no request waits for an answer."""
        await self._requests.settled(timeout)

    # What the program asks for.

    async def subscribe(self, spec: dict[str, Any]) -> Subscribed:
        id = spec["id"]
        if not isinstance(id, str) or not id or id.startswith(REQUEST_PREFIX):
            raise CallboardError("bad_message", f"subscription id {id!r}: expected text that does not begin with {REQUEST_PREFIX}")
        check_size(spec)
        while (s := self.subscriptions.get(id)) and s.change:
            await asyncio.wait([s.change.answer])
        if s:
            raise CallboardError("conflict", f'subscription "{id}" is in use', id=id)
        s = self.subscriptions[id] = Subscription(spec)
        return await self._change(s, "subscribe", {})

    async def change(self, id: str, kind: str, fields: dict[str, Any]) -> Subscribed:
        """Updates or unsubscribes, when it is its turn."""
        check_size(fields)
        while (s := self.subscriptions.get(id)) and s.change:
            await asyncio.wait([s.change.answer])
        if not s or not s.confirmed:
            raise CallboardError("not_found", f'no subscription "{id}"', id=id)
        return await self._change(s, kind, fields)

    async def _change(self, s: Subscription, kind: str, fields: dict[str, Any]) -> Subscribed:
        s.change = Change(kind, fields, asyncio.get_running_loop().create_future())
        s.change.answer.add_done_callback(_taken)
        if self.greeted and (kind != "unsubscribe" or s.listed or self.attached):
            self._ask(s)
        change = s.change
        try:
            return await asyncio.shield(change.answer)
        except asyncio.CancelledError:
            if s.change is change and kind == "subscribe":  # nobody waits for it: it is taken back
                s.change = Change("unsubscribe", {}, asyncio.get_running_loop().create_future())
                s.change.answer.add_done_callback(_taken)
                if change.sent:
                    self._ask(s)
                else:
                    self._forget(s)
            raise

    def _ask(self, s: Subscription) -> None:
        assert s.change
        s.change.sent = True
        self.send(s.message())

    def _forget(self, s: Subscription) -> None:
        self.subscriptions.pop(s.id, None)
        s.ended()
        if not self.subscriptions:
            self._away.clear()  # the broker tells of no robots any more

    async def request(self, message: Message) -> Any:
        """Sends a command or list once attached, and returns its reply's result."""
        check_size(message)
        return await self._requests.ask(message)

    # What the broker says.

    def receive(self, data: str | bytes) -> None:
        connection = self._connection
        assert connection
        try:
            m = read(data, self._config.cbor)
            if len(self._sequences) > MAX_SOURCES:
                raise malformed(f"more than {MAX_SOURCES} sources")
            if not self.attached:
                if m["op"] == "welcome":
                    self._taken(m)
                elif m["op"] == "error":
                    raise self._identity.refused(CallboardError.of(m))
                elif m["op"] != "heartbeat":
                    raise malformed(f"{m['op']} before welcome")
                return
            takes: dict[str, Callable[[Message, int], None]] = {
                "notify": self._notified,
                "subscribed": self._subscribed,
                "gap": self._gapped,
                "robot": self._robot,
                "reply": self._replied,
                "error": self._failed,
                "welcome": self._again,
                "accepted": lambda m, _: self.tasks.accepted(m),
                "progress": lambda m, _: self.tasks.progressed(m),
                "task": lambda m, _: self.servers.task(m),
                "cancelled": lambda m, _: self.servers.cancelled(m),
                "heartbeat": lambda m, _: self.terms.now(int(m.get("term") or 0)),
            }
            if take := takes.get(m["op"]):  # what else a newer broker may say is nothing
                take(m, len(data))
        except CallboardError as error:
            connection.end(error)

    def _again(self, m: Message, size: int) -> None:
        raise malformed("a second welcome")

    def _taken(self, m: Message) -> None:
        assert self._connection
        self.terms.welcome(self._connection.url, m)
        resumed = self._identity.session != "" and m["session"] == self._identity.session
        if not resumed:
            for source, given in self._sequences.clear():
                self._tell(Gap(source, given + 1, None, "the broker does not know the session any more"))
            self._away.clear()
        self._identity.welcomed(m["session"], int(m["attachment"]))
        self.welcome, self.attached = m, True
        for s in list(self.subscriptions.values()):
            if s.ending and s.change and not s.change.sent:  # hello did not list it
                self._forget(s)
        self._tell(Attached(self._connection.url, m["broker"], m["session"], int(m["attachment"]), resumed))
        self._requests.attached()
        self.tasks.attached()
        if self.client:
            self._acks.flush(False)
        self._welcomed()

    def _tell(self, event: Event) -> None:
        """Adds an event that has its place in a queue that is full, too."""
        self._queue.force(Item(event))

    def _push(self, item: Item) -> None:
        """Adds an event; without room for it the connection goes, and comes back later on."""
        if not self._queue.push(item):
            raise unavailable("the program does not take its events; the session is resumed later")

    def _subscribed(self, m: Message, size: int) -> None:
        for source in m.get("sources") or []:
            self._sequences.of(source)
        s = self.subscriptions.get(m["id"])
        if not s or s.ending:
            return  # of a subscription that has ended since
        fields = (m["id"], m.get("sources") or [], int(m.get("robots") or 0), m.get("warning"))
        if s.change and not s.listed:
            s.answered(Subscribed(*fields))
            return
        s.listed = False  # it answers the hello, not an update that follows it
        self._push(Item(Resubscribed(*fields), size))

    def _robot(self, m: Message, size: int) -> None:
        self._push(Item(Robot(m["robot"], m.get("source") or "", m["state"], m.get("since") or 0, m.get("device"), m.get("lost")), size))
        name = f"{m['robot']} {m['device']}" if m.get("device") else m["robot"]
        if m["state"] == "away":
            self._away.add(name)
        elif m["state"] == "up":
            self._away.discard(name)

    def _notified(self, m: Message, size: int) -> None:
        source, seq = m["source"], int(m["seq"])
        s = self._sequences.of(source)
        given = s.given
        fresh, skipped, fault = self._sequences.notify(source, seq, int(m.get("skipped") or 0))
        matches = [Match(one["id"], one.get("state"), one.get("values")) for one in m.get("subscriptions") or []]
        s.prompt = all((e := self.subscriptions.get(one.id)) is not None and e.spec.get("keep") == "latest" for one in matches)
        event = Notification(
            source, seq, skipped, m.get("robot") or "", m.get("interface") or "", m.get("index") or 0, m.get("time"), matches, m.get("reading")
        )
        self._numbered(source, s, given, fresh, fault, Item(event, 2 * size, source, s, seq))

    def _gapped(self, m: Message, size: int) -> None:
        source, first = m["source"], int(m["from"])
        if m.get("to") is None:
            first = self._sequences.end(source, first, m.get("next"))
            self._push(Item(Gap(source, first, None, m.get("why") or "", m.get("next") or None), size))
            return
        last = int(m["to"])
        s = self._sequences.of(source)
        given = s.given
        fresh, first, fault = self._sequences.gap(source, first, last)
        self._numbered(source, s, given, fresh, fault, Item(Gap(source, first, last, m.get("why") or ""), size, source, s, last))

    def _numbered(self, source: str, s: Sequence, given: int, fresh: bool, fault: str, item: Item) -> None:
        """Gives what has numbers. What has no room was not given: it comes again."""
        try:
            if fault:
                self._push(Item(Fault(source, fault)))
            if fresh:
                self._push(item)
        except CallboardError:
            s.given = given
            raise
        self._ack_soon(source, s)

    def handled(self, item: Item) -> None:
        """The program has handled an item of the queue."""
        if s := item.sequence:
            s.handled = max(s.handled, item.seq)
            s.bytes += item.size
            self._ack_soon(item.source, s)

    def _ack_soon(self, source: str, s: Sequence) -> None:
        if self.attached and self.client:  # what was written to an anonymous client's socket counts as acknowledged
            self._acks.soon(source, s)

    def _replied(self, m: Message, size: int) -> None:
        if m.get("key"):
            self.tasks.replied(m)
        elif not self._requests.replied(m):
            s = self.subscriptions.get(m["id"])
            if s and s.ending:  # not_found is what was asked for, too
                self._forget(s)

    def _failed(self, m: Message, size: int) -> None:
        error = CallboardError.of(m)
        if self._requests.failed(error) or self.tasks.failed(error) or self.servers.failed(error):
            return
        s = self.subscriptions.get(error.id or "")
        if error.id is None and error.code == "conflict":
            raise self._identity.conflict(error)
        if s and s.listed:  # hello listed it, and that is refused: a change behind it has its own answer
            s.listed = s.confirmed = False
            if s.ending:
                return
            if not s.change:
                self._forget(s)
            self._push(Item(Failure(error, True), size))
        elif s and s.ending:
            pass  # the reply comes
        elif s and s.change:
            s.refused(error)
            if not s.confirmed:
                self._forget(s)
        else:
            self._push(Item(Failure(error), size))


def _taken(answer: asyncio.Future[Any]) -> None:
    """Somebody may have stopped waiting for it."""
    if not answer.cancelled():
        answer.exception()
