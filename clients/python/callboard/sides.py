"""Pairs of brokers, of which one is active and the other takes over."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Awaitable, Callable

from .connection import Connection
from .errors import CallboardError, unavailable
from .messages import Message, malformed, read, whole
from .roster import broker_url

MAX_SIDES = 64  # URLs of pairs of brokers that are remembered
SIDE_WAIT = 0.5  # s that a client that has lost one side of a pair waits for the other, to which it listens, to be active before it looks for any broker

log = logging.getLogger("callboard")


def side_urls(welcome: Message) -> list[str]:
    """Returns where the sides of a pair are, as its welcome says."""
    urls = []
    for side in (welcome.get("sides") or [])[: MAX_SIDES // 2]:
        try:
            urls.append(broker_url(side.get("url") or ""))
        except CallboardError:
            pass  # of no use here
    return urls


class Terms:
    """Of pairs of brokers the newest term in which each served the client, by its URL."""

    def __init__(self) -> None:
        self._all: dict[str, int] = {}
        self._here: list[str] = []  # URLs of the pair that the client hangs on

    def restore(self, terms: dict[str, int]) -> None:
        self._all = dict(terms)

    def of(self, url: str) -> int:
        return self._all.get(url, 0)

    def all(self) -> dict[str, int]:
        return dict(self._all)

    def welcome(self, url: str, m: Message) -> None:
        """Takes a welcome that came from url. A side that may not know yet that it has been replaced is an error."""
        term = int(m.get("term") or 0)
        if 0 < term < self.of(url):
            raise unavailable(f"term {term} after {self.of(url)}: it is the side of a pair of brokers that was active before")
        self._here = [url, *side_urls(m)]
        self.now(term)

    def now(self, term: int) -> None:
        """What follows is said in a term."""
        if not term:
            return
        if len(self._all) > MAX_SIDES - len(self._here):
            self._all.clear()
        for url in self._here:
            self._all[url] = max(term, self.of(url))


class Listener:
    """Listens at the side of a pair of brokers that the client does not hang on, until that is active."""

    def __init__(
        self,
        config: Any,
        dial: Callable[[str], Awaitable[Connection]],
        hello: Callable[[str], Message],
        active: Callable[[str, int], Awaitable[None] | None],  # None: the term is an old one
    ) -> None:
        self.listening = False
        self._config, self._dial, self._hello, self._active = config, dial, hello, active
        self._url = ""  # of the side
        self._task: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._going: asyncio.Task[None] | None = None  # to the side that is active now

    def attached(self, url: str, welcome: Message) -> None:
        """The client hangs on url, as its welcome says a side of a pair."""
        other = next((side for side in side_urls(welcome) if side != url), "")
        if other == self._url:
            return
        self.stop()
        if other:
            self._url = other
            self._task = asyncio.get_running_loop().create_task(self._stay(other))

    def stop(self) -> None:
        self._url, self.listening = "", False
        if self._task:
            self._task.cancel()
            self._task = None

    async def _stay(self, url: str) -> None:
        loop = asyncio.get_running_loop()
        least, most = self._config.backoff
        wait = least
        while True:
            began = loop.time()
            try:
                await self._listen(url)
            except CallboardError as error:
                log.debug("the other side of the pair, %s, is not listened to: %s", url, error)
            if loop.time() - began > 2 * wait:
                wait = least
            await asyncio.sleep(wait)
            wait = min(2 * wait, most)

    async def _listen(self, url: str) -> None:
        """Hears which side is active, until the connection ends."""
        connection = await self._dial(url)
        over: asyncio.Future[CallboardError] = asyncio.get_running_loop().create_future()

        def ended(error: CallboardError) -> None:
            if not over.done():
                over.set_result(error)

        connection.ended = ended
        connection.received = lambda data: self._heard(connection, data)
        connection.send(self._hello(url))
        connection.start()
        try:
            raise await over
        finally:
            connection.close()
            if self._url == url:
                self.listening = False

    def _heard(self, connection: Connection, data: str | bytes) -> None:
        try:
            m = read(data, self._config.cbor)
            if m["op"] == "active" and not whole(m.get("term"), 0):
                raise malformed("active without a term")
        except CallboardError as error:
            connection.end(error)
            return
        self.listening = True
        if m["op"] == "active" and (going := self._active(connection.url, int(m["term"]))):
            log.info("the other side of the pair is active now: %s, term %s", connection.url, m["term"])
            self._going = asyncio.get_running_loop().create_task(self._go(connection, going))

    async def _go(self, connection: Connection, going: Awaitable[None]) -> None:
        try:
            await going
        except CallboardError as error:
            connection.end(error)
