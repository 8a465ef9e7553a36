"""What a broker, or the connection, could not do."""

from __future__ import annotations

from typing import Any


class CallboardError(Exception):
    """An error with a code of the protocol, or taken_over, closed, lost, overtaken.

    position says where in a condition: {"line": 1, "column": 7}, characters from 1.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        id: str | None = None,
        position: dict[str, int] | None = None,
        attachment: int | None = None,
    ) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.id = id
        self.position = position
        self.attachment = attachment
        # What the library makes of it.
        self.fatal = False  # trying again would not help
        self.renumbered = False  # the same broker will take the next hello
        self.said = False  # the broker is not expected to be there: it said goodbye, or fell silent

    @classmethod
    def of(cls, m: dict[str, Any], id: str | None = None) -> CallboardError:
        """Makes one of a broker's message."""
        return cls(
            m.get("code") or "unavailable",
            m.get("message") or "the broker gave no reason",
            id=id or m.get("id") or None,
            position=m.get("position"),
            attachment=m.get("attachment"),
        )


def unavailable(message: str) -> CallboardError:
    return CallboardError("unavailable", message)


def taken_over(error: CallboardError) -> CallboardError:
    all = CallboardError("taken_over", f"another program has attached with this client id: {error.message}")
    all.fatal = True
    return all


def closed() -> CallboardError:
    return CallboardError("closed", "the client is closed")
