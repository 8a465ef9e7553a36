import { Emitter } from "../emitter.js";
import { Mount, compose } from "./mount.js";

const history = 24; // poses kept, to place a scan where it was taken
const trailLength = 240; // places kept
const trailStep = 0.06; // m between them
const jump = 2; // m; more between two readings is no motion

/** One robot as the page knows it. */
export class Robot {
  name;
  world = "";
  source = "";
  devices = [];
  mounts = new Map(); // "laser:0" → Mount, also of devices that are away
  state = "unknown"; // up, away; unknown until the broker tells
  since = null; // s, Unix
  lost = 0; // readings that did not reach the broker
  error = ""; // why it is away
  overflowAt = 0; // ms, when it was told of last
  position = null; // the latest reading
  poses = []; // {time, x, y, yaw}, oldest first
  trail = []; // [x, y]
  scans = new Map(); // "laser:0" → {reading, time, at, anchor}
  sonars = new Map(); // "sonar:0" → likewise
  matches = new Map(); // subscription id → {colour, at, begun}, ms
  drawn = { robot: this, pose: null, o: {} }; // as the map has painted it last
  #mover = null; // the device whose position it is
  #equippedAt = null; // since, of the list that told its devices
  #shown = { x: 0, y: 0, yaw: 0 };
  #from = null;
  #arrived = 0;
  #period = 100; // ms between readings, smoothed

  constructor(name) { this.name = name; }

