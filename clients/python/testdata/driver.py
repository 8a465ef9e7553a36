"""The driver of clients/conformance: one client, told line by line what to do."""

import asyncio
import json
import math
import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import callboard

NAMES = {"first": "from", "last": "to"}


def finite(v: Any) -> Any:
    """Returns it as JSON has it: numbers that are not finite are null."""
    if isinstance(v, dict):
        return {name: finite(one) for name, one in v.items()}
    if isinstance(v, list):
        return [finite(one) for one in v]
    return None if isinstance(v, float) and not math.isfinite(v) else v


def shown(v: Any) -> Any:
    """Returns an event's fields by the protocol's names."""
    if isinstance(v, callboard.CallboardError):
        return {"code": v.code, "message": v.message, "position": v.position}
    if isinstance(v, list):
        return [shown(one) for one in v]
    if not hasattr(v, "__dataclass_fields__"):
        return finite(v)
    out = {NAMES.get(f.name, f.name) if isinstance(v, callboard.Gap) else f.name: shown(getattr(v, f.name)) for f in fields(v)}
    return {name: value for name, value in out.items() if value is not None}


def event_of(event: Any) -> dict[str, Any]:
    name = type(event).__name__.lower()
    if isinstance(event, callboard.Failure):
        return {"event": name, **shown(event.error), "id": event.error.id, "ended": event.ended}
    out = {"event": name, **shown(event)}
    if not out.get("skipped"):
        out.pop("skipped", None)
    out.pop("error", None)
    return out


def emit(v: dict[str, Any]) -> None:
    os.write(1, (json.dumps(v) + "\n").encode())


async def main() -> None:
    reader = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    given = json.loads(await reader.readline())
    options = {k: v for k, v in given.items() if k not in ("brokers", "choose")}
    options["backoff"] = tuple(options["backoff"])
    if "choose" in given:
        options["choose"] = lambda current, known: given["choose"]
    client = callboard.Client(*given["brokers"], **options)
    held: asyncio.Event | None = None
    watching: list[asyncio.Task[None]] = []
    calls: set[asyncio.Task[None]] = set()
    servers: dict[str, callboard.Server] = {}  # by queue
    in_hand: dict[str, tuple[callboard.Task, asyncio.Future[Any]]] = {}  # by word
    asked: dict[str, asyncio.Task[Any]] = {}  # by tag

    async def deliver() -> None:
        async for event in client:
            emit(event_of(event))
            if held:
                await held.wait()

    async def work(task: callboard.Task) -> Any:
        """Has a task done by what the driver is told to do."""
        emit({"event": "task", "task": task.name, "queue": task.queue, "from": task.origin, "body": task.body, "again": task.again})
        answer = asyncio.get_running_loop().create_future()
        in_hand[task.name] = (task, answer)
        try:
            return await answer
        except asyncio.CancelledError:
            emit({"event": "cancelled", "task": task.name})
            raise

    async def echo(task: callboard.Task) -> Any:
        return task.body

    async def refused(server: callboard.Server) -> None:
        try:
            await server.wait()
        except callboard.CallboardError as error:
            if error.code != "closed":
                emit({"event": "unserved", "queue": server.queue, "code": error.code})

    async def request(tag: str, queue: str, body: Any = None, **options: Any) -> Any:
        asked[tag] = asyncio.create_task(
            client.request(
                queue,
                body,
                **options,
                accepted=lambda ahead: emit({"event": "accepted", "ahead": ahead}),
                progress=lambda progress: emit({"event": "progress", "progress": progress}),
            )
        )
        try:
            return await asked[tag]
        except asyncio.CancelledError:
            raise callboard.CallboardError("aborted", "a test") from None

    async def do(tag: str, name: str, a: dict[str, Any]) -> Any:
        if name == "request":
            return await request(tag, **a)
        if name == "cancel":
            asked[a["tag"]].cancel()
            return None
        if name == "serve":
            server = servers[a["queue"]] = client.serve(a["queue"], echo if a.get("echo") else work, at_once=a.get("at_once", 1))
            watching.append(asyncio.create_task(refused(server)))
            return None
        if name == "stop":
            return await servers[a["queue"]].stop()
        if name == "answer":
            answer = in_hand[a["task"]][1]
            return answer.set_exception(RuntimeError(a["error"])) if "error" in a else answer.set_result(a.get("body"))
        if name == "progress":
            return in_hand[a["task"]][0].progress(a["progress"])
        if name == "subscribe":
            a = {"for_" if k == "for" else k: v for k, v in a.items()}
            return shown(await client.subscribe(**a))
        if name == "update":
            return shown(await client.update(**a))
        if name == "unsubscribe":
            return await client.unsubscribe(a["id"])
        if name == "command":
            return await client.command(a.pop("robot"), a.pop("name"), *a.pop("args", []), **a)
        if name == "list":
            return await client.list(a["what"])
        if name == "move":
            return await client.move(a["url"])
        if name == "state":
            return client.state()
        if name == "close":
            return await client.close()
        raise ValueError(name)

    async def call(m: dict[str, Any]) -> None:
        try:
            emit({"result": m["tag"], "value": await do(m["tag"], m["do"], m["args"])})
        except callboard.CallboardError as error:
            emit({"result": m["tag"], "error": shown(error)})

    async def listen() -> None:
        nonlocal held
        while line := await reader.readline():
            m = json.loads(line)
            if m["do"] == "hold":
                held = asyncio.Event()
                emit({"result": m["tag"]})
            elif m["do"] == "release":
                assert held
                held.set()
                held = None
                emit({"result": m["tag"]})
            else:
                task = asyncio.create_task(call(m))
                calls.add(task)
                task.add_done_callback(calls.discard)

    delivering, listening = asyncio.create_task(deliver()), asyncio.create_task(listen())
    code = ""
    try:
        await client.run()
    except callboard.CallboardError as error:
        code = error.code
    await asyncio.gather(delivering, *calls, return_exceptions=True)
    emit({"end": code})
    listening.cancel()


asyncio.run(main())
