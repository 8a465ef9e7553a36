import { byId, h, setText, throttled } from "./dom.js";
import { count, fixed } from "./format.js";
import { text as said } from "./text.js";
import { Network } from "./network.js";

const ns = "http://www.w3.org/2000/svg";
const width = 248;
const [flat, tall] = [84, 168]; // heights: of a row of brokers, of others

/** The Network section: a diagram of brokers and links, who hangs where, what roamed, and a demo's count. */
export class Diagram {
  #network;
  #robots;
  #section = byId("network");
  #layers = {};
  #nodes = new Map(); // broker → parts
  #dots = new Map(); // client → circle
  #links = new Map(); // "a\nb" → line
  #hops = [];
  #rows = new Map(); // broker → parts
  #open = null; // the broker whose facts are shown
  #places = new Map(); // broker → [x, y]

  /** @param {{network: object, robots: object}} parts */
  constructor({ network, robots }) {
    this.#network = network;
    this.#robots = robots;
    for (const name of ["links", "routes", "dots", "nodes"]) byId("network-diagram").append((this.#layers[name] = svg("g", { class: `net-${name}` })));
    network.on("change", throttled(100, () => this.#arrange()));
  }

  #arrange() {
    const network = this.#network;
    this.#section.hidden = network.size < 2;
    if (this.#section.hidden) return;
    this.#place();
    this.#drawLinks();
    this.#drawRoutes();
    this.#drawNodes();
    this.#drawDots();
    this.#tell();
    this.#list();
  }

  /** Brokers stand as their coverage does, or else in a circle. */
  #place() {
    const brokers = this.#network.brokers;
    const world = brokers[0].coverage?.world;
    const places = new Map();
    let height = tall;
    if (brokers.every((b) => b.coverage && b.coverage.world === world)) {
      const xs = brokers.map((b) => b.coverage.x);
      const ys = brokers.map((b) => b.coverage.y);
      if (Math.min(...ys) === Math.max(...ys)) height = flat;
      const along = scale(Math.min(...xs), Math.max(...xs), 34, width - 34);
      const across = scale(Math.max(...ys), Math.min(...ys), 38, height - 38);
      for (const b of brokers) places.set(b.id, [along(b.coverage.x), across(b.coverage.y)]);
    } else {
      brokers.forEach((b, i) => {
        const a = (2 * Math.PI * i) / brokers.length - Math.PI / 2;
        places.set(b.id, [width / 2 + (width / 2 - 36) * Math.cos(a), height / 2 + (height / 2 - 32) * Math.sin(a)]);
      });
    }
    this.#places = places;
    byId("network-diagram").setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  #drawLinks() {
    const links = this.#network.links().filter(({ a, b }) => this.#places.has(a) && this.#places.has(b));
    sync(this.#links, links, ({ a, b }) => `${a}\n${b}`, () => this.#layers.links.appendChild(svg("line", {})), (line, { a, b, up }) => {
      this.#join(line, a, b);
      line.setAttribute("class", up ? "up" : "down");
    });
  }

  #join(line, a, b) {
    const [[x1, y1], [x2, y2]] = [this.#places.get(a), this.#places.get(b)];
    for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(name, value.toFixed(1));
  }

  /** The routes of the client in focus, flowing towards it. */
  #drawRoutes() {
    const client = this.#network.shownClient;
    const hops = client ? this.#network.hops(client.name).filter(([a, b]) => this.#places.has(a) && this.#places.has(b)) : [];
    while (this.#hops.length > hops.length) this.#hops.pop().remove();
    while (this.#hops.length < hops.length) this.#hops.push(this.#layers.routes.appendChild(svg("line", {})));
    const colour = client && this.#network.broker(client.broker)?.colour;
    hops.forEach(([a, b], i) => {
      this.#join(this.#hops[i], a, b);
      this.#hops[i].dataset.colour = (colour ?? 0) % 8;
    });
  }

  #drawNodes() {
    const make = (b) => {
      const parts = { frame: svg("rect", { width: 34, height: 20, x: -17, y: -10, rx: 4 }), name: svg("text", { y: 0.5 }) };
      parts.item = svg("g", {});
      parts.item.append(parts.frame, parts.name);
      parts.item.addEventListener("click", () => this.#show(b.id));
      this.#layers.nodes.append(parts.item);
      return parts;
    };
    sync(this.#nodes, this.#network.brokers, (b) => b.id, make, (parts, b) => {
      const [x, y] = this.#places.get(b.id);
      parts.item.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      parts.item.setAttribute("class", `${b.error ? "gone" : ""} ${b.here ? "here" : ""}`);
      parts.item.dataset.colour = b.colour % 8;
      setText(parts.name, b.id.length > 5 ? `${b.id.slice(0, 4)}…` : b.id);
    });
  }

  /** A dot for each client, around its broker; it glides to the next one. */
  #drawDots() {
    const network = this.#network;
    const clients = network.clients.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })).slice(0, 200);
    const number = new Map(); // of a broker's clients, so far
    const crowd = new Map(); // and in all
    for (const c of clients) crowd.set(c.broker, (crowd.get(c.broker) ?? 0) + 1);
    const make = (c) => {
      const dot = svg("circle", { r: 4.5 });
      dot.append(svg("title", {}));
      dot.addEventListener("click", () => network.setFocus(network.focus === c.name ? null : c.name));
      return this.#layers.dots.appendChild(dot);
    };
    sync(this.#dots, clients, (c) => c.name, make, (dot, c) => {
      const place = this.#places.get(c.broker);
      if (!place) return;
      const i = number.get(c.broker) ?? 0;
      number.set(c.broker, i + 1);
      const row = Math.min(5, crowd.get(c.broker) - (i - (i % 5))); // dots in it
      const x = place[0] + ((i % 5) - (row - 1) / 2) * 10.5;
      const y = place[1] + 18 + Math.floor(i / 5) * 10.5;
      dot.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      dot.dataset.colour = (network.broker(c.broker)?.colour ?? 7) % 8;
      dot.classList.toggle("away", !c.attached);
      dot.classList.toggle("moving", performance.now() - c.movedAt < Network.shown);
      dot.classList.toggle("focus", network.shownClient === c);
      setText(dot.firstChild, said.network.client(c));
    });
  }

  #tell() {
    const network = this.#network;
    const up = network.links().filter((l) => l.up).length;
    const gone = network.brokers.filter((b) => b.error).length;
    setText(byId("network-count"), said.network.count(network.size, gone));
    byId("network-diagram").setAttribute("aria-label", said.network.diagram(network.size, up, network.clients.length));
    const t = network.tally;
    byId("tally").hidden = !t;
    if (t) {
      for (const [id, n, bad] of [["tally-delivered", t.delivered], ["tally-lost", t.lost, t.lost > 0], ["tally-doubled", t.doubled, t.doubled > 0], ["tally-roams", t.roams]]) {
        setText(byId(id), count(n ?? 0));
        byId(id).classList.toggle("bad", Boolean(bad));
      }
      if (t.carriers) setText(byId("tally-times"), field(t));
      else setText(byId("tally-times"), t.roams ? said.network.times(milliseconds(t.p50), milliseconds(t.p99)) : "");
    }
    const client = network.shownClient;
    setText(byId("network-focus"), client ? said.network.routes(client.name, client.broker) : "");
    this.#moves(t);
  }

  /** The newest hand-overs: a demo knows how long they took. */
  #moves(tally) {
    const moves = tally?.recent?.length ? tally.recent.map((r) => ({ client: r.program, ...r })) : this.#network.moves;
    const text = moves.slice(0, 4).map((m) => [m.client, m.from, m.to, m.took ? milliseconds(m.took) : ""]);
    const list = byId("hand-overs");
    const key = JSON.stringify(text);
    if (list.dataset.key === key) return;
    list.dataset.key = key;
    list.replaceChildren(...text.map(([client, from, to, took]) => h("li", {}, h("span", { class: "who" }, client), h("span", {}, `${from} → ${to}`), h("span", { class: "took" }, took))));
  }

  /** The brokers as a list, for those who do not see or point. */
  #list() {
    const list = byId("brokers");
    const make = (b) => {
      const parts = { facts: h("span", { class: "pose" }), lamp: h("span", { class: "lamp" }), more: h("div", { class: "more-about" }) };
      parts.button = h("button", { type: "button", class: "robot", "aria-expanded": "false", onclick: () => this.#show(b.id) }, parts.lamp, h("span", { class: "name" }, b.id), h("span", { class: "note" }, ""), parts.facts);
      parts.item = h("li", { "data-broker": b.id }, parts.button, parts.more);
      list.append(parts.item);
      return parts;
    };
    sync(this.#rows, this.#network.brokers, (b) => b.id, make, (row, b) => {
      row.item.dataset.state = b.error ? "away" : "up";
      row.item.dataset.colour = b.colour % 8;
      setText(row.facts, b.error ? b.error : said.network.about(b));
      const open = this.#open === b.id;
      row.button.setAttribute("aria-expanded", String(open));
      this.#about(row.more, open ? b : null);
    }, (row) => row.item);
  }

  #show(id) {
    this.#open = this.#open === id ? null : id;
    byId("network-details").open = true;
    this.#arrange();
  }

  #about(into, b) {
    const facts = [];
    if (b) {
      const page = pageOf(b.url);
      if (page) facts.push([said.network.page, b.here ? said.fleet.here : h("a", { href: page }, page)]);
      if (b.registry) facts.push([said.network.registry, b.registry]);
      facts.push([said.network.links, b.links.join(", ") || said.network.noLinks]);
      for (const n of b.neighbours) if (!n.up && n.problem) facts.push([n.id, n.problem]);
      facts.push([said.network.routeCount, count(b.routeCount)], [said.network.waiting, said.network.notifications(b.waiting)]);
      if (b.lost) facts.push([said.network.lost, count(b.lost)]);
    }
    const key = JSON.stringify(facts.map(([name, what]) => [name, what.href ?? what]));
    if (into.dataset.facts === key) return;
    into.dataset.facts = key;
    into.replaceChildren(...(facts.length ? [h("dl", {}, ...facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]))] : []));
  }
}

