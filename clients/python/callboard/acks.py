"""Acknowledgements of what the program has handled."""

from __future__ import annotations

import asyncio
from typing import Any, Callable

from .sequences import Sequence, Sequences


class Acknowledger:
    """Acknowledges batches that are full at once, the rest soon."""

    def __init__(self, config: Any, sequences: Sequences, send: Callable[[dict[str, Any]], None]) -> None:
        self._config, self._sequences, self._send = config, sequences, send
        self._timer: asyncio.TimerHandle | None = None

    def soon(self, source: str, s: Sequence) -> None:
        """Something of a source was handled, or has come."""
        due = self._sequences.due(source, s)
        if due and self._full(s, due):
            self.flush(False)
        elif due:
            self._later()

    def _full(self, s: Sequence, due: int) -> bool:
        """Reports whether a batch is full, or the broker waits for it."""
        return s.prompt or due >= self._config.ack_count or s.bytes >= self._config.ack_bytes

    def _later(self) -> None:
        if not self._timer:
            self._timer = asyncio.get_running_loop().call_later(self._config.ack_delay, self._late)

    def _late(self) -> None:
        self._timer = None
        self.flush(True)

    def flush(self, all: bool) -> None:
        """Acknowledges all that is due, or the batches that are full."""
        later = False

        def due(s: Sequence, n: int) -> bool:
            nonlocal later
            now = all or self._full(s, n)
            later = later or not now
            return now

        for source, num in self._sequences.acks(due):
            self._send({"op": "ack", "source": source, "num": num})
        if later:
            self._later()

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
