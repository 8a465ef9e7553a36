"""Drives a robot ahead and stops it when something is near.

    python3 near.py ws://127.0.0.1:8800/ws r0
"""

import sys

import callboard
from callboard.blocking import Client

broker, robot = sys.argv[1:]
with Client(broker) as client:
    # The broker tests every scan; only the first one that matches comes here.
    client.subscribe("near", "laser.front < 0.8", robots=[robot], trigger="rising", select={"front": "laser.front"})
    client.command(robot, "velocity", 0.5, 0, 0, ttl=1)
    for event in client:
        if isinstance(event, callboard.Notification):
            client.command(robot, "stop", ttl=1)
            print(f"{event.robot} stopped, {event.values('near')['front']:.2f} m ahead")
            break
