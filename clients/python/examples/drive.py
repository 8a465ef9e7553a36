"""Serves orders to drive a robot ahead; who asks is told how far it is, and when it is there.

    python3 drive.py ws://127.0.0.1:8800/ws r0
    callboard request r0/drive '{"metres": 1.5}' --progress
"""

import asyncio
import math
import sys
from typing import Any

import callboard


async def main(broker: str, robot: str) -> None:
    async with callboard.Client(broker) as client:
        news = asyncio.Condition()
        where: dict[str, Any] = {}  # the robot is

        async def place() -> tuple[float, float]:
            async with news:
                await news.wait()
                return where["x"], where["y"]

        async def drive(task: callboard.Task) -> dict[str, float]:
            begin, driven = await place(), 0.0
            try:
                while driven < task.body["metres"]:
                    await client.command(robot, "velocity", 0.4, 0, 0, 1, ttl=1)  # for a second at most
                    driven = math.dist(begin, await place())
                    task.progress({"driven": driven})
            finally:  # also if the order is cancelled
                await client.command(robot, "stop", ttl=1)
            return {"driven": driven}

        await client.subscribe("where", "position.time >= 0", robots=[robot], min_interval=0.1, keep="latest")
        client.serve(f"{robot}/drive", drive)
        print(f"serves {robot}/drive", flush=True)
        async for event in client:
            if isinstance(event, callboard.Notification) and event.reading:
                async with news:
                    where.update(event.reading)
                    news.notify_all()


asyncio.run(main(*sys.argv[1:]))
