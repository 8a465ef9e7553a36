/**
 * Painters of the map. Each takes the canvas's context, the camera and what to
 * draw; colours come from the theme. Metres where the camera is applied,
 * CSS pixels elsewhere.
 */
import { traceOutline } from "./outline.js";

const tau = 2 * Math.PI;
const stale = 3000; // ms after which a scan is not shown any more
export const flash = 900; // ms that a match glows

export function paintGrid(c, camera, theme, ratio) {
  const [left, top] = camera.toWorld(0, 0);
  const [right, bottom] = camera.toWorld(camera.width, camera.height);
  const minor = camera.step(18);
  const major = camera.step(90);
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const [step, colour] of [[minor, theme.grid], [major, theme["grid-strong"]]]) {
    c.beginPath();
    for (let i = Math.ceil(left / step); i * step <= right; i++) line(c, camera, i * step, bottom, i * step, top, ratio);
    for (let i = Math.ceil(bottom / step); i * step <= top; i++) line(c, camera, left, i * step, right, i * step, ratio);
    c.strokeStyle = colour;
    c.lineWidth = 1 / ratio;
    c.stroke();
  }
}

/** A line that falls on whole device pixels. */
function line(c, camera, x0, y0, x1, y1, ratio) {
  const snap = (v) => (Math.round(v * ratio) + 0.5) / ratio;
  const [ax, ay] = camera.toScreen(x0, y0);
  const [bx, by] = camera.toScreen(x1, y1);
  c.moveTo(snap(ax), snap(ay));
  c.lineTo(snap(bx), snap(by));
}

export function paintFloor(c, camera, theme, ratio, plan) {
  camera.apply(c, ratio);
  const dark = theme.isDark;
  c.lineJoin = "round";
  c.lineWidth = 1.2 / camera.scale;
  for (const { colour, walls, lines } of plan.layers) {
    c.fillStyle = colour.grey ? theme["wall-fill"] : `hsl(${colour.hue} ${colour.saturation}% ${dark ? 42 : 62}% / 0.55)`;
    c.strokeStyle = colour.grey ? theme.wall : `hsl(${colour.hue} ${colour.saturation}% ${dark ? 62 : 42}%)`;
    c.fill(walls, "evenodd");
    c.stroke(walls);
    c.stroke(lines);
  }
}

export function paintTrail(c, camera, theme, ratio, robot) {
  const trail = robot.trail;
  if (trail.length < 2) return;
  camera.apply(c, ratio);
  c.strokeStyle = theme["ink-3"];
  c.lineWidth = 1.5 / camera.scale;
  c.lineCap = "round";
  const parts = 6; // older parts are fainter
  for (let part = 0; part < parts; part++) {
    const from = Math.floor((part * (trail.length - 1)) / parts);
    const to = Math.floor(((part + 1) * (trail.length - 1)) / parts);
    c.globalAlpha = (0.7 * (part + 1)) / parts;
    c.beginPath();
    c.moveTo(trail[from][0], trail[from][1]);
    for (let i = from + 1; i <= to; i++) c.lineTo(trail[i][0], trail[i][1]);
    c.stroke();
  }
  c.globalAlpha = 1;
}

/** A scan from where its scanner was: what it sees through, and what it hits. */
export function paintScan(c, camera, theme, ratio, scan, pose, colours = { fill: theme.scan, hit: theme["scan-hit"] }) {
  const { ranges, angle_min: first = 0, max_range: most = Infinity } = scan.reading;
  const step = scan.reading.resolution ?? ((scan.reading.angle_max ?? 0) - first) / Math.max(1, ranges.length - 1);
  camera.apply(c, ratio);
  c.translate(pose.x, pose.y);
  c.rotate(pose.yaw);
  c.beginPath();
  c.moveTo(0, 0);
  for (let i = 0; i < ranges.length; i++) {
    const a = first + i * step;
    const r = ranges[i];
    if (Number.isFinite(r)) c.lineTo(r * Math.cos(a), r * Math.sin(a));
  }
  c.closePath();
  c.fillStyle = colours.fill;
  c.fill();
  c.fillStyle = colours.hit;
  const dot = 1.1 / camera.scale;
  for (let i = 0; i < ranges.length; i++) {
    const r = ranges[i];
    if (!Number.isFinite(r) || r >= most) continue;
    const a = first + i * step;
    c.fillRect(r * Math.cos(a) - dot, r * Math.sin(a) - dot, 2 * dot, 2 * dot);
  }
}

