/**
 * Places in a condition: the broker counts lines and columns from 1, columns
 * in characters (code points); JavaScript counts UTF-16 units.
 */

/** The offset of a position in a text, at its end at most. */
export function offsetOf(text, { line, column }) {
  const lines = text.split("\n");
  let offset = 0;
  for (let i = 0; i < line - 1 && i < lines.length - 1; i++) offset += lines[i].length + 1;
  const characters = [...lines[Math.min(line, lines.length) - 1]];
  return offset + characters.slice(0, Math.max(0, column - 1)).join("").length;
}

/** Where the word at an offset ends: a name with its dots, a number, a string, or one character. */
export function wordEnd(text, offset) {
  const rest = text.slice(offset);
  const word = /^(?:[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[<>=!]=|&&|\|\||\*\*)/u.exec(rest);
  if (word) return offset + word[0].length;
  return offset + (rest.length ? String.fromCodePoint(rest.codePointAt(0)).length : 0);
}

const words = /\b(and|or|not|in|true|false|any|all|none|one|count|filter|map|sector|distance|inside|deg|angle_diff|contains|startsWith|endsWith|matches|abs|floor|ceil|round|min|max|len)\b/;
const tokens = new RegExp(`("(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?)|(\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)|([\\p{L}_][\\p{L}\\p{N}_]*(?:\\.[\\p{L}_][\\p{L}\\p{N}_]*)*)|([<>=!&|+*/%?:^-]+)`, "gu");

/** The condition as nodes: strings, numbers, names and operators apart. */
export function coloured(text) {
  const nodes = [];
  let end = 0;
  for (const m of text.matchAll(tokens)) {
    if (m.index > end) nodes.push(text.slice(end, m.index));
    const kind = m[1] ? "string" : m[2] ? "number" : m[3] ? (words.test(m[3]) && !m[3].includes(".") ? "word" : "name") : "operator";
    const span = document.createElement("span");
    span.className = `t-${kind}`;
    span.textContent = m[0];
    nodes.push(span);
    end = m.index + m[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

/** Conditions to begin with. */
export const examples = [
  { condition: "laser.min < 0.6", title: "something is near" },
  { condition: "position.speed > 0.3 and laser.front < 1", title: "fast towards something" },
  { condition: "sector(laser, -20, 20) < 0.8", title: "near, straight ahead" },
  { condition: "position.stall", title: "it is stuck" },
  { condition: "sonar.min < 0.5", title: "a sonar sees something near" },
];

/** The vocabulary, for the eye; `callboard help conditions` has the whole. */
export const vocabulary = [
  ["Reading", ["robot", "world", "interface", "index", "time"]],
  ["Laser", ["laser.min", "laser.max", "laser.bearing", "laser.front", "laser.left", "laser.right", "laser.ranges", "laser.intensities", "laser.count", "laser.angle_min", "laser.angle_max", "laser.resolution", "laser.max_range"]],
  ["Sonar", ["sonar.min", "sonar.max", "sonar.nearest", "sonar.bearing", "sonar.ranges", "sonar.count"]],
  ["Position", ["position.x", "position.y", "position.yaw", "position.vx", "position.vy", "position.vyaw", "position.speed", "position.stall"]],
  ["Bumper", ["bumper.any", "bumper.pressed", "bumper.first", "bumper.bumpers"]],
  ["Fiducial", ["fiducial.count", "fiducial.id", "fiducial.range", "fiducial.bearing", "fiducial.yaw", "fiducial.ids"]],
  ["Power", ["power.percent", "power.volts", "power.charging"]],
  ["GPS", ["gps.latitude", "gps.longitude", "gps.altitude", "gps.fix", "gps.speed", "gps.course"]],
  ["IMU", ["imu.roll", "imu.pitch", "imu.yaw", "imu.tilt", "imu.accel", "imu.gyro_z"]],
  ["Blobfinder", ["blobfinder.count", "blobfinder.area", "blobfinder.color", "blobfinder.x", "blobfinder.y"]],
  ["Gripper", ["gripper.open", "gripper.closed", "gripper.moving", "gripper.broken", "gripper.stored"]],
  ["Localize", ["localize.x", "localize.y", "localize.yaw", "localize.spread"]],
  ["More", ["ir.min", "ptz.pan", "aio.voltages", "dio.values", "joystick.pressed", "planner.done", "position1d.pos", "actarray.moving", "limb.state", "health.mem_percent", "wifi.qual", "rfid.tags", "wsn.temperature", "speech_recognition.text"]],
  ["Before", ["prev.position.x", "prev.laser.min"]],
  ["Functions", ["sector(laser, -30, 30)", "distance(0, 0)", 'inside("zone")', "deg(90)", "angle_diff(position.yaw, 0)", "any(laser.ranges, # < 0.5)"]],
  ["Operators", ["and", "or", "not", "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/"]],
];
