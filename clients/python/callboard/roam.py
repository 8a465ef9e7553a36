"""Which broker the client is attached to."""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable

from .connection import Connection, dial, race
from .errors import CallboardError, closed, unavailable
from .events import Detached, Event, Stayed
from .queue import Item, Queue
from .roster import Roster, broker_url
from .session import Session
from .sides import SIDE_WAIT, Listener

LINGERING = 1.0  # s that a hand-over waits for answers over the connection in use
MISSED_HEARTBEATS = 3
LEAST_SILENCE = 1.0  # s

log = logging.getLogger("callboard")
log.addHandler(logging.NullHandler())  # nothing is printed unless the program wants it


@dataclass(slots=True)
class Move:
    url: str
    answer: asyncio.Future[None]

    def refuse(self, error: CallboardError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    def overtaken(self) -> CallboardError:
        return CallboardError("overtaken", f"moving to {self.url}: another move has replaced this one")


@dataclass(slots=True, eq=False)
class Attempt:
    """A hand-over that is under way: at most one is."""

    urls: list[str]
    move: Move | None = None  # None: after a loss, or by choice
    choice: bool = False
    overtaken: bool = False
    task: asyncio.Task[None] | None = None
    connection: Connection | None = None  # that has said hello
    to: str = ""  # the first of urls
    # How it goes.
    errors: list[CallboardError] = field(default_factory=list)
    renumbered: set[str] = field(default_factory=set)
    fatal: CallboardError | None = None
    may_end: bool = True  # none that has taken this client before may do so again

    def __post_init__(self) -> None:
        self.to = self.urls[0] if self.urls else ""


class Roamer:
    """Decides which broker the client is attached to.

    At most one attempt is under way, and a move waits behind it. Only one
    connection has said hello at a time: the one in use is let go when another
    one stands, before hello is said over that, so nothing arrives or is
    confirmed beside a hello.
    """

    def __init__(self, config: Any, session: Session, queue: Queue, ended: Callable[[CallboardError | None], None]) -> None:
        self._config, self._session, self._queue, self._ended = config, session, queue, ended
        self.roster = Roster(config.brokers, config.token)
        self._loop = asyncio.get_running_loop()
        self._current: Connection | None = None  # that is attached
        self._attempt: Attempt | None = None
        self._pending: Move | None = None  # waits until the attempt has ended
        self._last = ""  # URL of the last broker that took this client
        self._hold = 0.0  # no move by choice before it, since one has failed
        self._backoff = config.backoff[0]
        self._retry: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._running = False
        self._listener = Listener(config, self._dial, session.listens, self._active)
        self.first: asyncio.Future[None] | None = None  # the outcome of the first round of attempts

    def start(self) -> None:
        self._running = True
        self._search("", False)

    async def stop(self) -> None:
        """Ends all that runs, with a word of farewell."""
        if not self._running:
            return
        self._running = False
        self._listener.stop()
        self._clear()
        attempt, self._attempt = self._attempt, None
        pending, self._pending = self._pending, None
        for move in (attempt.move if attempt else None, pending):
            if move:
                move.refuse(closed())
        if attempt:
            self._cancel(attempt)
        reason = self._session.farewell()
        connection, self._current = self._current, None
        if connection:
            connection.close(reason=reason)
            self._session.detach(connection)
            await connection.gone()

    def _tell(self, event: Event) -> None:
        self._queue.force(Item(event))

    async def move(self, text: str) -> None:
        move = Move(broker_url(text), self._loop.create_future())
        if not self._running:
            raise closed()
        self._move(move)
        await move.answer

    def _active(self, url: str, term: int) -> Awaitable[None] | None:
        """A side of a pair to which the client listens is active."""
        return self.move(url) if term >= self._session.terms.of(url) else None

    def _move(self, move: Move) -> None:
        if a := self._attempt:
            if self._pending:
                self._pending.refuse(self._pending.overtaken())
            self._pending = move
            a.overtaken = True
            self._cancel(a)
        elif self._current and self._current.url == move.url:
            move.answer.set_result(None)
        else:
            self._start(Attempt([move.url], move))

    def _cancel(self, a: Attempt) -> None:
        if a.connection:
            a.connection.end(unavailable("it was given up"))
        elif a.task:
            a.task.cancel()

    def _clear(self) -> None:
        for timer in (self._retry, self._watch):
            if timer:
                timer.cancel()
        self._retry = None

    def _search(self, last: str, gone: bool) -> None:
        self._retry = None
        urls = self._choose("") or self.roster.order(last or self._last, gone)
        self._start(Attempt(urls))

    def _wait(self) -> None:
        """Lets some time pass before the next search."""
        wait = self._backoff * random.uniform(0.5, 1)
        self._backoff = min(2 * self._backoff, self._config.backoff[1])
        self._retry_in(wait)

    def _retry_in(self, wait: float) -> None:
        self._retry = self._loop.call_later(wait, self._search, "", False)

    def _choose(self, current: str) -> list[str]:
        """Returns what the program wants, nothing if it does not say."""
        try:
            return [broker_url(text) for text in (self._config.choose and self._config.choose(current, self.roster.known())) or []]
        except Exception:  # it is the program's
            log.exception("choose failed")
            return []

    def _reconsider(self) -> None:
        """The brokers known have changed."""
        if self._attempt or not self._current or self._loop.time() < self._hold:
            return
        urls = self._choose(self._current.url)
        if urls and urls[0] != self._current.url:
            self._start(Attempt(urls[:1], choice=True))

    def _start(self, a: Attempt) -> None:
        if self._retry:
            self._retry.cancel()
            self._retry = None
        self._attempt = a
        a.task = self._loop.create_task(self._try(a))

    async def _try(self, a: Attempt) -> None:
        try:
            if not a.move and not a.choice:
                await self._queue.half()
            while a.urls and not a.overtaken and self._running:
                connection, failed = await race(a.urls, self._dial)
                for url, error in failed.items():
                    self._refuse(a, url, error)
                if not connection:
                    continue
                if known := self.roster.find(connection.url):
                    known.round_trip = connection.took
                refused = await self._greet(a, connection)
                if not refused:
                    return
                self._refuse(a, connection.url, refused)
        except asyncio.CancelledError:
            pass
        if self._attempt is a:
            self._failed(a)

    async def _dial(self, url: str) -> Connection:
        c = self._config
        token = c.token if c.token and self._session.large else ""
        return await dial(url, token=token, context=c.ssl, timeout=c.connect_timeout, compression=c.compression, is_cbor=c.cbor)

    async def _greet(self, a: Attempt, connection: Connection) -> CallboardError | None:
        """Says hello over a connection that stands; returns None when the broker has taken this client, else the error."""
        try:
            if self._current:
                await self._session.settled(LINGERING)
        except asyncio.CancelledError:
            connection.close()
            raise
        if self._current:
            old, self._current = self._current, None
            old.close()
            self._session.detach(old)
        answer: asyncio.Future[CallboardError | None] = self._loop.create_future()
        timeout = self._config.connect_timeout
        timer = self._loop.call_later(timeout, connection.end, unavailable(f"no welcome within {timeout:g} s"))

        def ended(error: CallboardError) -> None:
            self._session.detach(connection)
            if not answer.done():
                answer.set_result(error)

        def welcomed() -> None:
            answer.set_result(None)
            timer.cancel()
            self._welcomed(a, connection)

        a.connection = connection
        connection.ended = ended
        connection.received = self._session.receive
        self._session.hello(connection, welcomed)
        connection.start()
        try:
            return await answer
        finally:
            timer.cancel()
            a.connection = None

    def _welcomed(self, a: Attempt, connection: Connection) -> None:
        connection.attended = self._loop.time()
        connection.ended = lambda error: self._lost(connection, error)
        self._current, self._attempt, self._last = connection, None, connection.url
        a.connection = None
        welcome = self._session.welcome
        self.roster.welcome(connection.url, welcome)
        self._listener.attached(connection.url, welcome)
        self._look(connection, max(LEAST_SILENCE, MISSED_HEARTBEATS * welcome["heartbeat"]), self._loop.time())
        log.info("attached to %s at %s", welcome["broker"], connection.url)
        if a.move and not a.move.answer.done():
            a.move.answer.set_result(None)
        if self.first and not self.first.done():
            self.first.set_result(None)
        move, self._pending = self._pending, None
        if move:
            self._move(move)
        else:
            self._reconsider()

    def _look(self, connection: Connection, limit: float, due: float) -> None:
        """Ends a connection whose broker is silent. A program that was held up itself has not read yet what has come: it looks once more."""
        if connection is not self._current:
            return
        now = self._loop.time()
        silence = now - connection.heard
        if silence > limit and now - due < limit / 2:
            error = unavailable(f"nothing heard for {silence:.1f} s")
            error.said = True
            connection.end(error)
            return
        pause = min(0.25, limit / 4)
        self._watch = self._loop.call_later(pause, self._look, connection, limit, now + pause)

    def _lost(self, connection: Connection, error: CallboardError) -> None:
        """A connection that was attached has ended."""
        if connection is not self._current:
            return
        if self._watch:
            self._watch.cancel()
        self._current = None
        self._session.detach(connection)
        self._tell(Detached(connection.url, error))
        log.warning("connection to %s lost: %s", connection.url, error)
        if error.fatal:
            self._end(error)
        elif self._attempt:
            pass  # which may save the day
        elif self._listener.listening:
            self._retry_in(SIDE_WAIT)  # it will say so when it is active
        elif self._loop.time() - connection.attended < 2 * self._backoff:
            self._wait()
        else:
            self._backoff = self._config.backoff[0]
            self._search(connection.url, error.said)

    def _refuse(self, a: Attempt, url: str, error: CallboardError) -> None:
        """Strikes a broker out, unless its next answer will be another."""
        a.urls = [u for u in a.urls if u != url]
        if error.renumbered and url not in a.renumbered:
            a.renumbered.add(url)
            a.urls.insert(0, url)
            return
        a.errors.append(error)
        if error.fatal:
            a.fatal = error
        if error.code == "taken_over":
            a.urls, a.may_end = [], True
            return
        if known := self.roster.find(url):
            known.failed = self._loop.time()
            if known.taken and not error.fatal:
                a.may_end = False  # it may take this client again

    def _failed(self, a: Attempt) -> None:
        """No broker of an attempt took this client."""
        self._attempt = None
        error = a.fatal or (a.errors[0] if a.errors else unavailable("it was given up"))
        if a.move:
            a.move.refuse(a.move.overtaken() if a.overtaken else error)
        if error.code == "taken_over":
            self._end(error)
            return
        if a.move or a.choice:
            self._hold = self._loop.time() + self._config.backoff[1]
            self._tell(Stayed(a.to, error))
        move, self._pending = self._pending, None
        if move:
            self._move(move)
        elif self._current:
            self._reconsider()
        elif a.move or a.choice:
            self._search("", False)
        elif a.fatal and a.may_end:
            self._end(error)
        elif self.first and not self.first.done():
            self.first.set_exception(error)
        elif self._running:
            log.warning("no broker takes this client, trying again: %s", error)
            self._wait()

    def _end(self, error: CallboardError) -> None:
        """Going on makes no sense."""
        self._running = False
        self._listener.stop()
        self._clear()
        if self.first and not self.first.done():
            self.first.set_exception(error)
        if self._current:
            self._current.close()
            self._session.detach(self._current)
            self._current = None
        if self._pending:
            self._pending.refuse(error)
        self._session.end(error)
        self._ended(error)
