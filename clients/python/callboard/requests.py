"""Commands and lists, and their answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Callable

from .errors import CallboardError
from .messages import Message

REQUEST_PREFIX = "~"  # of the ids of commands and lists, which share those of subscriptions


@dataclass(slots=True, eq=False)
class Request:
    message: Message
    answer: asyncio.Future[Any]

    def fail(self, error: CallboardError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Requests:
    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._attached = False
        self._sent: dict[str, Request] = {}
        self._waiting: list[Request] = []  # for a broker
        self._counter = 0

    async def ask(self, message: Message) -> Any:
        """Sends a message once attached, and returns its reply's result."""
        self._counter += 1
        id = f"{REQUEST_PREFIX}{self._counter}"
        r = Request({**message, "id": id}, asyncio.get_running_loop().create_future())
        if self._attached:
            self._ask(r)
        else:
            self._waiting.append(r)
        try:
            return await r.answer
        finally:
            self._sent.pop(id, None)
            if r in self._waiting:
                self._waiting.remove(r)

    def _ask(self, r: Request) -> None:
        self._sent[r.message["id"]] = r
        self._send(r.message)

    def attached(self) -> None:
        self._attached = True
        waiting, self._waiting = self._waiting, []
        for r in waiting:
            self._ask(r)

    def detached(self) -> None:
        self._attached = False
        sent, self._sent = self._sent, {}
        for r in sent.values():
            if r.message["op"] == "list":
                self._waiting.append(r)  # asking twice does no harm
            else:
                r.fail(CallboardError("lost", "the connection was lost before the answer came"))

    def end(self, error: CallboardError) -> None:
        """Answers all that wait."""
        for r in [*self._sent.values(), *self._waiting]:
            r.fail(error)
        self._sent, self._waiting = {}, []

    def replied(self, m: Message) -> bool:
        """Takes a reply; False if it answers none of these."""
        r = self._sent.pop(m["id"], None)
        if r and m["ok"] and not r.answer.done():
            r.answer.set_result(m.get("result"))
        elif r:
            r.fail(CallboardError.of(m.get("error") or {}, m["id"]))
        return r is not None

    def failed(self, error: CallboardError) -> bool:
        r = self._sent.pop(error.id or "", None)
        if r:
            r.fail(error)
        return r is not None

    async def settled(self, timeout: float) -> None:
        """Waits until none waits for its answer."""
        if self._sent:
            await asyncio.wait([r.answer for r in self._sent.values()], timeout=timeout)
