import { Emitter } from "../emitter.js";
import { text } from "./text.js";

const forgotten = 10_000; // ms after which a client that no broker tells of is not shown any more
const kept = 20; // moves remembered
const shown = 1200; // ms that a move is animated

/**
 * The network as `list brokers` tells of it: brokers, links, who hangs where,
 * the routes of notifications; and what a demo counts, if it does.
 * Events: change, focus.
 */
export class Network extends Emitter {
  static shown = shown;

  objects = []; // as the list gives them
  #brokers = new Map(); // id → broker
  #clients = new Map(); // name → {name, broker, attached, attachment, seen, from, movedAt}
  moves = []; // {client, from, to, at (ms), took (s, if known)}, newest first
  tally = null; // what /api/roam gives, or /api/adhoc
  moving = false; // brokers have found each other: links have costs
  focus = null; // the client whose routes are shown; null: the one that moved last

  get brokers() { return [...this.#brokers.values()]; }
  get clients() { return [...this.#clients.values()]; }
  get size() { return this.#brokers.size; }
  broker(id) { return this.#brokers.get(id) ?? null; }
  client(name) { return this.#clients.get(name) ?? null; }

  /** Takes what `list brokers` gives. */
  listed(objects, now = performance.now()) {
    const all = (objects ?? []).filter((o) => typeof o?.id === "string");
    all.sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
    this.objects = all;
    this.#brokers = new Map(all.map((o, i) => [o.id, {
      id: o.id, url: o.url ?? "", here: o.here === true, error: o.error ?? "", colour: i, registry: o.registry_mode === "every" ? text.network.everywhere : o.registry === o.id ? text.network.isHere : "",
      robots: o.robots ?? 0, attached: o.attached ?? 0, subscriptions: o.subscriptions ?? 0, waiting: o.waiting ?? 0, lost: o.lost ?? 0, routeCount: o.route_count ?? 0,
      links: o.links ?? [], neighbours: o.neighbours ?? [], routes: o.routes ?? [], coverage: polygon(o.coverage),
    }]));
    this.moving ||= all.some((o) => (o.neighbours ?? []).some((n) => n.cost > 0));
    for (const o of all) for (const s of o.sessions ?? []) this.#attached(o.id, s, now);
    for (const [name, c] of this.#clients) if (now - c.seen > forgotten) this.#clients.delete(name);
    this.emit("change");
  }

  #attached(broker, s, now) {
    if (!s.client) return;
    let c = this.#clients.get(s.client);
    if (!c) {
      c = { name: s.client, broker, attachment: 0, from: null, movedAt: -Infinity };
      this.#clients.set(s.client, c);
    }
    if (s.attachment < c.attachment) return; // it has been there
    if (c.broker !== broker) {
      Object.assign(c, { from: c.broker, broker, movedAt: now });
      this.moves.unshift({ client: c.name, from: c.from, to: broker, at: now, took: null });
      this.moves.length = Math.min(this.moves.length, kept);
    }
    Object.assign(c, { attached: s.attached === true, attachment: s.attachment, seen: now, subscriptions: s.subscriptions ?? 0 });
  }

  /** Takes what a demo has counted. */
  counted(tally) {
    this.tally = tally;
    this.emit("change");
  }

  setFocus(name) {
    if (name === this.focus) return;
    this.focus = name;
    this.emit("focus");
    this.emit("change");
  }

  /** The client whose routes are to be shown, or null. */
  get shownClient() { return this.client(this.focus) ?? this.client(this.moves[0]?.client) ?? null; }

  /** The program that guides a robot, as far as a demo tells. */
  guideOf(robot) {
    const name = Object.entries(this.tally?.guides ?? {}).find(([, r]) => r === robot)?.[0];
    return name ? this.client(name) : null;
  }

  robotOf(client) { return this.tally?.guides?.[client] ?? null; }

  /** The robot that carries a broker, as far as a demo tells. */
  carrierOf(broker) { return this.tally?.carriers?.[broker] ?? null; }

  /** The island that a broker is in, as a number; null if nobody tells. */
  islandOf(broker) { return this.tally?.islands?.[broker] ?? null; }

  /** Every link once: {a, b, up}, and cost where brokers move. A link that is configured and down is there too. */
  links() {
    if (this.tally?.carriers) return this.tally.links?.map((l) => ({ ...l, up: true })) ?? [];
    const found = new Map();
    for (const x of this.#brokers.values()) {
      for (const y of [...x.links, ...x.neighbours.map((n) => n.id)]) {
        if (!this.#brokers.has(y)) continue;
        const [a, b] = [x.id, y].sort();
        const up = this.#brokers.get(a).links.includes(b) && this.#brokers.get(b).links.includes(a);
        found.set(`${a}\n${b}`, { a, b, up });
      }
    }
    return [...found.values()];
  }

  /** The ways of a client's notifications, each from its source's broker on: [[id, …], …]. */
  paths(client) {
    const steps = new Map(); // source → {from, next: Map(broker → down)}
    for (const x of this.#brokers.values()) {
      for (const r of x.routes) {
        if (r.client !== client) continue;
        if (!steps.has(r.source)) steps.set(r.source, { from: r.from, next: new Map() });
        steps.get(r.source).next.set(x.id, r.down);
      }
    }
    const paths = [];
    for (const { from, next } of steps.values()) {
      const path = [from];
      for (let at = from; next.has(at) && next.get(at) !== at && path.length <= next.size; at = next.get(at)) path.push(next.get(at));
      paths.push(path);
    }
    return paths;
  }

  /** The links that a client's routes take, as "from\nto", each once. */
  hops(client) {
    const hops = new Set();
    for (const path of this.paths(client)) for (let i = 1; i < path.length; i++) hops.add(`${path[i - 1]}\n${path[i]}`);
    return [...hops].map((h) => h.split("\n"));
  }
}

/** A broker's coverage: {world, area, x, y}, the place that its mast stands at; or null. */
function polygon(coverage) {
  const area = coverage?.area;
  if (!Array.isArray(area) || area.length < 3 || !area.every((p) => Number.isFinite(p?.[0]) && Number.isFinite(p?.[1]))) return null;
  const xs = area.map((p) => p[0]);
  const ys = area.map((p) => p[1]);
  return { world: coverage.world ?? "", area, x: (Math.min(...xs) + Math.max(...xs)) / 2, y: (Math.min(...ys) + Math.max(...ys)) / 2 };
}
