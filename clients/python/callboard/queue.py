"""Events on their way to the program."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from .events import Event
from .sequences import Sequence


@dataclass(slots=True)
class Item:
    event: Event
    size: int = 0
    source: str = ""  # of sequence
    sequence: Sequence | None = None  # None: not numbered
    seq: int = 0


class Queue:
    """Holds events between the connection and the program. What it has no room for is refused."""

    def __init__(self, count: int, size: int) -> None:
        self._max_count, self._max_size = count, size
        self._items: deque[Item] = deque()
        self._size = 0
        self._closed = False
        self._ready = asyncio.Event()
        self._drained = asyncio.Event()

    def push(self, item: Item) -> bool:
        if len(self._items) >= self._max_count or (self._items and self._size + item.size > self._max_size):
            return False
        self.force(item)
        return True

    def force(self, item: Item) -> None:
        """Adds an item about the connection itself, of which there are few."""
        self._items.append(item)
        self._size += item.size
        self._ready.set()

    async def take(self) -> Item | None:
        """Waits for an item; None when the queue is closed and empty."""
        while not self._items:
            if self._closed:
                return None
            self._ready.clear()
            await self._ready.wait()
        item = self._items.popleft()
        self._size -= item.size
        self._drained.set()
        return item

    def close(self) -> None:
        self._closed = True
        self._ready.set()

    async def half(self) -> None:
        """Waits until at most half of the room is taken."""
        while len(self._items) * 2 > self._max_count or self._size * 2 > self._max_size:
            self._drained.clear()
            await self._drained.wait()
