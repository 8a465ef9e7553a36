import { byId, h, setText } from "./dom.js";
import { clock, degrees, fixed, rate } from "./format.js";
import { polar } from "./polar.js";
import { plot } from "./series.js";
import { summary } from "./slip.js";
import { text } from "./text.js";
import { withUnit } from "./units.js";

const period = 250; // ms between looks at what has changed
const polarPeriod = 500; // ms between drawings of a scan
const shownNotices = 20;

/** One device in the panel: rate and age, a row with a plot for each number, a scan as a drawing. */
class DeviceView {
  #rows = new Map(); // field → {item, text, canvas}
  #drawn = 0; // ms, when its scan was drawn last

  constructor(name, driver) {
    this.rate = h("span", { class: "number" });
    this.age = h("span", { class: "age" });
    this.drawing = h("div", { class: "drawing" });
    this.table = h("tbody", {});
    this.item = h("details", { class: "device-view", open: true, "data-device": name },
      h("summary", {}, h("span", { class: "who" }, name), driver ? h("span", { class: "driver" }, driver) : null, this.rate, this.age),
      this.drawing,
      h("table", {}, h("caption", { class: "unseen" }, name), this.table));
  }

  describe(device, silent, now, { theme, words }) {
    const age = device?.reading ? (now - device.at) / 1000 : null;
    setText(this.rate, device ? rate(device.meter.rate()) : "");
    setText(this.age, silent ? text.robot.silent : age === null ? text.robot.noReading : age > 2 ? text.robot.ago(age) : "");
    if (!device?.reading || !this.item.open) return;
    for (const [field, v] of Object.entries(device.reading)) {
      if (field === "index") continue;
      const row = this.#row(field, device);
      setText(row.text, withUnit(words, device.interface, field, v));
      const series = device.series.get(field);
      if (series) this.#plot(row, series, now, theme, (v) => withUnit(words, device.interface, field, v), field);
    }
    const scan = device.reading.angle_min !== undefined && device.reading.ranges?.length;
    if (scan && now - this.#drawn > polarPeriod) {
      this.#drawn = now;
      this.drawing.replaceChildren(polar(device.reading));
    }
  }

  #row(field, device) {
    let row = this.#rows.get(field);
    if (row) return row;
    const canvas = device.series.has(field) ? h("canvas", { class: "plot", role: "img", "aria-label": field }) : null;
    row = { text: h("td", { class: "number" }), canvas };
    this.table.append(h("tr", {}, h("th", { scope: "row" }, field), row.text, h("td", {}, canvas)));
    this.#rows.set(field, row);
    return row;
  }

  #plot({ canvas }, series, now, theme, worded, field) {
    plot(canvas, series, now, theme.accent);
    const range = series.range(now);
    if (!range) return;
    const label = text.robot.plot(field, worded(range.least), worded(range.most));
    if (canvas.title === label) return;
    canvas.title = label;
    canvas.setAttribute("aria-label", label);
  }
}

/** The panel of the selected robot: facts, sensors, what of it has matched. */
export class RobotPanel {
  #robots;
  #sensors;
  #views;
  #look; // {theme, words}
  #past;
  #show;
  #shown = new Map(); // device → DeviceView
  #facts = "";
  #listed = ""; // key of the notifications in the list

  /** @param {{robots: object, sensors: object, views: object, theme: object, words: object, past: object, watch: function, show: function}} parts watch(name): a condition for one robot; show(entry): a notification */
  constructor({ robots, sensors, views, theme, words, past, watch, show }) {
    this.#robots = robots;
    this.#sensors = sensors;
    this.#views = views;
    this.#look = { theme, words };
    this.#past = past;
    this.#show = show;
    robots.on("select", () => this.#selected());
    robots.on("pick", (name) => { if (name !== null) views.show("robot"); });
    views.on("show", () => this.#selected());
    byId("robot-watch").addEventListener("click", () => watch(robots.selected));
    setInterval(() => this.#describe(), period);
    this.#selected();
  }

  get #open() { return this.#views.current === "robot"; }

  #selected() {
    const name = this.#robots.selected;
    this.#sensors.watch(name, this.#open);
    byId("robot-none").hidden = name !== null;
    byId("robot-panel").hidden = name === null;
    setText(byId("robot-title"), name ?? "");
    byId("sensors").replaceChildren();
    this.#shown = new Map();
    this.#facts = this.#listed = "";
    this.#describe();
  }

  #describe() {
    const robot = this.#robots.get(this.#robots.selected);
    if (!robot || !this.#open || document.hidden) return;
    this.#about(robot);
    this.#devices(robot);
    this.#notices(robot);
  }

  #about(robot) {
    const p = robot.position;
    setText(byId("robot-state"), [robot.away ? "away" : robot.state, p ? `${fixed(p.x, 1)}, ${fixed(p.y, 1)} m` : null, p ? degrees(p.yaw) : null].filter(Boolean).join(" · "));
    const names = text.robot.facts;
    const facts = [];
    if (robot.world) facts.push([names.world, robot.world]);
    if (robot.source) facts.push([names.source, robot.source]);
    if (robot.since) facts.push([robot.away ? names.awaySince : names.since, clock(robot.since * 1000)]);
    if (robot.error) facts.push([names.because, robot.error]);
    if (robot.lost) facts.push([names.lost, text.robot.lost(robot.lost)]);
    const key = JSON.stringify(facts);
    if (key === this.#facts) return;
    this.#facts = key;
    byId("robot-facts").replaceChildren(...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }

  /** A view for each device that the broker has listed or that has told something. */
  #devices(robot) {
    const now = performance.now();
    const listed = new Map(robot.devices.map((d) => [`${d.interface}:${d.index}`, d]));
    const names = new Set([...listed.keys(), ...this.#sensors.devices.keys()]);
    byId("sensors-empty").hidden = names.size > 0;
    for (const name of names) {
      let view = this.#shown.get(name);
      if (!view) {
        view = new DeviceView(name, listed.get(name)?.driver);
        this.#shown.set(name, view);
        byId("sensors").append(view.item);
      }
      view.describe(this.#sensors.devices.get(name), Boolean(listed.get(name)?.silent), now, this.#look);
    }
    for (const [name, view] of this.#shown) {
      if (names.has(name)) continue;
      view.item.remove();
      this.#shown.delete(name);
    }
  }

  #notices(robot) {
    const entries = this.#past.of(robot.name, shownNotices);
    const key = `${entries.length} ${entries[0]?.at} ${entries[0]?.notification.seq}`;
    if (key === this.#listed) return;
    this.#listed = key;
    byId("robot-notices-empty").hidden = entries.length > 0;
    byId("robot-notices").replaceChildren(...entries.map((entry) => {
      const { watch } = entry.matches[0];
      return h("li", { "data-colour": watch.colour }, h("button", { type: "button", onclick: () => this.#show(entry) },
        h("span", { class: "dot" }), h("time", {}, clock(entry.at)), h("span", { class: "what" }, summary(entry.notification.reading) || watch.spec.condition)));
    }));
  }
}
