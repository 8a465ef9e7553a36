import { byId, setText, throttled } from "./dom.js";
import { clock } from "./format.js";
import { text } from "./text.js";

/** The connection in the masthead, and what the map says while there is nothing to show. */
export class Link {
  #client;
  #viewer;
  #robots;
  #lostAt = 0; // ms, when what is shown was last true
  #once = false; // it was attached before
  #home = null; // {id, url} of the broker that this page is from

  /** @param {{client: object, viewer: object, robots: object}} parts viewer: the Client that the map lives on */
  constructor({ client, viewer, robots }) {
    this.#client = client;
    this.#viewer = viewer;
    this.#robots = robots;
    client.on("status", (s) => this.#state(s));
    viewer.on("status", () => this.#state(client.status));
    robots.on("list", () => this.#overlay());
    robots.on("pose", throttled(200, () => this.#overlay()));
    byId("connection-action").addEventListener("click", () => client.connect());
    setInterval(() => this.#describe(client.status), 500);
    window.addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#hurry(); });
  }

  /** Does not wait for the next attempt when there is reason to think that it would succeed. */
  #hurry() {
    for (const c of [this.#client, this.#viewer]) if (c.status.name === "waiting") c.connect();
  }

  #state(s) {
    if (s.name === "attached") {
      this.#once = true;
      this.#lostAt = 0;
      this.#home ??= { id: s.broker, url: s.url };
    } else if (this.#once && !this.#lostAt) this.#lostAt = Date.now();
    byId("connection").dataset.state = s.name;
    document.body.classList.toggle("detached", this.#once && (s.name !== "attached" || this.#blind));
    this.#describe(s);
    this.#overlay();
  }

  /** The map's connection is lost. */
  get #blind() { return ["waiting", "refused"].includes(this.#viewer.status.name); }

  #describe(s) {
    const left = Math.max(0, Math.ceil(((s.retryAt ?? 0) - Date.now()) / 1000));
    const gone = this.#lostAt ? text.link.gone(clock(this.#lostAt)) : text.link.unreached;
    const away = s.name === "attached" && this.#home.id !== s.broker;
    const texts = {
      closed: text.link.closed,
      connecting: this.#lostAt ? text.link.again(gone, 0) : text.link.connecting,
      attached: text.link.attached(s.broker, away ? this.#home.id : "", this.#blind),
      waiting: text.link.again(gone, left),
      "taken-over": text.link.takenOver,
      refused: text.link.refused(s.error?.message ?? ""),
    };
    setText(byId("connection-text"), texts[s.name] ?? s.name);
    const actions = text.link.actions;
    const button = byId("connection-action");
    button.hidden = !actions[s.name];
    setText(button, actions[s.name] ?? "");
  }

  #overlay() {
    const robots = this.#robots.all;
    const said = !this.#once ? text.map.waiting
      : robots.length === 0 ? text.map.noRobots
      : robots.some((r) => r.placed) ? ""
      : text.map.noPosition;
    byId("map-empty").hidden = !said;
    if (said) setText(byId("map-empty-text"), said);
  }
}
