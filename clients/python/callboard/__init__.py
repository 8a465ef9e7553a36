"""The Python client library of Callboard.

It subscribes to conditions over robots' sensor readings, and gives what
matches, in order and once::

    import asyncio
    import callboard

    async def main():
        async with callboard.Client("ws://127.0.0.1:8800/ws") as client:
            await client.subscribe("near", "laser.min < 1")
            async for event in client:
                if isinstance(event, callboard.Notification):
                    print(event.robot, event.time, event.reading["min"])

    asyncio.run(main())

It says hello, acknowledges, watches the broker's heartbeats, and comes back
after a lost connection where it was, at the next broker if need be. Scripts
without asyncio have callboard.blocking. The design is in DESIGN.md beside.
"""

from .client import Client
from .errors import CallboardError
from .events import (
    Attached,
    Detached,
    Event,
    Failure,
    Fault,
    Gap,
    Match,
    Notification,
    Place,
    Resubscribed,
    Robot,
    State,
    Stayed,
    Subscribed,
)
from .readings import GPS, IMU, Blobfinder, Bumper, Fiducial, Gripper, Laser, Localize, Position, Power, Sonar
from .roster import Broker, broker_url
from .serve import Server, Task

__all__ = [
    "Attached",
    "Blobfinder",
    "Broker",
    "Bumper",
    "CallboardError",
    "Client",
    "Detached",
    "Event",
    "Failure",
    "Fault",
    "Fiducial",
    "GPS",
    "Gap",
    "Gripper",
    "IMU",
    "Laser",
    "Localize",
    "Match",
    "Notification",
    "Place",
    "Position",
    "Power",
    "Resubscribed",
    "Robot",
    "Server",
    "Sonar",
    "State",
    "Stayed",
    "Subscribed",
    "Task",
    "broker_url",
]
