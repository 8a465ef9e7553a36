"""Has a robot follow another one, whichever brokers read them.

It goes on at another broker when its own is lost.

    python3 follow.py r0 r1 ws://127.0.0.1:8800/ws ws://127.0.0.1:8900/ws
"""

import asyncio
import math
import sys
import time
from typing import cast

import callboard

DISTANCE = 1.0  # m, to stay behind the leader


async def main(leader: str, follower: str, *brokers: str) -> None:
    async with callboard.Client(*brokers) as client:
        # Only where they are now matters: what waits is replaced by what is newer.
        await client.subscribe("where", "position.time >= 0", robots=[leader, follower], min_interval=0.1, keep="latest")
        where: dict[str, callboard.Position] = {}
        told = 0.0
        async for event in client:
            if isinstance(event, callboard.Attached):
                print(f"attached to {event.broker}", flush=True)
            if not isinstance(event, callboard.Notification):
                continue
            where[event.robot] = cast(callboard.Position, event.reading)
            if event.robot != follower or leader not in where:
                continue
            there, here = where[leader], where[follower]
            dx, dy = (there["x"] or 0) - (here["x"] or 0), (there["y"] or 0) - (here["y"] or 0)
            ahead = math.hypot(dx, dy)
            turn = math.remainder(math.atan2(dy, dx) - (here["yaw"] or 0), math.tau)
            speed = max(0, min(0.6, ahead - DISTANCE)) * math.cos(min(abs(turn), math.pi / 2))
            try:
                await client.command(follower, "velocity", speed, 0, max(-1, min(1, 2 * turn)), ttl=0.5)
            except callboard.CallboardError as error:
                print(error, file=sys.stderr)  # the next one may get through
            if time.monotonic() - told > 1:
                told = time.monotonic()
                print(f"{leader} is {ahead:.1f} m ahead", flush=True)


try:
    asyncio.run(main(*sys.argv[1:]))
except KeyboardInterrupt:
    pass
