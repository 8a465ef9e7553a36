"""What a client delivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict, Union

from .errors import CallboardError


class State(TypedDict, total=False):
    """What a later program needs to go on from here: JSON."""

    client: str
    session: str
    attachment: int
    num: dict[str, int]
    subscriptions: list[dict[str, Any]]
    away: list[str]
    terms: dict[str, int]  # of pairs of brokers the newest in which each served the client, by their URLs


class Place(TypedDict):
    """A place in a condition, in characters from 1."""

    line: int
    column: int


@dataclass(slots=True)
class Match:
    """A subscription inside a notification."""

    id: str
    state: bool | None = None  # for trigger change
    values: dict[str, Any] | None = None  # for select; a number that is not finite is None


@dataclass(slots=True)
class Notification:
    """A reading that matched. seq is the last one of its source that was given + 1 + skipped."""

    source: str
    seq: int
    skipped: int
    robot: str
    interface: str  # Player's name
    index: int
    time: float | None  # s, as Player gives it
    subscriptions: list[Match]
    reading: dict[str, Any] | None  # the object that conditions see, unless all subscriptions select

    def values(self, id: str) -> dict[str, Any]:
        """Returns what a subscription has selected."""
        return next((m.values for m in self.subscriptions if m.id == id and m.values is not None), {})


@dataclass(slots=True)
class Gap:
    """Notifications first to last of a source could not be kept. Without last its sequence has ended, and next follows."""

    source: str
    first: int
    last: int | None
    why: str
    next: str | None = None


@dataclass(slots=True)
class Robot:
    """A robot, or one device of it, came ("up") or went ("away"), or readings of it were lost ("overflow")."""

    robot: str
    source: str
    state: str
    since: float
    device: str | None = None
    lost: int | None = None


@dataclass(slots=True)
class Failure:
    """An error that the broker reports later on. ended: the subscription is no more."""

    error: CallboardError
    ended: bool = False


@dataclass(slots=True)
class Fault:
    """A number that breaks the protocol. The client goes on with what comes."""

    source: str
    reason: str


@dataclass(slots=True)
class Subscribed:
    """A subscription is in force: at sources, those known so far; robots match now, as far as known."""

    id: str
    sources: list[str] = field(default_factory=list)
    robots: int = 0
    warning: str | None = None  # nobody has registered what it asks for


@dataclass(slots=True)
class Resubscribed(Subscribed):
    """A subscription is in force again after a resume."""


@dataclass(slots=True)
class Attached:
    """The client is attached to a broker now. resumed: its session goes on."""

    url: str
    broker: str
    session: str
    attachment: int
    resumed: bool


@dataclass(slots=True)
class Stayed:
    """An attempt to move has failed: the client goes on at the broker before."""

    url: str
    error: CallboardError


@dataclass(slots=True)
class Detached:
    """The connection was lost; the client tries again."""

    url: str
    error: CallboardError


Event = Union[Notification, Gap, Robot, Failure, Fault, Resubscribed, Attached, Stayed, Detached]
