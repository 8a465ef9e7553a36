/** A robot's outline on the screen. */
const radius = 0.22; // m, of a robot whose size is not known
const least = 12; // px that the longer side has at least, however far away
export const leastOfMany = 8; // px, where many stand beside each other

const disc = { x: 0, y: 0, yaw: 0, length: 2 * radius, width: 2 * radius };

/**
 * A rounded rectangle in CSS pixels: its centre, heading (rad, y down), sides,
 * corners, and how far it reaches around the centre.
 * @param {import("./mount.js").Mount | null} body its centre and size; null: a disc about the point it turns on
 * @param {number} atLeast px that the longer side has at least
 * @param {object} into what it is written into: a thousand a frame leave no garbage
 */
export function outline(camera, body, pose, atLeast = least, into = {}) {
  const { x, y, yaw, length, width } = body ?? disc;
  const scale = Math.max(camera.scale, atLeast / Math.max(length, width));
  const c = Math.cos(pose.yaw);
  const s = Math.sin(pose.yaw);
  const side = Math.min(length, width) * scale;
  into.x = camera.width / 2 + (pose.x - camera.x) * camera.scale + (x * c - y * s) * scale;
  into.y = camera.height / 2 - (pose.y - camera.y) * camera.scale - (x * s + y * c) * scale;
  into.heading = -(pose.yaw + yaw);
  into.length = length * scale;
  into.width = width * scale;
  into.corner = body ? 0.28 * side : side / 2;
  into.reach = (body ? Math.hypot(length, width) / 2 : radius) * scale;
  return into;
}

/** Makes it the current path, and its centre and heading the origin. */
export function traceOutline(c, o, ratio) {
  c.setTransform(ratio, 0, 0, ratio, ratio * o.x, ratio * o.y);
  c.rotate(o.heading);
  c.beginPath();
  c.roundRect(-o.length / 2, -o.width / 2, o.length, o.width, o.corner);
}