/** Sonar beams, 15° wide each, from each element of a ring that is at pose. */
export function paintSonar(c, camera, theme, ratio, sonar, pose, elements) {
  const half = (7.5 * Math.PI) / 180;
  camera.apply(c, ratio);
  c.translate(pose.x, pose.y);
  c.rotate(pose.yaw);
  elements.forEach((element, i) => {
    const r = sonar.reading.ranges[i];
    if (!element || !Number.isFinite(r) || r <= 0) return;
    const { x, y, yaw } = element;
    const nearest = i === sonar.reading.nearest;
    c.beginPath();
    c.moveTo(x, y);
    c.arc(x, y, r, yaw - half, yaw + half);
    c.closePath();
    c.globalAlpha = nearest ? 0.3 : 0.1;
    c.fillStyle = theme.sonar;
    c.fill();
    c.beginPath();
    c.arc(x, y, r, yaw - half, yaw + half);
    c.globalAlpha = nearest ? 1 : 0.5;
    c.strokeStyle = theme.sonar;
    c.lineWidth = 1.5 / camera.scale;
    c.stroke();
  });
  c.globalAlpha = 1;
}

export function paintRobot(c, theme, ratio, robot, o, selected) {
  const ink = robot.away ? theme["ink-3"] : selected ? theme.accent : theme.ink;
  traceOutline(c, o, ratio);
  c.lineWidth = 1.5;
  c.lineJoin = "round";
  c.fillStyle = theme.paper;
  c.fill();
  c.strokeStyle = ink;
  c.setLineDash(robot.away ? [3, 3] : []);
  c.stroke();
  c.setLineDash([]);
  const r = Math.min(o.length, o.width) / 2; // of the heading mark, which stands at the front
  const at = o.length / 2 - r;
  c.beginPath();
  c.moveTo(at + r * 0.78, 0);
  c.lineTo(at - r * 0.5, r * 0.56);
  c.lineTo(at - r * 0.24, 0);
  c.lineTo(at - r * 0.5, -r * 0.56);
  c.closePath();
  c.fillStyle = ink;
  if (!robot.away) c.fill();
  else c.stroke();
  if (robot.position?.stall && !robot.away) {
    c.beginPath();
    c.arc(0, 0, o.reach + 3, -0.7, 0.7);
    c.strokeStyle = theme.danger;
    c.lineWidth = 3;
    c.stroke();
  }
}

/** Rings in the subscriptions' colours around a robot that matched. Returns whether any still glows. */
export function paintMatches(c, theme, ratio, robot, { x, y, reach }, now) {
  let glows = false;
  let ring = 0;
  c.setTransform(ratio, 0, 0, ratio, ratio * x, ratio * y);
  for (const [id, match] of robot.matches) {
    const age = now - match.at;
    if (age > flash) {
      robot.matches.delete(id);
      continue;
    }
    glows = true;
    c.strokeStyle = theme.colour(match.colour);
    c.globalAlpha = 1 - (age / flash) ** 2;
    c.lineWidth = 2.5;
    c.beginPath();
    c.arc(0, 0, reach + 5 + 4 * ring++, 0, tau);
    c.stroke();
    const grown = (now - match.begun) / 600;
    if (grown < 1 && !theme.isStill) {
      c.globalAlpha = 0.6 * (1 - grown);
      c.lineWidth = 2;
      c.beginPath();
      c.arc(0, 0, reach + 6 + 34 * Math.sqrt(grown), 0, tau);
      c.stroke();
    }
  }
  c.globalAlpha = 1;
  return glows;
}

export function paintName(c, theme, ratio, robot, { x, y: centre, reach }, selected) {
  const below = centre + reach + 13 + 4 * robot.matches.size; // clear of the rings
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.font = `${selected ? 600 : 500} 11px ${theme.font}`;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.lineJoin = "round";
  c.strokeStyle = theme.floor;
  c.lineWidth = 3.5;
  const text = robot.away ? `${robot.name} · away` : robot.name;
  c.strokeText(text, x, below);
  c.fillStyle = robot.away ? theme["ink-3"] : selected ? theme.accent : theme["ink-2"];
  c.fillText(text, x, below);
}

/** The scale bar at the lower left: some 90 px, a round length. */
export function paintScale(c, camera, theme, ratio) {
  const length = camera.step(60);
  const width = length * camera.scale;
  const [x, y] = [16, camera.height - 16];
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.strokeStyle = theme["ink-2"];
  c.lineWidth = 1.5;
  c.beginPath();
  c.moveTo(x, y - 5);
  c.lineTo(x, y);
  c.lineTo(x + width, y);
  c.lineTo(x + width, y - 5);
  c.stroke();
  c.font = `500 11px ${theme.font}`;
  c.textAlign = "left";
  c.textBaseline = "alphabetic";
  c.fillStyle = theme["ink-2"];
  const text = length >= 1000 ? `${length / 1000} km` : length >= 1 ? `${length} m` : `${Math.round(length * 100)} cm`;
  c.fillText(text, x + 6, y - 5);
}

/** Whether a scan or sonar reading is recent enough to be shown. */
export function fresh(reading, now) { return now - reading.at < stale; }
