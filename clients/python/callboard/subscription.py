"""A subscription and the change of it that is under way."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from .events import Subscribed


@dataclass(slots=True)
class Change:
    """What the broker has not answered."""

    kind: str  # subscribe, update, unsubscribe
    fields: dict[str, Any]  # of the update
    answer: asyncio.Future[Subscribed]
    sent: bool = False


class Subscription:
    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec  # as the broker has it
        self.confirmed = False  # the broker's session has it
        self.listed = False  # a hello has listed it and is not answered yet
        self.change: Change | None = None

    @property
    def id(self) -> str:
        return str(self.spec["id"])

    @property
    def ending(self) -> bool:
        return self.change is not None and self.change.kind == "unsubscribe"

    def message(self) -> dict[str, Any]:
        """Returns what asks for the change."""
        assert self.change is not None
        fields = self.spec if self.change.kind == "subscribe" else self.change.fields
        return {"op": self.change.kind, **fields, "id": self.id}

    def answered(self, subscribed: Subscribed) -> None:
        """The broker has done what was asked for."""
        change, self.change = self.change, None
        assert change is not None
        self.confirmed = True
        self.spec = {**self.spec, **change.fields}
        if not change.answer.done():
            change.answer.set_result(subscribed)

    def refused(self, error: Exception) -> None:
        change, self.change = self.change, None
        if change is not None and not change.answer.done():
            change.answer.set_exception(error)

    def ended(self) -> None:
        """The broker has it no more, as was asked for."""
        change, self.change = self.change, None
        self.confirmed = False
        if change is not None and not change.answer.done():
            change.answer.set_result(Subscribed(self.id))
