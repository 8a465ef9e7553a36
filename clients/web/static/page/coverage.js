/**
 * Paints the network over a world: what each broker covers, its mast, the
 * links, which broker each robot's program hangs on, and the routes of the
 * program in focus. Where robots carry the brokers, the links by what they cost, in
 * the colours of islands, and who waits for whom. Takes what paint.js takes.
 */
import { Network } from "./network.js";

const tau = 2 * Math.PI;

/** The brokers that cover a part of a world. */
function covering(network, world) { return network.brokers.filter((b) => b.coverage?.world === world); }

export function paintCoverage(c, camera, theme, ratio, network, world) {
  camera.apply(c, ratio);
  for (const b of covering(network, world)) {
    c.beginPath();
    b.coverage.area.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
    c.fillStyle = c.strokeStyle = theme.colour(b.colour);
    c.globalAlpha = theme.isDark ? 0.1 : 0.08;
    c.fill();
    c.globalAlpha = 0.55;
    c.lineWidth = 1.5 / camera.scale;
    c.setLineDash([6 / camera.scale, 5 / camera.scale]);
    c.stroke();
    c.setLineDash([]);
  }
  c.globalAlpha = 1;
}

/** Links, routes, programs and masts. Returns whether another frame is needed. */
export function paintNetwork(c, camera, theme, ratio, { network, world, robots, selected, now }) {
  if (network.tally?.carriers) return paintField(c, camera, theme, ratio, { network, robots, selected, now });
  const masts = new Map(covering(network, world).map((b) => [b.id, camera.toScreen(b.coverage.x, b.coverage.y)]));
  if (!masts.size) return false;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.lineCap = "round";
  for (const { a, b, up } of network.links()) {
    if (masts.has(a) && masts.has(b)) stroke(c, masts.get(a), masts.get(b), { colour: up ? theme["ink-3"] : theme.danger, width: 1.5, alpha: up ? 0.7 : 0.9, dash: up ? [] : [2, 5] });
  }
  const client = network.guideOf(selected) ?? network.shownClient;
  let busy = paintRoutes(c, theme, network, masts, client, now);
  for (const robot of robots) busy = paintProgram(c, camera, theme, network, masts, robot, now) || busy;
  for (const b of covering(network, world)) paintMast(c, theme, b, masts.get(b.id));
  c.globalAlpha = 1;
  return busy;
}

/** Brokers on robots. A link that costs more is thinner and breaks up; a program that waits points at its robot. */
function paintField(c, camera, theme, ratio, { network, robots, selected, now }) {
  const places = new Map(Object.entries(network.tally.places ?? {})); // of those that this broker cannot reach, too
  for (const r of robots) {
    const p = r.state === "up" && r.pose(now);
    if (p) places.set(r.name, [p.x, p.y]);
  }
  const place = (robot) => places.has(robot) && camera.toScreen(...places.get(robot));
  const at = new Map();
  for (const id of Object.keys(network.tally.carriers)) {
    const p = place(network.carrierOf(id));
    if (p) at.set(id, p);
  }
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.lineCap = "round";
  for (const { a, b, cost } of network.links()) {
    if (!at.has(a) || !at.has(b)) continue;
    const colour = theme.colour((network.islandOf(a) ?? 0) % 8);
    stroke(c, at.get(a), at.get(b), { colour, width: Math.max(1, 5 / cost), alpha: Math.max(0.35, 0.9 / cost), dash: cost > 1.6 ? [6, 3 * cost] : [] });
  }
  const busy = paintRoutes(c, theme, network, at, network.guideOf(selected) ?? network.client(network.focus), now);
  for (const w of network.tally.waiting ?? []) {
    const [from, to] = [place(w.robot), place(w.for)];
    if (w.robot === selected && from && to) stroke(c, from, to, { colour: theme.danger, width: 1.5, alpha: 0.7, dash: [2, 5] });
  }
  for (const [id, [x, y]] of at) {
    c.beginPath();
    c.arc(x, y, 15, 0, tau);
    c.strokeStyle = theme.colour((network.islandOf(id) ?? 0) % 8);
    c.lineWidth = 3;
    c.stroke();
  }
  return busy;
}

function stroke(c, [ax, ay], [bx, by], { colour, width, alpha = 1, dash = [], shift = 0 }) {
  c.beginPath();
  c.moveTo(ax, ay);
  c.lineTo(bx, by);
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.globalAlpha = alpha;
  c.setLineDash(dash);
  c.lineDashOffset = shift;
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 1;
}

/** The ways of a client's notifications, flowing towards it. */
function paintRoutes(c, theme, network, masts, client, now) {
  const broker = client && network.broker(client.broker);
  if (!broker) return false;
  const colour = theme.colour(broker.colour);
  const hops = network.hops(client.name).filter(([a, b]) => masts.has(a) && masts.has(b));
  for (const [a, b] of hops) {
    stroke(c, masts.get(a), masts.get(b), { colour, width: 5, alpha: 0.25 });
    stroke(c, masts.get(a), masts.get(b), { colour, width: 2.5, dash: [5, 9], shift: theme.isStill ? 0 : -(now / 28) % 14 });
  }
  return hops.length > 0 && !theme.isStill;
}

/** The line from a robot to the broker that its program hangs on; a program that has just moved takes its line along. */
function paintProgram(c, camera, theme, network, masts, robot, now) {
  const client = network.guideOf(robot.name);
  const broker = client && network.broker(client.broker);
  const pose = robot.pose(now);
  if (!broker || !pose || !masts.has(broker.id)) return false;
  const at = camera.toScreen(pose.x, pose.y);
  const age = (now - client.movedAt) / Network.shown;
  const colour = theme.colour(broker.colour);
  const mast = masts.get(broker.id);
  const old = masts.get(client.from);
  if (age >= 1 || !old || theme.isStill) {
    stroke(c, at, mast, { colour, width: 1.5, alpha: 0.75 });
    return false;
  }
  const t = 1 - (1 - age) ** 3;
  const hook = [old[0] + (mast[0] - old[0]) * t, old[1] + (mast[1] - old[1]) * t];
  stroke(c, at, hook, { colour, width: 2.5 });
  for (const [centre, size] of [[hook, 4], [mast, 0]]) {
    c.beginPath();
    c.arc(centre[0], centre[1], size || 12 + 26 * age, 0, tau);
    c.globalAlpha = size ? 1 : 1 - age;
    c.fillStyle = c.strokeStyle = colour;
    c.lineWidth = 2;
    if (size) c.fill();
    else c.stroke();
  }
  c.globalAlpha = 1;
  return true;
}

function paintMast(c, theme, broker, [x, y]) {
  c.font = `650 11px ${theme.font}`;
  const width = Math.max(26, c.measureText(broker.id).width + 12);
  c.beginPath();
  c.roundRect(x - width / 2, y - 9, width, 18, 4);
  c.fillStyle = theme.paper;
  c.globalAlpha = 0.92;
  c.fill();
  c.globalAlpha = 1;
  c.strokeStyle = broker.error ? theme.danger : theme.colour(broker.colour);
  c.lineWidth = broker.here ? 2.5 : 1.5;
  c.stroke();
  c.fillStyle = broker.error ? theme["ink-3"] : theme.ink;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(broker.id, x, y + 0.5);
}
