"""Watches a fleet: which robots move or stand, are blocked, away or back.

    python3 fleet.py ws://127.0.0.1:8800/ws 'r*'
"""

import asyncio
import sys

import callboard

WORDS = {"moves": ("stands", "moves"), "blocked": ("is free", "is blocked")}


async def main(broker: str, robots: str) -> None:
    async with callboard.Client(broker) as client:
        # With trigger change a robot's state comes once, and when it is another.
        for id, condition in (("moves", "position.speed > 0.01"), ("blocked", "position.stall")):
            await client.subscribe(id, condition, robots=[robots], trigger="change", select={"x": "position.x", "y": "position.y"})
        async for event in client:
            match event:
                case callboard.Notification(robot=robot, subscriptions=matches):
                    for m in matches:
                        values = m.values or {}
                        print(f"{robot} {WORDS[m.id][bool(m.state)]} at {values['x']:.2f} {values['y']:.2f}", flush=True)
                case callboard.Robot(robot=robot, device=device, state=state):
                    print(f"{robot} {device} is {state}" if device else f"{robot} is {state}", flush=True)
                case callboard.Gap(why=why):
                    print(f"something was missed: {why}", flush=True)
                case callboard.Attached(broker=broker):
                    print(f"attached to {broker}", flush=True)


try:
    asyncio.run(main(*sys.argv[1:]))
except KeyboardInterrupt:
    pass
