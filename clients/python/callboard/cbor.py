"""The objects of the protocol in CBOR (RFC 8949).

They are maps with text keys, lists, texts, numbers, true, false and null. Numbers
that are not finite go as themselves.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Iterator

MAX_DEPTH = 64
_INDEFINITE = 31


def encode(value: Any) -> bytes:
    out = bytearray()
    _append(out, value)
    return bytes(out)


def _append(out: bytearray, v: Any) -> None:
    if v is None:
        out.append(0xF6)
    elif isinstance(v, bool):
        out.append(0xF5 if v else 0xF4)
    elif isinstance(v, int) and -(2**64) <= v < 2**64:
        _head(out, 1, -1 - v) if v < 0 else _head(out, 0, v)
    elif isinstance(v, (int, float)):
        out += b"\xfb" + struct.pack(">d", float(v))
    elif isinstance(v, str):
        text = v.encode()
        _head(out, 3, len(text))
        out += text
    elif isinstance(v, (list, tuple)):
        _head(out, 4, len(v))
        for one in v:
            _append(out, one)
    elif isinstance(v, dict):
        _head(out, 5, len(v))
        for key, one in v.items():
            _append(out, str(key))
            _append(out, one)
    else:
        raise TypeError(f"callboard: {type(v).__name__} has no place in a message")


def _head(out: bytearray, major: int, n: int) -> None:
    if n < 24:
        out.append(major << 5 | n)
        return
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if n < 1 << 8 * size:
            out.append(major << 5 | info)
            out += n.to_bytes(size, "big")
            return


def decode(data: bytes) -> Any:
    """Reads one item that is all of data; what is none is a ValueError."""
    reader = _Reader(data)
    try:
        value = reader.item(0)
    except IndexError:
        raise ValueError("it ends too early") from None
    if reader.at != len(data):
        raise ValueError("more than one item")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def _take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError("it ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def _head(self) -> tuple[int, int, int]:
        first = self.data[self.at]
        self.at += 1
        major, info = first >> 5, first & 31
        if info < 24 or info == _INDEFINITE:
            return major, info, info
        if info > 27:
            raise ValueError("a reserved length")
        return major, info, int.from_bytes(self._take(1 << info - 24), "big")

    def item(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ValueError("nested too deep")
        major, info, n = self._head()
        if info == _INDEFINITE and major not in (3, 4, 5):
            raise ValueError("a value without a length")
        if major == 0:
            return n
        if major == 1:
            return -1 - n
        if major == 3:
            return self._text(info, n)
        if major == 4:
            return list(self._list(info, n, lambda: self.item(depth + 1)))
        if major == 5:
            return dict(self._list(info, n, lambda: (self._key(), self.item(depth + 1))))
        if major == 6:  # a tag
            return self.item(depth + 1)
        if major == 7:
            return self._simple(info, n)
        raise ValueError("a byte string")

    def _key(self) -> str:
        major, info, n = self._head()
        if major != 3:
            raise ValueError("a key that is no text")
        return self._text(info, n)

    def _text(self, info: int, n: int) -> str:
        if info == _INDEFINITE:
            return "".join(self._list(info, n, self._piece))
        return self._take(n).decode()

    def _piece(self) -> str:
        major, info, n = self._head()
        if major != 3 or info == _INDEFINITE:
            raise ValueError("a piece of a text that is none")
        return self._text(info, n)

    def _list(self, info: int, n: int, next: Callable[[], Any]) -> Iterator[Any]:
        i = 0
        while self.data[self.at] != 0xFF if info == _INDEFINITE else i < n:
            yield next()
            i += 1
        if info == _INDEFINITE:
            self.at += 1

    def _simple(self, info: int, n: int) -> Any:
        if info in (20, 21):
            return info == 21
        if info in (22, 23):  # null and undefined
            return None
        if info in (25, 26, 27):
            return float(struct.unpack({25: ">e", 26: ">f", 27: ">d"}[info], n.to_bytes(1 << info - 24, "big"))[0])
        raise ValueError("a value that JSON does not have")
