"""WebSocket connections to brokers."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections import deque
from typing import Any, Awaitable, Callable

from websockets.exceptions import ConnectionClosed

try:
    from websockets.asyncio.client import connect  # type: ignore[import]

    _HEADERS = "additional_headers"
except ImportError:  # before 13
    from websockets.legacy.client import connect

    _HEADERS = "extra_headers"

from . import cbor
from .errors import CallboardError, unavailable

log = logging.getLogger("callboard")

MAX_INCOMING = 64 << 20  # bytes of one message
STAGGER = 0.25  # s that a broker may take to answer before the next one is asked besides
NORMAL = 1000  # the status of a close frame
GOODBYE = 1.0  # s that the last words may take


class Connection:
    """One WebSocket to a broker. It ends once, by ended(error)."""

    def __init__(self, url: str, socket: Any, took: float, encode: Callable[[Any], str | bytes]) -> None:
        loop = asyncio.get_running_loop()
        self.url = url
        self.took = took
        self.heard = loop.time()  # when the broker last said something
        self.attended = 0.0  # when it was welcomed
        self.over: CallboardError | None = None  # why it has ended
        self._reason = ""  # for the broker, in the close frame
        self.received: Callable[[str | bytes], None] = lambda _: None
        self.ended: Callable[[CallboardError], None] = lambda _: None
        self._socket = socket
        self._encode = encode
        self._outbox: deque[str | bytes] = deque()
        self._wake = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._writer = loop.create_task(self._write())

    def start(self) -> None:
        """Begins to read."""
        self._reader = asyncio.get_running_loop().create_task(self._read())

    def send(self, message: dict[str, Any]) -> None:
        if self.over is None:
            self._outbox.append(self._encode(message))
            self._wake.set()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        error = unavailable("the connection was lost")
        try:
            while True:
                data = await self._socket.recv()
                self.heard = loop.time()
                self.received(data)
                if self.over is not None:
                    return
        except ConnectionClosed as closed:
            error = _close_error(closed)
        except OSError as broken:
            error = unavailable(str(broken))
        except Exception as fault:  # of this library, or of what it was given
            log.exception("a message of %s could not be taken", self.url)
            error = unavailable(f"a message could not be taken: {fault!r}")
        self.end(error)

    async def _write(self) -> None:
        try:
            while True:
                while self._outbox:
                    await self._socket.send(self._outbox.popleft())
                if self.over is not None:
                    break
                self._wake.clear()
                await self._wake.wait()
            await asyncio.wait_for(self._socket.close(NORMAL, self._reason), GOODBYE)
        except (ConnectionClosed, OSError, TimeoutError, asyncio.TimeoutError):
            pass
        finally:
            if self._reader and self.over is not None:  # else it is the one to say that the connection is lost
                self._reader.cancel()
            transport = getattr(self._socket, "transport", None)
            if transport:
                transport.abort()

    def close(self, error: CallboardError | None = None, reason: str = "") -> None:
        """Closes it behind what waits to be sent; what comes after that is not heard. Nobody waits for it but gone."""
        if self.over is None:
            self._reason = reason
            self.over = error or unavailable("it was given up")
            self.received = lambda _: None
            self._wake.set()

    def end(self, error: CallboardError) -> None:
        """Ends it, and says so."""
        if self.over is None:
            self.close(error)
            self.ended(error)

    async def gone(self) -> None:
        """Waits until the last words are out, or two seconds."""
        await asyncio.wait([self._writer], timeout=2 * GOODBYE)


def _close_error(closed: ConnectionClosed) -> CallboardError:
    frame = getattr(closed, "rcvd", None)
    if frame is None:
        return unavailable("the connection was lost")
    error = unavailable(frame.reason or ("the broker shut down" if frame.code == 1001 else f"the connection was closed with {frame.code}"))
    error.said = True
    return error


def _json(message: Any) -> str | bytes:
    return json.dumps(message, separators=(",", ":"))


def _cbor(message: Any) -> str | bytes:
    return cbor.encode(message)


async def dial(url: str, *, token: str, context: ssl.SSLContext | None, timeout: float, compression: bool, is_cbor: bool) -> Connection:
    """Opens a connection. token is shown with the request."""
    subprotocol = "callboard.v1.cbor" if is_cbor else "callboard.v1"
    options: dict[str, Any] = {
        "subprotocols": [subprotocol],
        "open_timeout": timeout,
        "ping_interval": None,  # the broker's heartbeats are watched
        "close_timeout": GOODBYE,
        "max_size": MAX_INCOMING,
        "compression": "deflate" if compression else None,
    }
    if token:
        options[_HEADERS] = {"Authorization": f"Bearer {token}"}
    if context is not None and url.startswith("wss:"):
        options["ssl"] = context
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        socket = await connect(url, **options)
    except (asyncio.TimeoutError, TimeoutError):
        raise unavailable(f"broker {url}: no answer within {timeout:g} s") from None
    except Exception as error:  # whatever the package calls it
        status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
        refused = CallboardError({401: "unauthorized", 403: "forbidden"}.get(status or 0, "unavailable"), f"broker {url}: {error}")
        refused.fatal = status in (401, 403)
        raise refused from None
    encode = _cbor if is_cbor else _json
    if socket.subprotocol != subprotocol:
        await socket.close()
        raise unavailable(f'broker {url}: it speaks "{socket.subprotocol or ""}", expected {subprotocol}: is this a Callboard broker?')
    return Connection(url, socket, max(loop.time() - began, 1e-6), encode)


async def race(
    urls: list[str], open: Callable[[str], Awaitable[Connection]]
) -> tuple[Connection | None, dict[str, CallboardError]]:
    """Asks brokers in order, the next one when one fails or does not answer for a while.

    The first that answers wins. It returns that, and the errors of those that failed before.
    """
    failed: dict[str, CallboardError] = {}
    running: dict[asyncio.Future[Connection], str] = {}
    waiting = list(urls)
    try:
        while waiting or running:
            if waiting:
                url = waiting.pop(0)
                running[asyncio.ensure_future(open(url))] = url
            done, _ = await asyncio.wait(running, timeout=STAGGER if waiting else None, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                url = running.pop(task)
                error = task.exception()
                if error is None:
                    return task.result(), failed
                failed[url] = error if isinstance(error, CallboardError) else unavailable(str(error))
        return None, failed
    finally:
        for task in running:
            task.add_done_callback(_let_go)
            task.cancel()


def _let_go(task: asyncio.Future[Connection]) -> None:
    """Closes what comes late."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()
