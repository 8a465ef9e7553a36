import { byId, h, setText, throttled } from "./dom.js";
import { degrees, fixed } from "./format.js";
import { text } from "./text.js";

const few = 8; // robots that need no search
const overflowShown = 10_000; // ms
const byName = new Intl.Collator("en", { numeric: true });

/** The list of robots: state, pose; one can be selected. */
export class Roster {
  #robots;
  #views;
  #list = byId("robots");
  #rows = new Map(); // name → parts, in the list's order
  #chosen = null; // the selected robot's row
  #shown = null; // how many the search leaves; null: nobody searches
  #inView = new Set(); // rows that are to be seen, or nearly: only they are kept up to date
  #scrolled = new IntersectionObserver((entries) => this.#scroll(entries), { rootMargin: "200px" });

  /** @param {{robots: object, views: object}} parts */
  constructor({ robots, views }) {
    this.#robots = robots;
    this.#views = views;
    const arrange = throttled(200, () => this.#arrange());
    robots.on("list", arrange);
    byId("robots-filter").addEventListener("input", () => this.#filter());
    robots.on("pose", throttled(400, () => this.#update()));
    robots.on("select", () => this.#select());
    setInterval(() => this.#update(), 2000);
    this.#arrange();
  }

  #arrange() {
    const robots = this.#robots.all;
    if (robots.length !== this.#rows.size || robots.some((r) => !this.#rows.has(r.name))) this.#order(robots);
    byId("robots-empty").hidden = robots.length > 0;
    byId("robots-search").hidden = robots.length < few;
    this.#filter();
    this.#update();
    this.#select();
  }

  /** Makes rows for new robots, takes away those of robots that are gone. */
  #order(robots) {
    const before = this.#rows;
    this.#rows = new Map();
    for (const robot of robots.sort((a, b) => byName.compare(a.name, b.name))) {
      this.#rows.set(robot.name, before.get(robot.name) ?? this.#make(robot));
      before.delete(robot.name);
    }
    for (const row of before.values()) {
      this.#scrolled.unobserve(row.item);
      this.#inView.delete(row);
      row.item.remove();
    }
    let next = this.#list.firstChild;
    for (const { item } of this.#rows.values()) {
      if (item === next) next = next.nextSibling;
      else this.#list.insertBefore(item, next);
    }
  }

  /** Hides the rows of robots that the search does not name. */
  #filter() {
    const words = byId("robots-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length && this.#shown === null) return;
    let shown = 0;
    for (const row of this.#rows.values()) {
      const robot = this.#robots.get(row.name);
      const all = [row.name, robot?.world, robot?.away ? text.robot.away : robot?.state, robot?.position?.stall ? text.robot.stalled : ""].join(" ").toLowerCase();
      row.item.hidden = !words.every((w) => all.includes(w));
      if (!row.item.hidden) shown++;
    }
    this.#shown = words.length ? shown : null;
    this.#update();
  }

  #scroll(entries) {
    for (const { target, isIntersecting } of entries) {
      const row = this.#rows.get(target.dataset.robot);
      if (isIntersecting && row) this.#inView.add(row);
      else this.#inView.delete(row);
    }
    this.#update();
  }

  #make(robot) {
    const name = robot.name;
    const parts = { state: h("span", { class: "lamp" }), pose: h("span", { class: "pose" }), note: h("span", { class: "note" }) };
    const button = h("button", { type: "button", class: "robot", "aria-pressed": "false", onclick: () => this.#pick(name) },
      parts.state, h("span", { class: "name" }, name), parts.note, parts.pose);
    const item = h("li", { "data-robot": name }, button);
    this.#scrolled.observe(item);
    return { name, item, button, ...parts };
  }

  /** A second time lets go of it, once it is to be seen. */
  #pick(name) { this.#robots.pick(this.#robots.selected === name && this.#views.current === "robot" ? null : name); }

  #update() {
    for (const row of this.#inView) this.#describe(row);
    const away = this.#robots.all.filter((r) => r.away).length;
    setText(byId("robots-count"), this.#robots.size ? text.robot.count(this.#robots.size, this.#shown, away) : "");
  }

  #describe(row) {
    const robot = this.#robots.get(row.name);
    if (!robot) return; // until the list is arranged anew
    const p = robot.position;
    const overflown = Date.now() - robot.overflowAt < overflowShown;
    row.item.dataset.state = robot.away ? "away" : overflown ? "overflow" : robot.state === "up" || robot.placed ? "up" : "unknown";
    setText(row.pose, p ? `${fixed(p.x, 1)}, ${fixed(p.y, 1)} · ${degrees(p.yaw)}` : text.robot.noPosition);
    setText(row.note, robot.away ? text.robot.away : overflown ? text.robot.overflow(robot.lost) : p?.stall ? text.robot.stalled : "");
  }

  #select() {
    const { selected } = this.#robots;
    const row = this.#rows.get(selected) ?? null;
    if (row !== this.#chosen) {
      this.#chosen?.button.setAttribute("aria-pressed", "false");
      row?.button.setAttribute("aria-pressed", "true");
      this.#chosen = row;
    }
  }
}
