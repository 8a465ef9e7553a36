"""The numbers of one client's notifications, by source.

They are consecutive from 1, but for what skipped and gaps account for. Of each
source it is known what was given (is in the queue), what the program has
handled, and what of that was acknowledged; and what the connection in use has
brought (wire), beginning with what its hello told as handled. What was given
and comes again is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable


@dataclass(slots=True)
class Sequence:
    given: int = 0
    handled: int = 0
    acked: int = 0
    bytes: int = 0  # of what was handled and is not acknowledged
    prompt: bool = False  # only subscriptions that keep the latest wanted the last one


class Sequences:
    def __init__(self) -> None:
        self._all: dict[str, Sequence] = {}
        self._wire: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._all)

    def restore(self, numbers: dict[str, int]) -> None:
        for source, num in numbers.items():
            self._all[source] = Sequence(num, num, num)

    def clear(self) -> list[tuple[str, int]]:
        """Forgets all, and returns each source with the last number given."""
        had = [(source, s.given) for source, s in self._all.items()]
        self._all.clear()
        self._wire.clear()
        return had

    def hello(self) -> dict[str, int]:
        """Returns what a hello tells; the connection's numbers begin there."""
        told = self.numbers()
        self._wire = dict(told)
        for source, s in self._all.items():
            s.acked = told[source]
        return told

    def numbers(self) -> dict[str, int]:
        """Returns the highest number handled, by source."""
        return {source: s.handled for source, s in self._all.items()}

    def of(self, source: str) -> Sequence:
        """Returns a source's numbers. A hello tells of each that was named, whether anything has come of it or not."""
        return self._all.setdefault(source, Sequence())

    def notify(self, source: str, seq: int, skipped: int) -> tuple[bool, int, str]:
        """Takes a notification's numbers: whether it is news, how many were passed over since the last one given, what breaks the protocol."""
        s, wire = self.of(source), self._wire.get(source, 0)
        if seq <= wire:
            return False, skipped, f"notification {seq} came again, the last one was {wire}"
        fault = "" if seq == wire + 1 + skipped else f"notification {seq} (skipped {skipped}) follows {wire}, expected {wire + 1 + skipped}"
        self._wire[source] = seq
        if seq <= s.given:
            return False, skipped, fault
        passed = skipped if fault else seq - s.given - 1
        s.given = seq
        return True, passed, fault

    def gap(self, source: str, first: int, last: int) -> tuple[bool, int, str]:
        """Takes a gap's numbers: whether it is news, the first one that is, what breaks the protocol."""
        s, wire = self.of(source), self._wire.get(source, 0)
        fault = "" if first == wire + 1 else f"gap from {first} follows {wire}, expected {wire + 1}"
        self._wire[source] = max(wire, last)
        if last <= s.given:
            return False, first, fault
        news = max(first, s.given + 1)
        s.given = last
        return True, news, fault

    def end(self, source: str, first: int, next: str | None) -> int:
        """Ends a source's sequence; next follows it. It returns the first number that is missing."""
        s = self._all.pop(source, Sequence())
        self._wire.pop(source, None)
        if next:
            self.of(next)
        return max(first, s.given + 1)

    def due(self, source: str, s: Sequence) -> int:
        """Returns how many numbers wait to be acknowledged: the broker must have sent them over this connection."""
        return max(0, min(s.handled, self._wire.get(source, 0)) - s.acked)

    def acks(self, due: Callable[[Sequence, int], bool]) -> list[tuple[str, int]]:
        """Returns what to acknowledge, of those that due says; it counts as acknowledged."""
        out = []
        for source, s in self._all.items():
            n = self.due(source, s)
            if n > 0 and due(s, n):
                s.acked += n
                s.bytes = 0
                out.append((source, s.acked))
        return out