/** Where a broker's page is, by its WebSocket URL; null if that is none. */
function pageOf(url) {
  const page = /^ws(s?):\/\/([^/?#]+)/.exec(url);
  return page ? `http${page[1]}://${page[2]}/` : null;
}

function milliseconds(s) { return `${fixed(s * 1000, s < 0.01 ? 1 : 0)} ms`; }

/** A linear scale; what has no extent goes to the middle. */
function scale(from, to, low, high) { return from === to ? () => (low + high) / 2 : (v) => low + ((v - from) / (to - from)) * (high - low); }

/** Brings what is shown to what there is: makes, updates, removes. */
function sync(shown, all, name, make, update, element = (parts) => parts.item ?? parts) {
  const names = new Set(all.map(name));
  for (const [key, parts] of shown) {
    if (names.has(key)) continue;
    element(parts).remove();
    shown.delete(key);
  }
  for (const one of all) {
    const key = name(one);
    if (!shown.has(key)) shown.set(key, make(one));
    update(shown.get(key), one);
  }
}

function svg(tag, attributes) {
  const element = document.createElementNS(ns, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** What a field of robots that carry brokers tells, in words. */
function field(t) {
  const islands = new Set(Object.values(t.islands ?? {})).size;
  return said.network.field(islands, t.waiting ?? [], t.meetings?.[0]);
}
