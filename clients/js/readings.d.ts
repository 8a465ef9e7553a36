/** Made of the views of conditions by go test ./clients/conformance -run TestReadings -rewrite. Numbers that are not finite are null. */

/** Scans: of lasers, and of rangers with one element. Interfaces: laser, ranger. */
export interface Laser {
  /** m; the ranges; what is not finite or beyond the maximum is max_range */
  ranges: (number | null)[];
  /** the intensities, if the device gives any */
  intensities: (number | null)[];
  /** how many ranges */
  count: number;
  /** m; the nearest range; max_range for an empty scan */
  min: number | null;
  /** m; the farthest range; max_range for an empty scan */
  max: number | null;
  /** rad; the bearing of the nearest; 0 for an empty scan */
  bearing: number | null;
  /** rad; the bearing of the first range */
  angle_min: number | null;
  /** rad; the bearing of the last range */
  angle_max: number | null;
  /** rad; from one bearing to the next */
  resolution: number | null;
  /** m; the maximum of the device */
  max_range: number | null;
  /** m; the nearest within ±30° */
  front: number | null;
  /** m; the nearest from 30° to 90° */
  left: number | null;
  /** m; the nearest from -90° to -30° */
  right: number | null;
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** Rings of ranges: of sonars, and of rangers with several elements. Interfaces: sonar, ranger. */
export interface Sonar {
  /** m; the ranges, one for each element */
  ranges: (number | null)[];
  /** how many ranges */
  count: number;
  /** m; the nearest range */
  min: number | null;
  /** m; the farthest range */
  max: number | null;
  /** the number of the nearest element, from 0; -1 if there is none */
  nearest: number;
  /** rad; the bearing of the nearest element */
  bearing: number | null;
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** Odometry: where the robot believes to be, and how fast it goes. Interfaces: position2d, position3d. */
export interface Position {
  /** m; position */
  x: number | null;
  /** m; position */
  y: number | null;
  /** rad; heading */
  yaw: number | null;
  /** m/s; speed forward */
  vx: number | null;
  /** m/s; speed to the left */
  vy: number | null;
  /** rad/s; speed of turning */
  vyaw: number | null;
  /** m/s; speed in any direction */
  speed: number | null;
  /** the motors are stalled */
  stall: boolean;
  /** m; height, of a position3d; 0 of a position2d, as the next five */
  z: number | null;
  /** rad; how far it leans to the right */
  roll: number | null;
  /** rad; how far it leans forward */
  pitch: number | null;
  /** m/s; speed upward */
  vz: number | null;
  /** rad/s; speed of rolling */
  vroll: number | null;
  /** rad/s; speed of pitching */
  vpitch: number | null;
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** What touches. Interfaces: bumper. */
export interface Bumper {
  /** some bumper is pressed */
  any: boolean;
  /** how many are pressed */
  pressed: number;
  /** the number of the first that is pressed, from 0; -1 if there is none */
  first: number;
  /** how many bumpers */
  count: number;
  /** what each says: 0 is free; what else is the driver's, as 1 or a corner's number */
  bumpers: (number | null)[];
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** Marks that are seen; bearings and places are from the finder. Interfaces: fiducial. */
export interface Fiducial {
  /** how many marks */
  count: number;
  /** the nearest one's number; -1 if there is none, or it is not identified */
  id: number;
  /** m; how far the nearest is; without end if there is none */
  range: number | null;
  /** rad; where the nearest is; no number if there is none, as what follows */
  bearing: number | null;
  /** m; the nearest one's place */
  x: number | null;
  /** m; the nearest one's place */
  y: number | null;
  /** m; the nearest one's place */
  z: number | null;
  /** rad; the nearest one's attitude */
  roll: number | null;
  /** rad; the nearest one's attitude */
  pitch: number | null;
  /** rad; the nearest one's heading */
  yaw: number | null;
  /** which one of the lists is nearest, from 0; -1 if there is none */
  nearest: number;
  /** the number of each */
  ids: (number | null)[];
  /** m; how far each is */
  ranges: (number | null)[];
  /** rad; where each is */
  bearings: (number | null)[];
  /** m; the place of each */
  xs: (number | null)[];
  /** m; the place of each */
  ys: (number | null)[];
  /** rad; the heading of each */
  yaws: (number | null)[];
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** A battery; what it does not tell is no number. Interfaces: power. */
export interface Power {
  /** %; how full it is */
  percent: number | null;
  /** V; its voltage */
  volts: number | null;
  /** W; what is drawn */
  watts: number | null;
  /** J; what it holds */
  joules: number | null;
  /** 1: it is charged, -1: it gives, 0: neither */
  charging: number;
  /** what the driver tells: 1 volts + 2 watts + 4 joules + 8 percent + 16 charging */
  valid: number;
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** A fix. Interfaces: gps. */
export interface GPS {
  /** deg; north of the equator is positive */
  latitude: number | null;
  /** deg; east of Greenwich is positive */
  longitude: number | null;
  /** m; above the ellipsoid or the sea, as the device has it */
  altitude: number | null;
  /** the device knows where it is */
  fix: boolean;
  /** 0: no fix, 1: GPS, 2: differential GPS */
  quality: number;
  /** how many satellites */
  num_sats: number;
  /** m/s; over ground */
  speed: number | null;
  /** rad; over ground */
  course: number | null;
  /** m; place on the UTM grid */
  utm_e: number | null;
  /** m; place on the UTM grid */
  utm_n: number | null;
  /** horizontal dilution of precision */
  hdop: number | null;
  /** vertical dilution of precision */
  vdop: number | null;
  /** m; horizontal error */
  err_horz: number | null;
  /** m; vertical error */
  err_vert: number | null;
  /** s; the time of the fix, since 1970 */
  utc: number | null;
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** An inertial unit. Each message is a reading; what it does not tell stands as the unit told it last, and is no number until it did. Interfaces: imu. */
export interface IMU {
  /** rad; attitude */
  roll: number | null;
  /** rad; attitude */
  pitch: number | null;
  /** rad; heading */
  yaw: number | null;
  /** rad; how far its upward axis leans from the vertical */
  tilt: number | null;
  /** m/s²; acceleration in any direction */
  accel: number | null;
  /** m/s²; acceleration */
  accel_x: number | null;
  /** m/s²; acceleration */
  accel_y: number | null;
  /** m/s²; acceleration */
  accel_z: number | null;
  /** rad/s; speed of turning about x */
  gyro_x: number | null;
  /** rad/s; speed of turning about y */
  gyro_y: number | null;
  /** rad/s; speed of turning about z */
  gyro_z: number | null;
  /** magnetic field */
  magn_x: number | null;
  /** magnetic field */
  magn_y: number | null;
  /** magnetic field */
  magn_z: number | null;
  /** m; place */
  x: number | null;
  /** m; place */
  y: number | null;
  /** m; place */
  z: number | null;
  /** m/s; speed */
  vx: number | null;
  /** m/s; speed */
  vy: number | null;
  /** m/s; speed */
  vz: number | null;
  /** rad/s²; acceleration of turning */
  accel_roll: number | null;
  /** rad/s²; acceleration of turning */
  accel_pitch: number | null;
  /** rad/s²; acceleration of turning */
  accel_yaw: number | null;
  /** attitude as a quaternion, the real part */
  q0: number | null;
  /** attitude as a quaternion */
  q1: number | null;
  /** attitude as a quaternion */
  q2: number | null;
  /** attitude as a quaternion */
  q3: number | null;
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** Patches of colour in an image. Interfaces: blobfinder. */
export interface Blobfinder {
  /** how many patches */
  count: number;
  /** of the largest, the number of its colour, from the driver; -1 if there is none */
  id: number;
  /** of the largest, its colour, 0xRRGGBB; -1 if there is none */
  color: number;
  /** px; of the largest, its area; 0 if there is none */
  area: number | null;
  /** px; of the largest, its centre; no number if there is none, as what follows */
  x: number | null;
  /** px; of the largest, its centre */
  y: number | null;
  /** px; of the largest, its border */
  left: number | null;
  /** px; of the largest, its border */
  right: number | null;
  /** px; of the largest, its border */
  top: number | null;
  /** px; of the largest, its border */
  bottom: number | null;
  /** m; of the largest, how far it is, if the driver knows */
  range: number | null;
  /** which one of the lists is the largest, from 0; -1 if there is none */
  largest: number;
  /** px; of the image */
  width: number;
  /** px; of the image */
  height: number;
  /** the number of the colour of each */
  ids: (number | null)[];
  /** the colour of each, 0xRRGGBB */
  colors: (number | null)[];
  /** px; the area of each */
  areas: (number | null)[];
  /** px; the centre of each */
  xs: (number | null)[];
  /** px; the centre of each */
  ys: (number | null)[];
  /** m; how far each is */
  ranges: (number | null)[];
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** A gripper. Interfaces: gripper. */
export interface Gripper {
  /** it is open */
  open: boolean;
  /** it is closed */
  closed: boolean;
  /** it opens or closes */
  moving: boolean;
  /** it has failed */
  error: boolean;
  /** 1: open, 2: closed, 3: moving, 4: error */
  state: number;
  /** how many light barriers something breaks */
  broken: number;
  /** the light barriers as bits, 1: broken */
  beams: number;
  /** how many objects it stores */
  stored: number;
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}

/** Where the robot may be on a map. Interfaces: localize. */
export interface Localize {
  /** how many poses */
  count: number;
  /** m; of the likeliest; no number if there is none, as the next four */
  x: number | null;
  /** m; of the likeliest */
  y: number | null;
  /** rad; of the likeliest */
  yaw: number | null;
  /** its weight */
  alpha: number | null;
  /** m; how far off it may be, as a standard deviation */
  spread: number | null;
  /** observations that are not used yet */
  pending_count: number;
  /** s; of the last observation that is used */
  pending_time: number | null;
  /** the likeliest one's covariance: xx, yy, aa, xy, ya, xa */
  cov: (number | null)[];
  /** m; of each */
  xs: (number | null)[];
  /** m; of each */
  ys: (number | null)[];
  /** rad; of each */
  yaws: (number | null)[];
  /** the weight of each */
  alphas: (number | null)[];
  /** s; the time of the reading */
  time: number | null;
  /** the index of the device */
  index: number;
}
