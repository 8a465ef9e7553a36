"""The brokers that a client may attach to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from .errors import CallboardError

MAX_BROKERS = 256


@dataclass
class Broker:
    """A broker that the client knows of."""

    url: str
    id: str = ""  # "" as long as it is not known
    configured: bool = False
    named: bool = False  # in the last welcome
    round_trip: float = 0  # s that it took to answer the last time; 0: it never did
    failed: float = 0  # when it last could not be reached or refused (loop time); 0: not since it took this client
    taken: bool = False  # it has taken this client before


class Roster:
    """Those of the configuration, and those that the last welcome named."""

    def __init__(self, brokers: list[str], token: str) -> None:
        self._list: list[Broker] = []
        for url in brokers:
            self._entry(url).configured = True  # type: ignore[union-attr]
        self._secure = bool(token) and all(url.startswith("wss:") for url in brokers)  # a token goes over wss only

    def find(self, url: str) -> Broker | None:
        return next((b for b in self._list if b.url == url), None)

    def _entry(self, url: str) -> Broker | None:
        b = self.find(url)
        if b is None and len(self._list) < MAX_BROKERS:
            b = Broker(url)
            self._list.append(b)
        return b

    def welcome(self, url: str, m: dict[str, Any]) -> None:
        """Takes a welcome that came over a connection to url."""
        for b in self._list:
            b.named = False
        for named in m.get("brokers") or []:
            try:
                entry = self._entry(broker_url(named["url"]))
            except CallboardError:
                continue  # of no use here
            if entry:
                entry.id, entry.named = str(named.get("id", "")), True
        self._list = [b for b in self._list if b.configured or b.named or b.url == url]
        here = self.find(url)
        if here:
            here.id, here.taken, here.failed = m["broker"], True, 0

    def known(self) -> list[Broker]:
        """Returns copies of those that may be used."""
        return [replace(b) for b in self._list if b.configured or (b.named and (not self._secure or b.url.startswith("wss:")))]

    def order(self, last: str, gone: bool) -> list[str]:
        """Returns URLs in the order in which they are tried.

        First the one that was lost, unless it is gone; then those that answered
        before, nearest first; then the others.
        """
        known = self.known()
        id = next((b.id for b in known if b.url == last and b.id), None)

        def rank(b: Broker) -> tuple[int, float]:
            if b.url == last or (id is not None and b.id == id):
                return (4 if gone else 0 if b.url == last else 1), 0
            return (2, b.round_trip) if b.round_trip > 0 else (3, 0)

        return [b.url for b in sorted(known, key=rank)]


_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


def broker_url(text: str) -> str:
    """Completes a broker's address: "host:port" and "http://host:port" become "ws://host:port/ws" (https: wss)."""
    try:
        parts = urlsplit(text if re.match(r"^[A-Za-z][A-Za-z0-9+.-]*://", text) else "ws://" + text)
        parts.port  # raises if it is none
    except ValueError as error:
        raise CallboardError("bad_message", f'broker "{text}": {error}, expected ws://HOST:PORT/ws') from None
    scheme = _SCHEMES.get(parts.scheme)
    if not scheme:
        raise CallboardError("bad_message", f'broker "{text}": scheme "{parts.scheme}", expected ws or wss')
    if not parts.hostname:
        raise CallboardError("bad_message", f'broker "{text}" names no host, expected ws://HOST:PORT/ws')
    return urlunsplit((scheme, parts.netloc, parts.path if parts.path not in ("", "/") else "/ws", parts.query, ""))
