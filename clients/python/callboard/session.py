"""What goes on over connections: who this is, what is subscribed, how far each source is."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from typing import Any, Callable

from .connection import Connection
from .errors import CallboardError, taken_over, unavailable
from .events import Attached, Event, Failure, Fault, Gap, Match, Notification, Resubscribed, Robot, State, Subscribed
from .messages import Message, malformed, read
from .queue import Item, Queue
from .sequences import Sequence, Sequences
from .subscription import Change, Subscription

MAX_FIRST = 64 << 10  # bytes that a hello may have of a client whose token is not known yet
MAX_MESSAGE = 1 << 20
MAX_UNANSWERED = 16  # hellos without a number that are remembered
UNANSWERED_FOR = 5 * 60.0  # s that each is
REQUEST_PREFIX = "~"  # of the ids of commands and lists


@dataclass(slots=True)
class Request:
    """A command or list that waits for its reply."""

    message: Message
    answer: asyncio.Future[Any]


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
        self._session = ""
        self._attachment = 0  # the highest known
        self._tried = 0  # that before the newest hello
        self._fresh = True  # no hello has been answered by a welcome yet
        self._unanswered: list[float] = []  # when hellos without a number got no answer: a broker may take each late
        self._unnumbered = False  # the newest hello is such a one
        self._away: set[str] = set()  # robots, and devices, that the broker has told are away
        self._sequences = Sequences()
        self._requests: dict[str, Request] = {}  # sent
        self._waiting: list[Request] = []  # for a broker
        self._counter = 0
        self._timer: asyncio.TimerHandle | None = None  # of acknowledgements
        self.client: str = config.client
        self._random = not config.anonymous and not config.client and not config.resume
        if self._random:
            self.client = "py-" + secrets.token_hex(8)
        if config.resume:
            self._restore(config.resume)

    def _restore(self, state: State) -> None:
        self.client, self._session, self._attachment = state["client"], state["session"], state["attachment"]
        self._sequences.restore(state.get("num") or {})
        self._away = set(state.get("away") or [])
        for spec in state.get("subscriptions") or []:
            s = self.subscriptions[spec["id"]] = Subscription(spec)
            s.confirmed = True

    def state(self) -> State:
        """Returns what a later program needs to go on from here."""
        return {
            "client": self.client,
            "session": self._session,
            "attachment": self._attachment,
            "num": self._sequences.numbers(),
            "subscriptions": self._confirmed(),
            "away": sorted(self._away),
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
        message: Message = {"op": "hello", **self._who()}
        if self._config.token:
            message["token"] = self._config.token
        if confirmed := self._confirmed():
            message["subscriptions"] = confirmed
        connection.send(message)
        self.greeted = True
        for s in self.subscriptions.values():
            s.listed = s.confirmed and not s.ending
            if s.change and not s.ending:
                self._ask(s)

    def _who(self) -> Message:
        """Returns what a hello says of who it is and of the session that is to go on.

        A number is used once, answered or not: a broker may take a hello long
        after it was given up, and of two the later one has to count.
        """
        if not self.client:
            return {}
        self._tried, self._unnumbered = self._attachment, self._attachment == 0
        who: Message = {"client": self.client}
        if self._unnumbered:
            self._unanswered = [*self._unanswered, asyncio.get_running_loop().time()][-MAX_UNANSWERED:]
        else:
            self._attachment += 1
            who["attachment"] = self._attachment
        if self._session:
            who |= {"session": self._session, "num": self._sequences.hello(), "away": sorted(self._away)}
        return who

    def _answered(self) -> None:
        """The newest hello has its answer."""
        if self._unnumbered:
            self._unanswered.pop()
        self._unnumbered = False

    def _ours(self) -> bool:
        """Reports whether an attachment that is not known may be that of a hello of our own: one without a number, taken late."""
        while self._unanswered:
            if asyncio.get_running_loop().time() - self._unanswered.pop(0) < UNANSWERED_FOR:
                return True
        return False

    def detach(self, connection: Connection) -> None:
        """The connection has ended."""
        if self._connection is not connection:
            return
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._connection = None
        self.greeted = self.attached = False
        requests, self._requests = self._requests, {}
        for r in requests.values():
            if r.message["op"] == "list":
                self._waiting.append(r)  # asking twice does no harm
            elif not r.answer.done():
                r.answer.set_exception(CallboardError("lost", "the connection was lost before the answer came"))
        for s in self.subscriptions.values():
            s.listed = False
            if s.change:
                s.change.sent = False

    def end(self, error: CallboardError) -> None:
        """The client has ended: what waits is answered."""
        for r in [*self._requests.values(), *self._waiting]:
            if not r.answer.done():
                r.answer.set_exception(error)
        self._requests, self._waiting = {}, []
        for s in self.subscriptions.values():
            s.refused(error)

    def farewell(self) -> None:
        """Says the last words over a connection."""
        if not self.attached:
            return
        if self._random:  # nobody comes back
            for id in self.subscriptions:
                self.send({"op": "unsubscribe", "id": id})
        self._flush(True)

    async def settled(self, timeout: float) -> None:
        """Waits until no request waits for an answer."""
        if self._requests:
            await asyncio.wait([r.answer for r in self._requests.values()], timeout=timeout)

    # What the program asks for.

    async def subscribe(self, spec: dict[str, Any]) -> Subscribed:
        id = spec["id"]
        if not isinstance(id, str) or not id or id.startswith(REQUEST_PREFIX):
            raise CallboardError("bad_message", f"subscription id {id!r}: expected text that does not begin with {REQUEST_PREFIX}")
        _check_size(spec)
        while (s := self.subscriptions.get(id)) and s.change:
            await asyncio.wait([s.change.answer])
        if s:
            raise CallboardError("conflict", f'subscription "{id}" is in use', id=id)
        s = self.subscriptions[id] = Subscription(spec)
        return await self._change(s, "subscribe", {})

    async def change(self, id: str, kind: str, fields: dict[str, Any]) -> Subscribed:
        """Updates or unsubscribes, when it is its turn."""
        _check_size(fields)
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
        """Sends a message once attached, and returns its reply's result."""
        _check_size(message)
        self._counter += 1
        id = f"{REQUEST_PREFIX}{self._counter}"
        r = Request({**message, "id": id}, asyncio.get_running_loop().create_future())
        if self.attached:
            self._request(r)
        else:
            self._waiting.append(r)
        try:
            return await r.answer
        finally:
            self._requests.pop(id, None)
            if r in self._waiting:
                self._waiting.remove(r)

    def _request(self, r: Request) -> None:
        self._requests[r.message["id"]] = r
        self.send(r.message)

    # What the broker says.

    def receive(self, data: str | bytes) -> None:
        connection = self._connection
        assert connection
        try:
            m = read(data, self._config.cbor)
            if not self.attached:
                if m["op"] == "welcome":
                    self._taken(m)
                elif m["op"] == "error":
                    raise self._refused(CallboardError.of(m))
                elif m["op"] != "heartbeat":
                    raise malformed(f"{m['op']} before welcome")
                return
            take = {
                "notify": self._notified,
                "subscribed": self._subscribed,
                "gap": self._gapped,
                "robot": self._robot,
                "reply": self._replied,
                "error": self._failed,
                "welcome": self._again,
            }.get(m["op"])  # heartbeat, and what a newer broker may say, are nothing
            if take:
                take(m, len(data))
        except CallboardError as error:
            connection.end(error)

    def _again(self, m: Message, size: int) -> None:
        raise malformed("a second welcome")

    def _taken(self, m: Message) -> None:
        assert self._connection
        self._answered()
        resumed = self._session != "" and m["session"] == self._session
        if not resumed:
            for source, given in self._sequences.clear():
                self._tell(Gap(source, given + 1, None, "the broker does not know the session any more"))
            self._away.clear()
        if self.client:
            self._session = m["session"]
        self._attachment = max(self._attachment, int(m["attachment"]))
        self._fresh, self.welcome, self.attached = False, m, True
        for s in list(self.subscriptions.values()):
            if s.ending and s.change and not s.change.sent:  # hello did not list it
                self._forget(s)
        self._tell(Attached(self._connection.url, m["broker"], m["session"], int(m["attachment"]), resumed))
        waiting, self._waiting = self._waiting, []
        for r in waiting:
            self._request(r)
        self._ack_soon()
        self._welcomed()

    def _refused(self, error: CallboardError) -> CallboardError:
        """Takes an error in place of welcome."""
        self._answered()
        if error.code in ("unauthorized", "forbidden", "bad_message"):
            error.fatal = True
        if error.code != "conflict":
            return error
        # An earlier program with this state may have counted further than that says; later on only another program can have.
        if error.attachment is None or (not self._fresh and error.attachment > self._tried and not self._ours()):
            return taken_over(error)
        self._attachment = max(self._attachment, error.attachment)
        error.renumbered = True
        return error

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
        self._numbered(source, s, given, fresh, fault, Item(event, 2 * size, s, seq))

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
        self._numbered(source, s, given, fresh, fault, Item(Gap(source, first, last, m.get("why") or ""), size, s, last))

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
        self._ack_soon()

    def handled(self, item: Item) -> None:
        """The program has handled an item of the queue."""
        if s := item.sequence:
            s.handled = max(s.handled, item.seq)
            s.bytes += item.size
            self._ack_soon()

    def _ack_soon(self) -> None:
        """Acknowledges what was handled: batches that are full at once, the rest soon."""
        if self.attached and self.client:  # what was written to an anonymous client's socket counts as acknowledged
            self._flush(False)

    def _flush(self, all: bool) -> None:
        config, later = self._config, False

        def due(s: Sequence, n: int) -> bool:
            nonlocal later
            now = all or s.prompt or n >= config.ack_count or s.bytes >= config.ack_bytes
            later = later or not now
            return now

        for source, num in self._sequences.acks(due):
            self.send({"op": "ack", "source": source, "num": num})
        if later and not self._timer:
            self._timer = asyncio.get_running_loop().call_later(config.ack_delay, self._late)

    def _late(self) -> None:
        self._timer = None
        self._flush(True)

    def _replied(self, m: Message, size: int) -> None:
        r = self._requests.pop(m["id"], None)
        if r is None:
            s = self.subscriptions.get(m["id"])
            if s and s.ending:  # not_found is what was asked for, too
                self._forget(s)
        elif not r.answer.done():
            if m["ok"]:
                r.answer.set_result(m.get("result"))
            else:
                r.answer.set_exception(CallboardError.of(m.get("error") or {}, m["id"]))

    def _failed(self, m: Message, size: int) -> None:
        error = CallboardError.of(m)
        r = self._requests.pop(error.id or "", None)
        if r:
            if not r.answer.done():
                r.answer.set_exception(error)
            return
        s = self.subscriptions.get(error.id or "")
        if error.id is None and error.code == "conflict":
            raise self._conflict(error)
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

    def _conflict(self, error: CallboardError) -> CallboardError:
        """The client id has attached elsewhere. A number up to ours is our own: this connection is the older one."""
        if error.attachment is None:
            return taken_over(error)
        known = error.attachment <= self._attachment
        self._attachment = max(self._attachment, error.attachment)
        return error if known or self._ours() else taken_over(error)


def _taken(answer: asyncio.Future[Any]) -> None:
    """Somebody may have stopped waiting for it."""
    if not answer.cancelled():
        answer.exception()


def _check_size(message: Message) -> None:
    """Refuses what the broker would close the connection for."""
    size = len(json.dumps(message))
    if size > MAX_MESSAGE:
        raise CallboardError("bad_message", f"a message of {size} bytes, the limit is {MAX_MESSAGE}")
