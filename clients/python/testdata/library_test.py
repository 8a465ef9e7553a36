"""The blocking front, against a broker that is a few lines, and connections that are lost. Run by python_test.go."""

import asyncio
import json
import queue
import sys
import threading
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from websockets.exceptions import ConnectionClosedError

import callboard
from callboard.blocking import Client, Task
from callboard.connection import Connection

try:
    from websockets.asyncio.server import serve  # type: ignore[import]
except ImportError:  # before 13
    from websockets.legacy.server import serve


class Broker:
    """Answers hello, subscribe, list and request, sends notifications for "true" and an error for anything else.

    A server gets a task, and is told that it is cancelled when it says how that comes on.
    """

    def __init__(self) -> None:
        self.done: queue.Queue[Any] = queue.Queue()  # progress and answers of tasks
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.acked = 0
        self.url = asyncio.run_coroutine_threadsafe(self.begin(), self.loop).result()

    async def begin(self) -> str:
        self.server = await serve(self.speak, "127.0.0.1", 0, subprotocols=["callboard.v1"])
        return f"127.0.0.1:{next(iter(self.server.sockets)).getsockname()[1]}"

    async def speak(self, socket: Any, *_: Any) -> None:
        async def say(**message: Any) -> None:
            await socket.send(json.dumps(message))

        async for text in socket:
            m = json.loads(text)
            match m["op"]:
                case "hello" if m.get("token") == "wrong":
                    await say(op="error", code="unauthorized", message="no such token")
                case "hello":
                    await say(op="welcome", broker="b1", client=m["client"], session="one", attachment=1, heartbeat=60, window=9, brokers=[])
                case "subscribe" if m["condition"] == "true":
                    await say(op="subscribed", id=m["id"], sources=["s"], robots=2)
                    for seq in range(1, 4):
                        await say(op="notify", source="s", seq=seq, robot="r0", interface="laser", index=0, time=seq, subscriptions=[{"id": m["id"]}])
                case "subscribe":
                    await say(op="error", id=m["id"], code="bad_condition", message="no", position={"line": 1, "column": 2})
                case "list":
                    await say(op="reply", id=m["id"], ok=True, result=["x"])
                case "ack":
                    self.acked = m["num"]
                case "request":
                    await say(op="accepted", id=m["id"], key=m["key"], ahead=2)
                    await say(op="progress", id=m["id"], key=m["key"], progress="half")
                    await say(op="reply", id=m["id"], key=m["key"], ok=True, result=[m["body"]])
                case "serve":
                    await say(op="task", id=m["id"], task="t1", queue=m["queue"], body=3, left=3600)
                case "done":
                    self.done.put(m.get("progress") or m.get("body"))
                    if "progress" in m:
                        await say(op="cancelled", task="t1")
                case "unsubscribe":
                    await say(op="reply", id=m["id"], ok=True)

    async def close(self) -> None:
        self.server.close()
        await self.server.wait_closed()

    def end(self) -> None:
        asyncio.run_coroutine_threadsafe(self.close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class Blocking(unittest.TestCase):
    def setUp(self) -> None:
        self.broker = Broker()
        self.addCleanup(self.broker.end)

    def test_events(self) -> None:
        with Client(self.broker.url) as client:
            self.assertEqual(client.subscribe("all", "true").robots, 2)
            self.assertEqual(client.list("robots"), ["x"])
            seqs = []
            for event in client:
                if isinstance(event, callboard.Notification):
                    seqs.append(event.seq)
                if len(seqs) == 2:
                    break
            last = client.next(timeout=30)
            assert isinstance(last, callboard.Notification)
            self.assertEqual([*seqs, last.seq], [1, 2, 3])
            self.assertIsNone(client.next(timeout=0.01))
            self.assertEqual(client.state()["num"], {"s": 3})
            client.unsubscribe("all")
        with self.assertRaises(callboard.CallboardError) as gone:
            client.list("robots")
        self.assertEqual(gone.exception.code, "closed")

    def test_tasks(self) -> None:
        told: list[Any] = []

        def add(task: Task) -> Any:
            return task.body + 1

        def hang(task: Task) -> Any:
            task.progress("half")
            return "stopped" if task.cancelled.wait(30) else "not told"

        with Client(self.broker.url) as client:
            self.assertEqual(client.request("docks", 7, accepted=told.append, progress=told.append), [7])
            self.assertEqual(told, [2, "half"])
            server = client.serve("docks", add)
            self.assertEqual(self.broker.done.get(timeout=30), 4)
            server.stop()
            self.assertIsNone(server.error)
            hanging = client.serve("docks", hang, at_once=2)
            self.assertEqual(self.broker.done.get(timeout=30), "half")
            self.assertEqual(self.broker.done.get(timeout=30), "stopped")
        assert hanging.error
        self.assertEqual(hanging.error.code, "closed")

    def test_errors(self) -> None:
        with self.assertRaises(callboard.CallboardError) as refused:
            Client(self.broker.url, token="wrong")
        self.assertEqual(refused.exception.code, "unauthorized")
        with Client(self.broker.url) as client:
            with self.assertRaises(callboard.CallboardError) as bad:
                client.subscribe("bad", "1 +")
            self.assertEqual(bad.exception.position, {"line": 1, "column": 2})

    def test_an_event_that_fails_is_not_handled(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            with Client(self.broker.url, client="me", ack_count=1) as client:
                client.subscribe("all", "true")
                for event in client:
                    if isinstance(event, callboard.Notification) and event.seq == 2:
                        event.seq / 0
        self.assertEqual(client.state()["num"], {"s": 1})


class Lost:
    """A socket whose end the writer is the first to notice."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()

    async def send(self, _: Any) -> None:
        self.lost.set()
        raise ConnectionClosedError(None, None)

    async def recv(self) -> str:
        await self.lost.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        raise ConnectionClosedError(None, None)


class Connections(unittest.TestCase):
    def test_a_loss_that_the_writer_notices_first(self) -> None:
        async def lose() -> callboard.CallboardError:
            ended: asyncio.Future[callboard.CallboardError] = asyncio.get_running_loop().create_future()
            connection = Connection("ws://b/ws", Lost(), 0, str)
            connection.ended = ended.set_result
            connection.start()
            connection.send({})
            return await asyncio.wait_for(ended, 30)

        self.assertEqual(asyncio.run(lose()).code, "unavailable")


unittest.main()
