import { throttled } from "./dom.js";

const mostConditions = 8; // in an address
const period = 300; // ms between changes of it

/**
 * What is shown, in the page's address, so that it can be shared: the panel, the
 * robot, the part of the map, the user's conditions, and the time: of a replay,
 * or that the time line ends at.
 */
export class Address {
  #parts;
  #written = "";
  #write = throttled(period, () => this.#note());

  /** @param {{views: object, robots: object, watches: object, map: object, timeline: object, replay: object}} parts */
  constructor(parts) {
    this.#parts = parts;
    const { views, robots, watches, map, timeline, replay } = parts;
    views.on("show", this.#write);
    robots.on("select", this.#write);
    watches.on("list", this.#write);
    map.on("view", this.#write);
    timeline.on("window", this.#write);
    replay.on("change", this.#write);
    window.addEventListener("hashchange", () => { if (location.hash !== this.#written) this.take(); });
  }

  /** Shows what the address says. */
  take() {
    const said = new URLSearchParams(location.hash.slice(1));
    const { views, robots, watches, map, timeline, replay } = this.#parts;
    if (said.has("robot")) robots.want(said.get("robot"));
    if (said.has("view")) views.show(said.get("view"));
    const [x, y, scale] = (said.get("map") ?? "").split(",").map(Number);
    if ([x, y, scale].every(Number.isFinite) && scale > 0) map.look(said.get("world"), x, y, scale);
    const until = Date.parse(said.get("until") ?? "");
    if (Number.isFinite(until)) timeline.look(until);
    const at = Number(said.get("at") ?? NaN);
    if (Number.isFinite(at)) replay.begin(at);
    for (const text of said.getAll("condition").slice(0, mostConditions)) watches.want(spec(text));
  }

  #note() {
    const { views, robots, watches, map, timeline, replay } = this.#parts;
    const said = new URLSearchParams();
    if (views.current !== "conditions") said.set("view", views.current);
    if (robots.selected !== null) said.set("robot", robots.selected);
    const { view } = map;
    if (map.touched) {
      if (view.world) said.set("world", view.world);
      said.set("map", [view.x.toFixed(2), view.y.toFixed(2), view.scale.toPrecision(4)].join());
    }
    if (!timeline.window.following) said.set("until", new Date(timeline.window.to).toISOString());
    if (replay.view && !replay.view.playing) said.set("at", replay.view.at.toFixed(1));
    for (const { spec: s } of watches.all.slice(0, mostConditions)) said.append("condition", words(s));
    this.#written = said.size ? `#${said}` : "";
    if (location.hash !== this.#written) history.replaceState(null, "", this.#written || location.pathname + location.search);
  }
}

/** A subscription in the address: its condition, and what is not by default as JSON behind it. */
function words({ id: _, condition, ...options }) {
  return Object.keys(options).length ? `${condition} ${JSON.stringify(options)}` : condition;
}

/** The other way round. */
function spec(text) {
  const at = text.lastIndexOf(" {");
  if (at < 0) return { condition: text };
  try {
    return { ...JSON.parse(text.slice(at + 1)), condition: text.slice(0, at) };
  } catch {
    return { condition: text }; // its braces are its own
  }
}