  get placed() { return this.position !== null; }
  get away() { return this.state === "away"; }
  /** Its body's Mount, or null: not told, or without a size. */
  get body() {
    const mount = this.mounts.get(this.#mover);
    return mount?.sized ? mount : null;
  }

  /** Takes the devices of a list, and where they sit; what is as before costs nothing. */
  equipped(devices, since) {
    const same = since === this.#equippedAt && devices.length === this.devices.length && devices.every((d, i) => d.interface === this.devices[i].interface && d.index === this.devices[i].index && Boolean(d.geometry) === Boolean(this.devices[i].geometry));
    this.devices = devices;
    if (same) return;
    this.#equippedAt = since;
    for (const d of devices) {
      const mount = Mount.of(d.geometry);
      if (mount) this.mounts.set(`${d.interface}:${d.index}`, mount);
    }
  }

  /** Where a scanner is when the robot is at a pose; there too if its place on the robot is not known. */
  scannerAt(device, pose) {
    const mount = this.mounts.get(device);
    return mount ? compose(pose, mount.scanner) : pose;
  }

  /** Whether a position device is the one to show: position2d before 3d, the lowest index. */
  standsOn(device) {
    if (this.#mover === null || device < this.#mover) this.#mover = device;
    return device === this.#mover;
  }

  /** A position reading has come, at now (ms). */
  moved(reading, time, now) {
    const { x, y, yaw } = reading;
    if (![x, y, yaw].every(Number.isFinite)) return;
    const last = this.poses[this.poses.length - 1];
    if (last?.time === time) return; // two subscriptions had it
    const jumped = !last || time < last.time || Math.hypot(x - last.x, y - last.y) > jump;
    if (jumped) {
      this.poses = [];
      this.trail = [];
    }
    this.#from = jumped ? { x, y, yaw } : { ...this.pose(now) };
    if (last) this.#period += 0.2 * (Math.min(1000, Math.max(20, now - this.#arrived)) - this.#period);
    this.#arrived = now;
    this.position = reading;
    this.poses.push({ time, x, y, yaw });
    if (this.poses.length > history) this.poses.shift();
    const end = this.trail[this.trail.length - 1];
    if (!end || Math.hypot(x - end[0], y - end[1]) >= trailStep) this.trail.push([x, y]);
    if (this.trail.length > trailLength) this.trail.shift();
  }

  /** The pose to show at now (ms): on the way from the last one to the newest. */
  pose(now) {
    const end = this.poses[this.poses.length - 1];
    if (!end) return null;
    const t = Math.min(1, (now - this.#arrived) / this.#period);
    return between(this.#from, end, t, this.#shown);
  }

  /** Whether pose(now) still changes. */
  moving(now) {
    const end = this.poses[this.poses.length - 1];
    if (!end || now - this.#arrived >= this.#period) return false;
    return Math.abs(end.x - this.#from.x) + Math.abs(end.y - this.#from.y) + Math.abs(end.yaw - this.#from.yaw) > 1e-4;
  }

  /** Where it was at a reading's time (s), as far as that is known. */
  poseAt(time) {
    const poses = this.poses;
    const last = poses[poses.length - 1];
    if (!last) return null;
    if (time >= last.time) return this.#ahead(last, Math.min(0.3, time - last.time));
    for (let i = poses.length - 2; i >= 0; i--) {
      if (poses[i].time > time) continue;
      const span = poses[i + 1].time - poses[i].time;
      return between(poses[i], poses[i + 1], span > 0 ? (time - poses[i].time) / span : 1, {});
    }
    return { ...poses[0] };
  }

  #ahead(pose, dt) {
    const { vx = 0, vy = 0, vyaw = 0 } = this.position;
    const yaw = pose.yaw + (vyaw || 0) * dt;
    const [c, s] = [Math.cos(yaw), Math.sin(yaw)];
    return { x: pose.x + (vx * c - vy * s || 0) * dt, y: pose.y + (vx * s + vy * c || 0) * dt, yaw };
  }

  scanned(device, reading, time, now) {
    if (!Array.isArray(reading.ranges)) return;
    this.scans.set(device, { reading, time, at: now, anchor: null });
  }

  sounded(device, reading, time, now) {
    if (!Array.isArray(reading.ranges)) return;
    this.sonars.set(device, { reading, time, at: now, anchor: null });
  }

  matched(id, colour, now) {
    const before = this.matches.get(id);
    const begun = before && now - before.at < 1200 ? before.begun : now;
    this.matches.set(id, { colour, at: now, begun });
  }
}

/** The pose a share of the way from a to b; headings turn the short way. */
function between(a, b, t, into) {
  const turn = Math.atan2(Math.sin(b.yaw - a.yaw), Math.cos(b.yaw - a.yaw));
  into.x = a.x + (b.x - a.x) * t;
  into.y = a.y + (b.y - a.y) * t;
  into.yaw = a.yaw + turn * t;
  return into;
}

/**
 * All robots that the page knows, and which one is selected.
 * Events: list (came, went, state, devices), told (a `robot` message), pose (something moved), select,
 * pick (by somebody, on the map or in the list).
 */
export class Robots extends Emitter {
  #robots = new Map();
  selected = null; // a name
  #wanted = null; // to be selected once it is known

  get all() { return [...this.#robots.values()]; }
  each() { return this.#robots.values(); }
  get size() { return this.#robots.size; }
  get(name) { return this.#robots.get(name) ?? null; }

  /** The robot of that name, made if need be. */
  know(name) {
    let robot = this.#robots.get(name);
    if (!robot) {
      robot = new Robot(name);
      this.#robots.set(name, robot);
      this.emit("list");
      if (name === this.#wanted) this.select(name);
    }
    return robot;
  }

  /** Takes what `list robots` gives. */
  listed(objects) {
    const names = new Set();
    for (const o of objects ?? []) {
      if (typeof o?.robot !== "string" || o.refused) continue; // the name is another broker's robot's
      names.add(o.robot);
      const robot = this.know(o.robot);
      Object.assign(robot, { world: o.world ?? "", source: o.source ?? "", state: o.state || robot.state, since: o.since ?? robot.since, lost: o.lost ?? robot.lost, error: o.error ?? "" });
      robot.equipped(o.devices ?? [], o.since ?? 0);
    }
    for (const name of this.#robots.keys()) if (!names.has(name)) this.#forget(name);
    this.emit("list");
  }

  #forget(name) {
    this.#robots.delete(name);
    if (this.selected === name) this.select(null);
  }

  /** Takes a `robot` message. */
  told(m) {
    const robot = this.know(m.robot);
    if (m.state === "overflow") {
      robot.lost += m.lost ?? 0;
      robot.overflowAt = Date.now();
    } else if (!m.device) { // else the robot goes on
      robot.state = m.state;
      robot.since = m.since ?? null;
    }
    this.emit("told", m);
    this.emit("list");
  }

  /** Selects a robot, as soon as it is known. */
  want(name) {
    if (this.#robots.has(name)) this.select(name);
    else this.#wanted = name;
  }

  select(name) {
    this.#wanted = null;
    if (name === this.selected) return;
    this.selected = name;
    this.emit("select", name);
  }

  /** Selects what somebody has pointed at: they want to see it. */
  pick(name) {
    this.select(name);
    this.emit("pick", name);
  }

  worlds() { return [...new Set(this.all.map((r) => r.world))].sort(); }
}
