import { byId, setText } from "./dom.js";
import { count, plural, rate, since, size } from "./format.js";
import { Grid } from "./grid.js";
import { summarise } from "./options.js";
import { text } from "./text.js";
import { Traffic } from "./traffic.js";

const period = 1000; // ms between looks, while somebody looks
const natural = new Intl.Collator("en", { numeric: true }).compare;

/**
 * What the brokers do: everybody's subscriptions and how far behind each client
 * is, queues of tasks, brokers, links, routes, hand-overs, islands, and the pair
 * that this broker is a side of.
 */
export class Fleet {
  #client;
  #network;
  #views;
  #traffic = new Traffic();
  #subscriptions = [];
  #standing = null; // what /api/standby gives, where there is a pair
  #grids = {};
  #failed = "";

  constructor({ client, network, views }) {
    this.#client = client;
    this.#network = network;
    this.#views = views;
    for (const name of ["subscriptions", "queues", "brokers", "links", "routes", "moves"]) this.#grids[name] = new Grid(byId(`fleet-${name}`), text.fleet.columns[name]);
    byId("fleet-filter").addEventListener("input", () => this.#show());
    views.on("show", () => this.#look());
    setInterval(() => this.#look(), period);
  }

  async #look() {
    if (this.#views.current !== "fleet" || document.hidden || this.#client.status.name !== "attached") return;
    try {
      this.#subscriptions = (await this.#client.list("subscriptions")) ?? [];
      this.#standing = this.#client.welcome?.sides?.length ? await this.#askPair() : null;
      this.#failed = "";
    } catch (error) {
      this.#failed = error.message;
    }
    this.#show();
  }

  async #askPair() {
    const url = new URL("api/standby", document.baseURI);
    url.username = url.password = ""; // fetch refuses them; the browser knows them by now
    const answer = await fetch(url);
    return answer.ok ? answer.json() : null; // a token may see some robots only
  }

  #show() {
    const now = Date.now();
    const brokers = this.#network.objects;
    this.#traffic.tidy(now);
    const fill = (name, rows) => this.#grids[name].show(this.#filtered(rows));
    fill("subscriptions", this.#clients(brokers, now));
    fill("queues", this.#queues(brokers, now));
    fill("brokers", brokers.map((b) => this.#broker(b)));
    fill("links", brokers.flatMap((b) => this.#links(b, now)));
    fill("routes", this.#routes(brokers));
    fill("moves", this.#network.moves.map((m, i) => ({ key: `${m.client} ${m.at}`, cells: [m.client, `${m.from} → ${m.to}`, since((performance.now() - m.at) / 1000)], at: i })));
    setText(byId("fleet-islands"), this.#islands());
    byId("fleet-islands").hidden = !this.#islands();
    setText(byId("fleet-pair"), this.#standing ? text.fleet.pair(this.#standing) : "");
    byId("fleet-pair").hidden = !this.#standing;
    setText(byId("fleet-problem"), this.#failed);
    byId("fleet-problem").hidden = !this.#failed;
  }

  /** Rows that have the filter's words. */
  #filtered(rows) {
    const words = byId("fleet-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return rows;
    return rows.filter((r) => {
      const all = [...r.cells, r.also ?? ""].join(" ").toLowerCase();
      return words.every((w) => all.includes(w));
    });
  }

  /** A row for each client with what it is behind, and below it one for each of its subscriptions. */
  #clients(brokers, now) {
    const clients = new Map(); // key → {name, broker, remote, attached, since, sequences, subscriptions}
    const know = (o, broker) => {
      const key = `${o.client} ${broker} ${o.remote ?? ""}`;
      if (!clients.has(key)) clients.set(key, { key, name: o.client, broker, remote: o.remote ?? "", attached: o.attached, since: o.since, sequences: o.sequences ?? [], subscriptions: [] });
      return clients.get(key);
    };
    for (const b of brokers) for (const s of b.sessions ?? []) if (s.client || s.subscriptions) know(s, b.id);
    for (const s of this.#subscriptions) know(s, s.broker).subscriptions.push(s);
    const rows = [];
    for (const c of [...clients.values()].sort((a, b) => Number(!a.name) - Number(!b.name) || natural(a.key, b.key))) {
      const sum = (f) => c.sequences.reduce((all, s) => all + (f(s) ?? 0), 0);
      const given = sum((s) => s.last);
      const behind = Math.max(0, given - sum((s) => s.num));
      const speed = this.#traffic.rate(c.key, given, now);
      const lag = behind === 0 ? text.fleet.none : text.fleet.behind(behind, speed);
      const name = c.name || text.fleet.nameless(c.remote);
      rows.push({ key: c.key, kind: c.attached ? "client" : "client away", also: c.subscriptions.map((s) => s.condition).join(" "), cells: [name, c.broker, c.attached ? text.fleet.attached : text.fleet.away(c.since ? now / 1000 - c.since : null), speed === null ? "" : rate(speed), lag, count(sum((s) => s.waiting))] });
      for (const s of c.subscriptions.sort((a, b) => natural(a.id, b.id))) {
        rows.push({ key: `${c.key}\n${s.id}`, kind: s.failed ? "below failed" : "below", also: name, cells: [s.condition, s.id, [...summarise(s), s.failed ? text.fleet.failed : text.fleet.matching(s.matching ?? 0)].join(" · ")] });
      }
    }
    return rows;
  }

  #queues(brokers, now) {
    return brokers.flatMap((b) => (b.queues ?? []).map((q) => {
      const key = `queue ${b.id} ${q.name}`;
      const done = this.#traffic.rate(key, q.ended, now);
      return { key, cells: [q.name, b.id, q.declared ? text.fleet.declared : text.fleet.passing, count(q.waiting), q.waiting ? since(q.oldest) : "", count(q.in_hand), text.fleet.servers(q.servers, q.away), done === null ? "" : rate(done), count(q.ended)] };
    })).sort((a, b) => natural(a.cells[0], b.cells[0]));
  }

  #broker(b) {
    if (!b.source) return { key: b.id, kind: "failed", cells: [b.id, b.url, "", "", "", "", "", "", b.error || text.fleet.silent] };
    const notes = [b.here ? text.fleet.here : "", b.registry === b.id ? text.fleet.registry : "", b.gave_way ? text.fleet.gaveWay(b.gave_way) : ""].filter(Boolean);
    return { key: b.id, cells: [b.id, b.url, `${count(b.up)}/${count(b.robots)}`, `${count(b.attached)}/${count(b.clients)}`, count(b.subscriptions), count(b.waiting), count(b.lost), `${size(b.memory)}/${size(b.memory_limit)}`, notes.join(", ")] };
  }

  /** What a broker says of its neighbours, and how each gets what others want too. */
  #links(b, now) {
    return (b.neighbours ?? []).map((n) => {
      const key = `link ${b.id} ${n.id}`;
      const [sent, received] = ["sent", "received"].map((way) => this.#traffic.rate(`${key} ${way}`, n[way] ?? 0, now));
      const state = n.up ? text.fleet.up(n.since ? now / 1000 - n.since : null) : text.fleet.down(n.problem);
      return { key, kind: n.up ? "" : "failed", cells: [`${b.id} → ${n.id}`, state, sent === null ? "" : `${size(sent)}/s`, received === null ? "" : `${size(received)}/s`, size(n.waiting ?? 0), n.cost ? String(n.cost) : "", text.fleet.way(n.segment, n.segment?.since ? now / 1000 - n.segment.since : null)] };
    });
  }

  #routes(brokers) {
    const clients = [...new Set(brokers.flatMap((b) => (b.routes ?? []).map((r) => r.client)))].sort(natural);
    return clients.flatMap((client) => this.#network.paths(client).map((path, i) => {
      const acknowledged = Math.max(0, ...brokers.flatMap((b) => (b.routes ?? []).filter((r) => r.client === client && r.from === path[0]).map((r) => r.num ?? 0)));
      return { key: `route ${client} ${i}`, cells: [client || text.fleet.unnamed, path.join(" → "), count(acknowledged)] };
    }));
  }

  /** Brokers that reach each other, if there are several such groups. */
  #islands() {
    const ids = this.#network.brokers.map((b) => b.id);
    const island = new Map(ids.map((id) => [id, id]));
    const root = (id) => (island.get(id) === id ? id : root(island.get(id)));
    for (const { a, b, up } of this.#network.links()) if (up) island.set(root(a), root(b));
    const groups = Object.values(Object.groupBy(ids, root));
    return groups.length > 1 ? text.fleet.islands(plural(groups.length, "island"), groups) : "";
  }
}
