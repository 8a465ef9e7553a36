/** A robot's outline on the screen. */
import { compose } from "./mount.js";

const radius = 0.22; // m, of a robot whose size is not known
const least = 12; // px that the longer side has at least, however far away
export const leastOfMany = 8; // px, where many stand beside each other

/**
 * A rounded rectangle in CSS pixels: its centre, heading (rad, y down), sides,
 * corners, and how far it reaches around the centre.
 * @param {import("./mount.js").Mount | null} body its centre and size; null: a disc about the point it turns on
 * @param {number} atLeast px that the longer side has at least
 */
export function outline(camera, body, pose, atLeast = least) {
  const { length, width } = body ?? { length: 2 * radius, width: 2 * radius };
  const scale = Math.max(camera.scale, atLeast / Math.max(length, width));
  const at = body ? compose(pose, body) : pose;
  const [x, y] = camera.toScreen(pose.x, pose.y);
  const side = Math.min(length, width) * scale;
  return {
    x: x + (at.x - pose.x) * scale,
    y: y - (at.y - pose.y) * scale,
    heading: -at.yaw,
    length: length * scale,
    width: width * scale,
    corner: body ? 0.28 * side : side / 2,
    reach: (body ? Math.hypot(length, width) / 2 : radius) * scale,
  };
}

/** Makes it the current path, and its centre and heading the origin. */
export function traceOutline(c, o, ratio) {
  c.setTransform(ratio, 0, 0, ratio, ratio * o.x, ratio * o.y);
  c.rotate(o.heading);
  c.beginPath();
  c.roundRect(-o.length / 2, -o.width / 2, o.length, o.width, o.corner);
}
