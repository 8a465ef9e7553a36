"""Readings, as types for the dictionaries that Notification.reading has.

Made of the views of conditions by go test ./clients/conformance -run TestReadings -rewrite.
Numbers that are not finite are None.
"""

from __future__ import annotations

from typing import TypedDict


class Laser(TypedDict, total=False):
    """Scans: of lasers, and of rangers with one element. Interfaces: laser, ranger."""

    ranges: list[float | None]  # m; the ranges; what is not finite or beyond the maximum is max_range
    intensities: list[float | None]  # the intensities, if the device gives any
    count: int  # how many ranges
    min: float | None  # m; the nearest range; max_range for an empty scan
    max: float | None  # m; the farthest range; max_range for an empty scan
    bearing: float | None  # rad; the bearing of the nearest; 0 for an empty scan
    angle_min: float | None  # rad; the bearing of the first range
    angle_max: float | None  # rad; the bearing of the last range
    resolution: float | None  # rad; from one bearing to the next
    max_range: float | None  # m; the maximum of the device
    front: float | None  # m; the nearest within ±30°
    left: float | None  # m; the nearest from 30° to 90°
    right: float | None  # m; the nearest from -90° to -30°
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Sonar(TypedDict, total=False):
    """Rings of ranges: of sonars, and of rangers with several elements. Interfaces: sonar, ranger."""

    ranges: list[float | None]  # m; the ranges, one for each element
    count: int  # how many ranges
    min: float | None  # m; the nearest range
    max: float | None  # m; the farthest range
    nearest: int  # the number of the nearest element, from 0; -1 if there is none
    bearing: float | None  # rad; the bearing of the nearest element
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Position(TypedDict, total=False):
    """Odometry: where the robot believes to be, and how fast it goes. Interfaces: position2d, position3d."""

    x: float | None  # m; position
    y: float | None  # m; position
    yaw: float | None  # rad; heading
    vx: float | None  # m/s; speed forward
    vy: float | None  # m/s; speed to the left
    vyaw: float | None  # rad/s; speed of turning
    speed: float | None  # m/s; speed in any direction
    stall: bool  # the motors are stalled
    z: float | None  # m; height, of a position3d; 0 of a position2d, as the next five
    roll: float | None  # rad; how far it leans to the right
    pitch: float | None  # rad; how far it leans forward
    vz: float | None  # m/s; speed upward
    vroll: float | None  # rad/s; speed of rolling
    vpitch: float | None  # rad/s; speed of pitching
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Bumper(TypedDict, total=False):
    """What touches. Interfaces: bumper."""

    any: bool  # some bumper is pressed
    pressed: int  # how many are pressed
    first: int  # the number of the first that is pressed, from 0; -1 if there is none
    count: int  # how many bumpers
    bumpers: list[float | None]  # what each says: 0 is free; what else is the driver's, as 1 or a corner's number
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Fiducial(TypedDict, total=False):
    """Marks that are seen; bearings and places are from the finder. Interfaces: fiducial."""

    count: int  # how many marks
    id: int  # the nearest one's number; -1 if there is none, or it is not identified
    range: float | None  # m; how far the nearest is; without end if there is none
    bearing: float | None  # rad; where the nearest is; no number if there is none, as what follows
    x: float | None  # m; the nearest one's place
    y: float | None  # m; the nearest one's place
    z: float | None  # m; the nearest one's place
    roll: float | None  # rad; the nearest one's attitude
    pitch: float | None  # rad; the nearest one's attitude
    yaw: float | None  # rad; the nearest one's heading
    nearest: int  # which one of the lists is nearest, from 0; -1 if there is none
    ids: list[float | None]  # the number of each
    ranges: list[float | None]  # m; how far each is
    bearings: list[float | None]  # rad; where each is
    xs: list[float | None]  # m; the place of each
    ys: list[float | None]  # m; the place of each
    yaws: list[float | None]  # rad; the heading of each
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Power(TypedDict, total=False):
    """A battery; what it does not tell is no number. Interfaces: power."""

    percent: float | None  # %; how full it is
    volts: float | None  # V; its voltage
    watts: float | None  # W; what is drawn
    joules: float | None  # J; what it holds
    charging: int  # 1: it is charged, -1: it gives, 0: neither
    valid: int  # what the driver tells: 1 volts + 2 watts + 4 joules + 8 percent + 16 charging
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class GPS(TypedDict, total=False):
    """A fix. Interfaces: gps."""

    latitude: float | None  # deg; north of the equator is positive
    longitude: float | None  # deg; east of Greenwich is positive
    altitude: float | None  # m; above the ellipsoid or the sea, as the device has it
    fix: bool  # the device knows where it is
    quality: int  # 0: no fix, 1: GPS, 2: differential GPS
    num_sats: int  # how many satellites
    speed: float | None  # m/s; over ground
    course: float | None  # rad; over ground
    utm_e: float | None  # m; place on the UTM grid
    utm_n: float | None  # m; place on the UTM grid
    hdop: float | None  # horizontal dilution of precision
    vdop: float | None  # vertical dilution of precision
    err_horz: float | None  # m; horizontal error
    err_vert: float | None  # m; vertical error
    utc: float | None  # s; the time of the fix, since 1970
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class IMU(TypedDict, total=False):
    """An inertial unit. Each message is a reading; what it does not tell stands as the unit told it last, and is no number until it did. Interfaces: imu."""

    roll: float | None  # rad; attitude
    pitch: float | None  # rad; attitude
    yaw: float | None  # rad; heading
    tilt: float | None  # rad; how far its upward axis leans from the vertical
    accel: float | None  # m/s²; acceleration in any direction
    accel_x: float | None  # m/s²; acceleration
    accel_y: float | None  # m/s²; acceleration
    accel_z: float | None  # m/s²; acceleration
    gyro_x: float | None  # rad/s; speed of turning about x
    gyro_y: float | None  # rad/s; speed of turning about y
    gyro_z: float | None  # rad/s; speed of turning about z
    magn_x: float | None  # magnetic field
    magn_y: float | None  # magnetic field
    magn_z: float | None  # magnetic field
    x: float | None  # m; place
    y: float | None  # m; place
    z: float | None  # m; place
    vx: float | None  # m/s; speed
    vy: float | None  # m/s; speed
    vz: float | None  # m/s; speed
    accel_roll: float | None  # rad/s²; acceleration of turning
    accel_pitch: float | None  # rad/s²; acceleration of turning
    accel_yaw: float | None  # rad/s²; acceleration of turning
    q0: float | None  # attitude as a quaternion, the real part
    q1: float | None  # attitude as a quaternion
    q2: float | None  # attitude as a quaternion
    q3: float | None  # attitude as a quaternion
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Blobfinder(TypedDict, total=False):
    """Patches of colour in an image. Interfaces: blobfinder."""

    count: int  # how many patches
    id: int  # of the largest, the number of its colour, from the driver; -1 if there is none
    color: int  # of the largest, its colour, 0xRRGGBB; -1 if there is none
    area: float | None  # px; of the largest, its area; 0 if there is none
    x: float | None  # px; of the largest, its centre; no number if there is none, as what follows
    y: float | None  # px; of the largest, its centre
    left: float | None  # px; of the largest, its border
    right: float | None  # px; of the largest, its border
    top: float | None  # px; of the largest, its border
    bottom: float | None  # px; of the largest, its border
    range: float | None  # m; of the largest, how far it is, if the driver knows
    largest: int  # which one of the lists is the largest, from 0; -1 if there is none
    width: int  # px; of the image
    height: int  # px; of the image
    ids: list[float | None]  # the number of the colour of each
    colors: list[float | None]  # the colour of each, 0xRRGGBB
    areas: list[float | None]  # px; the area of each
    xs: list[float | None]  # px; the centre of each
    ys: list[float | None]  # px; the centre of each
    ranges: list[float | None]  # m; how far each is
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Gripper(TypedDict, total=False):
    """A gripper. Interfaces: gripper."""

    open: bool  # it is open
    closed: bool  # it is closed
    moving: bool  # it opens or closes
    error: bool  # it has failed
    state: int  # 1: open, 2: closed, 3: moving, 4: error
    broken: int  # how many light barriers something breaks
    beams: int  # the light barriers as bits, 1: broken
    stored: int  # how many objects it stores
    time: float | None  # s; the time of the reading
    index: int  # the index of the device


class Localize(TypedDict, total=False):
    """Where the robot may be on a map. Interfaces: localize."""

    count: int  # how many poses
    x: float | None  # m; of the likeliest; no number if there is none, as the next four
    y: float | None  # m; of the likeliest
    yaw: float | None  # rad; of the likeliest
    alpha: float | None  # its weight
    spread: float | None  # m; how far off it may be, as a standard deviation
    pending_count: int  # observations that are not used yet
    pending_time: float | None  # s; of the last observation that is used
    cov: list[float | None]  # the likeliest one's covariance: xx, yy, aa, xy, ya, xa
    xs: list[float | None]  # m; of each
    ys: list[float | None]  # m; of each
    yaws: list[float | None]  # rad; of each
    alphas: list[float | None]  # the weight of each
    time: float | None  # s; the time of the reading
    index: int  # the index of the device
