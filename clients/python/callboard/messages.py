"""What a broker says, checked before the client counts with it."""

from __future__ import annotations

import json
from typing import Any, Callable

from .errors import CallboardError

MAX_NUMBER = 2**53 - 1  # every program's JSON has those up to it
MAX_HEARTBEAT = 3600  # s


def _text(v: Any) -> bool:
    return isinstance(v, str) and v != ""


def _number(v: Any) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def whole(v: Any, least: int) -> bool:
    """Reports whether it is a number to count with; 3.0 is one, as in every JSON."""
    return _number(v) and v == v and least <= v <= MAX_NUMBER and int(v) == v


def counter(v: Any) -> bool:
    """Reports whether there is a next one, too."""
    return whole(v, 0) and v < MAX_NUMBER


def _list(v: Any, each: Callable[[Any], bool]) -> bool:
    return v is None or (isinstance(v, list) and all(each(one) for one in v))


def _optional(v: Any, check: Callable[[Any], bool]) -> bool:
    return v is None or check(v)


Message = dict[str, Any]

# By op: field, what it has to be, whether it is. Of what the client counts with.
_FIELDS: dict[str, list[tuple[str, str, Callable[[Message], bool]]]] = {
    "welcome": [
        ("broker", "text", lambda m: _text(m.get("broker"))),
        ("session", "text", lambda m: _text(m.get("session"))),
        ("attachment", "a number from 0", lambda m: counter(m.get("attachment"))),
        ("heartbeat", f"seconds up to {MAX_HEARTBEAT}", lambda m: _number(m.get("heartbeat")) and 0 < m["heartbeat"] <= MAX_HEARTBEAT),
        ("brokers", "a list of objects with id and url", lambda m: _list(m.get("brokers"), lambda b: isinstance(b, dict) and _text(b.get("url")))),
    ],
    "notify": [
        ("source", "text", lambda m: _text(m.get("source"))),
        ("seq", "a number from 1", lambda m: whole(m.get("seq"), 1)),
        ("skipped", "a number below seq", lambda m: _optional(m.get("skipped"), lambda v: whole(v, 0) and v < m["seq"])),
        ("robot", "text", lambda m: _optional(m.get("robot"), lambda v: isinstance(v, str))),
        ("time", "a number", lambda m: _optional(m.get("time"), _number)),
        (
            "subscriptions",
            "a list of objects with id",
            lambda m: _list(m.get("subscriptions"), lambda s: isinstance(s, dict) and _text(s.get("id"))),
        ),
    ],
    "gap": [
        ("source", "text", lambda m: _text(m.get("source"))),
        ("from", "a number from 1", lambda m: whole(m.get("from"), 1)),
        ("to", "a number not below from", lambda m: _optional(m.get("to"), lambda v: whole(v, m["from"]))),
        ("next", "text", lambda m: _optional(m.get("next"), lambda v: isinstance(v, str))),
    ],
    "subscribed": [
        ("id", "text", lambda m: _text(m.get("id"))),
        ("sources", "a list of texts", lambda m: _list(m.get("sources"), _text)),
        ("robots", "a number", lambda m: _optional(m.get("robots"), lambda v: whole(v, 0))),
    ],
    "robot": [
        ("robot", "text", lambda m: _text(m.get("robot"))),
        ("device", "text", lambda m: _optional(m.get("device"), _text)),
        ("state", "text", lambda m: _text(m.get("state"))),
    ],
    "reply": [
        ("id", "text", lambda m: _text(m.get("id"))),
        ("ok", "true or false", lambda m: isinstance(m.get("ok"), bool)),
        ("error", "an object", lambda m: _optional(m.get("error"), lambda v: isinstance(v, dict))),
    ],
    "error": [
        ("code", "text", lambda m: _text(m.get("code"))),
        ("id", "text", lambda m: _optional(m.get("id"), lambda v: isinstance(v, str))),
        ("attachment", "a number from 0", lambda m: _optional(m.get("attachment"), counter)),
    ],
}


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def read(data: str | bytes) -> Message:
    """Reads a message. What a newer broker may say passes; what is malformed is an error."""
    if not isinstance(data, str):
        raise malformed("a binary message, expected text")
    try:
        m = json.loads(data, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise malformed("a message that is not JSON") from None
    if not isinstance(m, dict) or not _text(m.get("op")):
        raise malformed("a message without op, expected an object that has one")
    for name, expected, right in _FIELDS.get(m["op"], []):
        if not right(m):
            shown = json.dumps(m[name])[:40] if name in m else "left out"
            raise malformed(f"{m['op']} with {name} {shown}, expected {expected}")
    return m


def malformed(what: str) -> CallboardError:
    return CallboardError("bad_message", f"the broker broke the protocol: {what}")
