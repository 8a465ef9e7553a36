"""What a broker says, checked before the client counts with it."""

from __future__ import annotations

import json
import math
from typing import Any, Callable

from . import cbor
from .errors import CallboardError

MAX_NUMBER = 2**53 - 1  # every program's JSON has those up to it
MAX_HEARTBEAT = 3600  # s
MAX_MESSAGE = 1 << 20  # bytes


def _text(v: Any) -> bool:
    return isinstance(v, str) and v != ""


def _number(v: Any) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)


def whole(v: Any, least: int) -> bool:
    """Reports whether it is a number to count with; 3.0 is one, as in every JSON."""
    return _number(v) and least <= v <= MAX_NUMBER and int(v) == v


def counter(v: Any) -> bool:
    """Reports whether there is a next one, too."""
    return whole(v, 0) and v < MAX_NUMBER


def _list(v: Any, each: Callable[[Any], bool]) -> bool:
    return v is None or (isinstance(v, list) and all(each(one) for one in v))


Message = dict[str, Any]


def _string(v: Any) -> bool:
    return v is None or isinstance(v, str)


def _maybe_number(v: Any) -> bool:
    return v is None or _number(v)


def _integer(v: Any) -> bool:
    return v is None or whole(v, -MAX_NUMBER)


def _maybe_whole(v: Any) -> bool:
    return v is None or whole(v, 0)


def _place(v: Any) -> bool:
    return v is None or (isinstance(v, dict) and _integer(v.get("line")) and _integer(v.get("column")))


def _failure(v: Any) -> bool:
    return v is None or (isinstance(v, dict) and _string(v.get("code")) and _string(v.get("message")) and _place(v.get("position")))


def _match(v: Any) -> bool:
    return isinstance(v, dict) and _text(v.get("id")) and _truth(v.get("state"))


def _truth(v: Any) -> bool:
    return v is None or isinstance(v, bool)


def _side(v: Any) -> bool:
    return isinstance(v, dict) and _string(v.get("url"))


def _broker(v: Any) -> bool:
    return isinstance(v, dict) and _string(v.get("id")) and _string(v.get("url"))


def _from_one(v: Any) -> bool:
    return whole(v, 1)


Check = Callable[[Any], bool]

# By op: field, what it has to be, whether it is. What is wrong elsewhere is the program's.
_FIELDS: dict[str, list[tuple[str, str, Check]]] = {
    "welcome": [
        ("broker", "text", _text),
        ("session", "text", _text),
        ("client", "text", _string),
        ("attachment", "a number from 0", counter),
        ("heartbeat", f"seconds up to {MAX_HEARTBEAT}", lambda v: _number(v) and 0 < v <= MAX_HEARTBEAT),
        ("window", "a number", _integer),
        ("brokers", "a list of objects with id and url", lambda v: _list(v, _broker)),
        ("term", "a number from 0", _maybe_whole),
        ("sides", "a list of objects with url", lambda v: _list(v, _side)),
    ],
    "heartbeat": [
        ("broker", "text", _string),
        ("time", "a number", _maybe_number),
        ("term", "a number from 0", _maybe_whole),
    ],
    "notify": [
        ("source", "text", _text),
        ("seq", "a number from 1", _from_one),
        ("skipped", "a number from 0", _maybe_whole),
        ("robot", "text", _string),
        ("interface", "text", _string),
        ("index", "a number from 0 to 65535", lambda v: v is None or (whole(v, 0) and v < 1 << 16)),
        ("time", "a number", _maybe_number),
        ("subscriptions", "a list of objects with id", lambda v: _list(v, _match)),
    ],
    "gap": [
        ("source", "text", _text),
        ("from", "a number from 1", _from_one),
        ("to", "a number from 1", lambda v: v is None or _from_one(v)),
        ("why", "text", _string),
        ("next", "text", _string),
    ],
    "subscribed": [
        ("id", "text", _text),
        ("sources", "a list of texts", lambda v: _list(v, _text)),
        ("robots", "a number from 0", _maybe_whole),
        ("warning", "text", _string),
    ],
    "robot": [
        ("robot", "text", _text),
        ("device", "text", _string),
        ("source", "text", _string),
        ("state", "text", _text),
        ("lost", "a number from 0", _maybe_whole),
        ("since", "a number", _maybe_number),
    ],
    "reply": [
        ("id", "text", _string),
        ("key", "text", _string),
        ("ok", "true or false", lambda v: isinstance(v, bool)),
        ("error", "an object with code and message", _failure),
    ],
    "accepted": [
        ("id", "text", _string),
        ("key", "text", _string),
        ("ahead", "a number from 0", _maybe_whole),
    ],
    "task": [
        ("id", "text", _text),
        ("task", "text", _text),
        ("queue", "text", _string),
        ("from", "text", _string),
        ("left", "a number", _maybe_number),
        ("again", "true or false", _truth),
    ],
    "cancelled": [("task", "text", _string)],
    "progress": [
        ("id", "text", _string),
        ("key", "text", _string),
    ],
    "error": [
        ("id", "text", _string),
        ("code", "text", _text),
        ("message", "text", _string),
        ("position", "a place", _place),
        ("attachment", "a number from 0", lambda v: v is None or counter(v)),
    ],
}


def _decode(data: str | bytes, is_cbor: bool) -> Any:
    if isinstance(data, str) and not is_cbor:
        return json.loads(data, parse_constant=_constant)
    if isinstance(data, bytes) and is_cbor:
        return cbor.decode(data)
    raise malformed("text, expected CBOR" if is_cbor else "a binary message, expected text")


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def read(data: str | bytes, is_cbor: bool) -> Message:
    """Reads a message. What a newer broker may say passes; what is malformed is an error."""
    try:
        m = _decode(data, is_cbor)
    except (ValueError, RecursionError):
        raise malformed(f"a message that is not {'CBOR' if is_cbor else 'JSON'}") from None
    if not isinstance(m, dict) or not _text(m.get("op")):
        raise malformed("a message without op, expected an object that has one")
    for name, expected, right in _FIELDS.get(m["op"], []):
        if not right(m.get(name)):
            raise _wrong(m, name, expected)
    if m["op"] == "notify" and (m.get("skipped") or 0) >= m["seq"]:
        raise _wrong(m, "skipped", "a number below seq")
    if m["op"] == "gap" and m.get("to") is not None and m["to"] < m["from"]:
        raise _wrong(m, "to", "a number not below from")
    if m["op"] == "reply" and not m.get("id") and not m.get("key"):
        raise _wrong(m, "id", "text, of what has no key")
    return m


def _wrong(m: Message, name: str, expected: str) -> CallboardError:
    shown = json.dumps(m[name])[:40] if name in m else "left out"
    return malformed(f"{m['op']} with {name} {shown}, expected {expected}")


def check_size(message: Message) -> int:
    """Refuses what the broker would close the connection for. Returns bytes."""
    size = len(json.dumps(message))
    if size > MAX_MESSAGE:
        raise CallboardError("bad_message", f"a message of {size} bytes, the limit is {MAX_MESSAGE}")
    return size


def malformed(what: str) -> CallboardError:
    return CallboardError("bad_message", f"the broker broke the protocol: {what}")
