import { h } from "./dom.js";
import { clock, playerTime, value } from "./format.js";
import { polar } from "./polar.js";
import { text } from "./text.js";
import { withUnit } from "./units.js";

/** One entry of the notifications' list; a notification opens to its reading. */
export class Slip {
  #details = null;
  #button = null;
  #words;

  /** @param {object} entry {kind, at, …} as Notices makes it. @param {object} words what conditions may name. @param {function} toggle called with this slip */
  constructor(entry, words, toggle) {
    this.entry = entry;
    this.#words = words;
    if (entry.kind === "notification") this.#notification(toggle);
    else this.#event();
  }

  #event() {
    const { kind, at, text } = this.entry;
    this.text = text;
    this.item = h("li", { class: `slip event ${kind}` }, h("span", { class: "what" }, text), h("time", { datetime: new Date(at).toISOString() }, clock(at)));
  }

  #notification(toggle) {
    const { notification: n, matches, at } = this.entry;
    const what = matches[0].values ? values(matches[0].values) : summary(n.reading);
    const state = matches.find((m) => typeof m.state === "boolean");
    const device = `${n.interface}:${n.index}`;
    this.text = `${n.robot} ${device} ${what}`;
    this.#button = h("button", { type: "button", class: "slip-head", "aria-expanded": "false", title: text.slip.arrived(clock(at)), onclick: () => toggle(this) },
      h("span", { class: "dots" }, ...matches.map(({ watch }) => h("span", { class: "dot", "data-colour": watch.colour, title: watch.spec.condition }))),
      h("span", { class: "who" }, n.robot),
      h("span", { class: "device" }, device),
      h("time", {}, playerTime(n.time)),
      h("span", { class: "what" }, state ? h("b", { class: `state is-${state.state}` }, state.state ? text.slip.true : text.slip.false) : null, what));
    this.item = h("li", { class: "slip", "data-colour": matches[0].watch.colour, "data-robot": n.robot, "data-seq": n.seq }, this.#button);
  }

  open() {
    this.#button.setAttribute("aria-expanded", "true");
    this.#details = details(this.entry, this.#words);
    this.item.append(this.#details);
    this.item.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.#button.setAttribute("aria-expanded", "false");
    this.#details?.remove();
    this.#details = null;
  }
}

/** A reading in a line. */
export function summary(reading) {
  if (!reading) return "";
  if (typeof reading.min === "number" && Array.isArray(reading.ranges)) {
    return text.slip.nearest(reading);
  }
  if (Number.isFinite(reading.x) && Number.isFinite(reading.y) && reading.speed !== undefined) {
    return text.slip.pose(reading);
  }
  return values(Object.fromEntries(Object.entries(reading).filter(([k, v]) => !Array.isArray(v) && k !== "time" && k !== "index").slice(0, 4)));
}

function values(object) {
  return Object.entries(object).map(([name, v]) => `${name} ${value(v)}`).join(" · ");
}

function details({ notification: n, matches, at }, words) {
  const rows = [];
  for (const { watch, values: selected } of matches) {
    rows.push(h("p", { class: "because" }, h("span", { class: "dot", "data-colour": watch.colour }), h("code", {}, watch.spec.condition)));
    if (selected) rows.push(table(selected, (_, v) => value(v)));
  }
  if (n.reading) {
    if (n.reading.angle_min !== undefined && n.reading.ranges?.length) rows.push(polar(n.reading));
    rows.push(table(n.reading, (name, v) => withUnit(words, n.interface, name, v)));
  }
  rows.push(h("p", { class: "hint" }, text.slip.about(n, clock(at))));
  rows.push(h("details", { class: "raw" }, h("summary", {}, "JSON"), h("pre", { tabindex: "0" }, pretty(n))));
  return h("div", { class: "reading" }, ...rows);
}

function table(object, worded) {
  const rows = Object.entries(object).map(([name, v]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, worded(name, v))));
  return h("table", {}, h("tbody", {}, ...rows));
}

/** JSON with arrays of numbers on one line. */
function pretty(object) {
  return JSON.stringify(object, null, 1).replace(/\[\s+(-?[\d.eE+-]+|null)(?:,\s+(?:-?[\d.eE+-]+|null))*\s+\]/g, (m) => m.replace(/\s+/g, " "));
}
