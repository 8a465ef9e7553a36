import { byId, h, setText, throttled } from "./dom.js";
import { clock, degrees, fixed, plural } from "./format.js";

const overflowShown = 10_000; // ms

/** The list of robots: state, pose; one can be selected. */
export class Roster {
  #robots;
  #watch;
  #list = byId("robots");
  #rows = new Map(); // name → parts

  /** @param {{robots: object, watch: function}} parts watch(name): subscribe for one robot */
  constructor({ robots, watch }) {
    this.#robots = robots;
    this.#watch = watch;
    const arrange = throttled(200, () => this.#arrange());
    robots.on("list", arrange);
    robots.on("pose", throttled(400, () => this.#update()));
    robots.on("select", () => this.#select());
    setInterval(() => this.#update(), 2000);
    this.#arrange();
  }

  #arrange() {
    const robots = this.#robots.all.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    for (const [name, row] of this.#rows) {
      if (this.#robots.get(name)) continue;
      row.item.remove();
      this.#rows.delete(name);
    }
    robots.forEach((robot, i) => {
      if (!this.#rows.has(robot.name)) this.#rows.set(robot.name, this.#make(robot));
      const { item } = this.#rows.get(robot.name);
      if (this.#list.children[i] !== item) this.#list.insertBefore(item, this.#list.children[i] ?? null);
    });
    byId("robots-empty").hidden = robots.length > 0;
    this.#update();
    this.#select();
  }

  #make(robot) {
    const name = robot.name;
    const parts = { state: h("span", { class: "lamp" }), pose: h("span", { class: "pose" }), note: h("span", { class: "note" }), more: h("div", { class: "more-about" }) };
    const button = h("button", { type: "button", class: "robot", "aria-pressed": "false", onclick: () => this.#robots.select(this.#robots.selected === name ? null : name) },
      parts.state, h("span", { class: "name" }, name), parts.note, parts.pose);
    const item = h("li", { "data-robot": name }, button, parts.more);
    return { item, button, ...parts };
  }

  #update() {
    for (const robot of this.#robots.all) {
      const row = this.#rows.get(robot.name);
      if (row) this.#describe(robot, row);
    }
    const away = this.#robots.all.filter((r) => r.away).length;
    setText(byId("robots-count"), this.#robots.size ? `${this.#robots.size}${away ? `, ${away} away` : ""}` : "");
  }

  #describe(robot, row) {
    const p = robot.position;
    const overflown = Date.now() - robot.overflowAt < overflowShown;
    row.item.dataset.state = robot.away ? "away" : overflown ? "overflow" : robot.state === "up" || robot.placed ? "up" : "unknown";
    setText(row.pose, p ? `${fixed(p.x, 1)}, ${fixed(p.y, 1)} · ${degrees(p.yaw)}` : "no position");
    setText(row.note, robot.away ? "away" : overflown ? `lost ${robot.lost || "some"}` : p?.stall ? "stalled" : "");
    if (robot.name === this.#robots.selected) this.#about(robot, row);
  }

  #select() {
    for (const [name, row] of this.#rows) {
      const selected = name === this.#robots.selected;
      row.button.setAttribute("aria-pressed", String(selected));
      if (!selected) row.more.replaceChildren();
      else this.#about(this.#robots.get(name), row);
    }
  }

  #about(robot, row) {
    const facts = [];
    if (robot.world) facts.push(["World", robot.world]);
    if (robot.devices.length) facts.push(["Devices", robot.devices.map((d) => `${d.interface}:${d.index}`).join(", ")]);
    if (robot.since) facts.push([robot.away ? "Away since" : "Since", clock(robot.since * 1000)]);
    if (robot.error) facts.push(["Because", robot.error]);
    if (robot.lost) facts.push(["Lost", plural(robot.lost, "reading")]);
    const key = JSON.stringify(facts);
    if (row.more.dataset.facts === key && row.more.firstChild) return;
    row.more.dataset.facts = key;
    row.more.replaceChildren(
      h("dl", {}, ...facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
      h("button", { type: "button", class: "quiet", onclick: () => this.#watch(robot.name) }, "Condition for this robot"));
  }
}
