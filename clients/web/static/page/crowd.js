/**
 * Paints many robots: those of one look are painted together. Corners are sharp,
 * and the smallest are arrows; otherwise they look as paint.js draws them. Takes
 * what paint.js takes, and robots as {robot, pose, o: outline}.
 */
import { flash } from "./paint.js";

const together = 50; // robots in one path: of more each costs more
const tau = 2 * Math.PI;
const small = 10; // px; a robot whose sides are shorter is an arrow
const shades = 8; // steps in which matches fade, so that many share one

export function paintCrowd(c, theme, ratio, shown) {
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.lineJoin = "round";
  c.lineWidth = 1.5;
  for (const away of [true, false]) {
    const all = shown.filter(({ robot }) => robot.away === away);
    for (let i = 0; i < all.length; i += together) paintLike(c, theme, all.slice(i, i + together), away);
  }
  paintStalled(c, theme, shown);
}

/** Robots that are all away, or all there. */
function paintLike(c, theme, some, away) {
  const ink = away ? theme["ink-3"] : theme.ink;
  if (some.some(({ o }) => o.length >= small)) {
    c.beginPath();
    for (const { o } of some) if (o.length >= small) box(c, o);
    c.fillStyle = theme.paper;
    c.fill();
    c.strokeStyle = ink;
    c.setLineDash(away ? [3, 3] : []);
    c.stroke();
    c.setLineDash([]);
  }
  c.beginPath();
  for (const { o } of some) heading(c, o);
  c.fillStyle = ink;
  if (away) c.stroke();
  else c.fill();
}

function paintStalled(c, theme, shown) {
  c.beginPath();
  for (const { robot, o } of shown) {
    if (!robot.position?.stall || robot.away) continue;
    c.moveTo(o.x + (o.reach + 3) * Math.cos(o.heading - 0.7), o.y + (o.reach + 3) * Math.sin(o.heading - 0.7));
    c.arc(o.x, o.y, o.reach + 3, o.heading - 0.7, o.heading + 0.7);
  }
  c.strokeStyle = theme.danger;
  c.lineWidth = 3;
  c.stroke();
  c.lineWidth = 1.5;
}

/** Rings around the robots that matched. Returns whether any still glows. */
export function paintCrowdMatches(c, theme, ratio, shown, now) {
  const rings = new Map(); // "colour shade" → [{x, y, radius}]
  for (const { robot, o } of shown) {
    let ring = 0;
    for (const [id, match] of robot.matches) {
      const age = now - match.at;
      if (age > flash) {
        robot.matches.delete(id);
        continue;
      }
      const key = `${match.colour} ${Math.ceil(shades * (1 - (age / flash) ** 2))}`;
      if (!rings.has(key)) rings.set(key, []);
      rings.get(key).push({ x: o.x, y: o.y, radius: o.reach + 5 + 4 * ring++ });
    }
  }
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.lineWidth = 2.5;
  for (const [key, all] of rings) {
    const [colour, shade] = key.split(" ").map(Number);
    c.strokeStyle = theme.colour(colour);
    c.globalAlpha = shade / shades;
    for (let i = 0; i < all.length; i += together) {
      c.beginPath();
      for (const { x, y, radius } of all.slice(i, i + together)) {
        c.moveTo(x + radius, y);
        c.arc(x, y, radius, 0, tau);
      }
      c.stroke();
    }
  }
  c.globalAlpha = 1;
  return rings.size > 0;
}

function box(c, { x, y, heading, length, width }) {
  const cos = Math.cos(heading);
  const sin = Math.sin(heading);
  const ax = (cos * length) / 2;
  const ay = (sin * length) / 2;
  const bx = (-sin * width) / 2;
  const by = (cos * width) / 2;
  c.moveTo(x + ax + bx, y + ay + by);
  c.lineTo(x - ax + bx, y - ay + by);
  c.lineTo(x - ax - bx, y - ay - by);
  c.lineTo(x + ax - bx, y + ay - by);
  c.closePath();
}

/** The mark at the front, as paintRobot's; it is all of a small robot. */
function heading(c, { x, y, heading, length, width }) {
  const cos = Math.cos(heading);
  const sin = Math.sin(heading);
  const arrow = length < small;
  const r = arrow ? 0.8 * length : Math.min(length, width) / 2;
  const at = arrow ? 0 : length / 2 - r;
  const front = at + r * 0.78;
  const back = at - r * 0.5;
  const notch = at - r * 0.24;
  const side = r * 0.56;
  c.moveTo(x + cos * front, y + sin * front);
  c.lineTo(x + cos * back - sin * side, y + sin * back + cos * side);
  c.lineTo(x + cos * notch, y + sin * notch);
  c.lineTo(x + cos * back + sin * side, y + sin * back - cos * side);
  c.closePath();
}
