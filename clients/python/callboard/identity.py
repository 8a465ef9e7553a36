"""Who a client is to brokers: its id, session, and the numbers of its attachments."""

from __future__ import annotations

import asyncio
from typing import Any

from .errors import CallboardError, taken_over

MAX_UNANSWERED = 16  # hellos without a number that are remembered
UNANSWERED_FOR = 5 * 60.0  # s that each is


class Identity:
    def __init__(self, client: str) -> None:
        self.client = client
        self.session = ""
        self.attachment = 0  # the highest known
        self._tried = 0  # that before the newest hello
        self._fresh = True  # no hello has been answered by a welcome yet
        self._unanswered: list[float] = []  # when hellos without a number got no answer: a broker may take each late
        self._unnumbered = False  # the newest hello is such a one

    def hello(self) -> dict[str, Any]:
        """Returns what a hello says of who it is.

        A number is used once, answered or not: a broker may take a hello long
        after it was given up, and of two the later one has to count.
        """
        if not self.client:
            return {}
        self._tried, self._unnumbered = self.attachment, self.attachment == 0
        if self._unnumbered:
            self._unanswered = [*self._unanswered, asyncio.get_running_loop().time()][-MAX_UNANSWERED:]
            return {"client": self.client}
        self.attachment += 1
        return {"client": self.client, "attachment": self.attachment}

    def _answered(self) -> None:
        """The newest hello has its answer."""
        if self._unnumbered:
            self._unanswered.pop()
        self._unnumbered = False

    def welcomed(self, session: str, attachment: int) -> None:
        self._answered()
        if self.client:
            self.session = session
        self.attachment = max(self.attachment, attachment)
        self._fresh = False

    def _ours(self) -> bool:
        """Reports whether an attachment that is not known may be that of a hello of our own: one without a number, taken late."""
        while self._unanswered:
            if asyncio.get_running_loop().time() - self._unanswered.pop(0) < UNANSWERED_FOR:
                return True
        return False

    def refused(self, error: CallboardError) -> CallboardError:
        """Takes an error in place of welcome."""
        self._answered()
        if error.code in ("unauthorized", "forbidden", "bad_message"):
            error.fatal = True
        if error.code != "conflict":
            return error
        # An earlier program with this state may have counted further than that says; later on only another program can have.
        if error.attachment is None or (not self._fresh and error.attachment > self._tried and not self._ours()):
            return taken_over(error)
        self.attachment = max(self.attachment, error.attachment)
        error.renumbered = True
        return error

    def conflict(self, error: CallboardError) -> CallboardError:
        """The client id has attached elsewhere. A number up to ours is our own: this connection is the older one."""
        if error.attachment is None:
            return taken_over(error)
        known = error.attachment <= self.attachment
        self.attachment = max(self.attachment, error.attachment)
        return error if known or self._ours() else taken_over(error)
