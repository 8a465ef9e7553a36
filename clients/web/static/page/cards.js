import { byId, h, icon, setText } from "./dom.js";
import { coloured } from "./condition.js";
import { count, rate } from "./format.js";
import { text } from "./text.js";
import { summarise } from "./options.js";

/** The live subscriptions, one card each, with colour, counts and a minute's chart. */
export class Cards {
  #watches;
  #actions;
  #list = byId("subscriptions");
  #cards = new Map(); // Watch → {item, parts}

  /** @param {{watches: object, edit: function, filter: function}} parts edit(watch), filter(watch) */
  constructor({ watches, edit, filter }) {
    this.#watches = watches;
    this.#actions = { edit, filter };
    watches.on("list", () => this.#arrange());
    setInterval(() => this.#count(), 500);
    this.#arrange();
  }

  #arrange() {
    const watches = this.#watches.all;
    for (const [watch, card] of this.#cards) {
      if (watches.includes(watch)) continue;
      card.item.remove();
      this.#cards.delete(watch);
    }
    for (const watch of watches) {
      if (!this.#cards.has(watch)) this.#cards.set(watch, this.#make(watch));
      this.#describe(watch, this.#cards.get(watch));
    }
    for (const [i, watch] of watches.entries()) {
      const { item } = this.#cards.get(watch);
      if (this.#list.children[i] !== item) this.#list.insertBefore(item, this.#list.children[i] ?? null);
    }
    this.#count();
  }

  #make(watch) {
    const parts = {
      code: h("code", { class: "condition" }),
      options: h("p", { class: "card-options" }),
      count: h("span", { class: "number" }),
      rate: h("span", { class: "number" }),
      robots: h("span", { class: "card-robots" }),
      chart: chart(),
      problem: h("p", { class: "problem" }),
    };
    const button = (name, label, action) => h("button", { type: "button", class: "icon", title: label, "aria-label": `${label}: ${watch.spec.condition}`, onclick: action }, icon(name));
    const item = h("li", { class: "card", "data-colour": watch.colour, "data-id": watch.id },
      h("div", { class: "card-head" }, parts.code,
        h("div", { class: "card-actions" },
          button("filter", text.cards.only, () => this.#actions.filter(watch)),
          button("edit", text.cards.change, () => this.#actions.edit(watch)),
          button("close", text.cards.unsubscribe, () => this.#remove(watch)))),
      parts.options,
      h("div", { class: "card-foot" }, h("span", { class: "card-counts" }, parts.count, parts.rate, parts.robots), parts.chart.svg),
      parts.problem);
    return { item, parts };
  }

  #describe(watch, { parts }) {
    parts.code.replaceChildren(...coloured(watch.spec.condition));
    const options = summarise(watch.spec);
    parts.options.hidden = !options.length;
    setText(parts.options, options.join(" · "));
    const s = watch.subscription;
    setText(parts.robots, s ? text.cards.count(s.robots) : watch.problem ? "" : text.cards.waiting);
    parts.robots.title = text.cards.robots;
    const problem = watch.problem ? watch.problem.message : s?.warning ?? "";
    parts.problem.hidden = !problem;
    parts.problem.classList.toggle("warning", !watch.problem);
    setText(parts.problem, problem);
  }

  #count() {
    const now = Date.now();
    for (const [watch, { parts }] of this.#cards) {
      setText(parts.count, count(watch.meter.total));
      setText(parts.rate, rate(watch.meter.rate(now)));
      parts.chart.draw(watch.meter.history(now));
    }
  }

  #remove(watch) {
    const items = this.#list.children;
    const next = this.#cards.get(watch).item.nextElementSibling ?? this.#cards.get(watch).item.previousElementSibling;
    this.#watches.remove(watch);
    (items.length && next ? next.querySelector("button") : byId("condition")).focus();
  }
}

/** A bar chart of counts, one bar a second. */
function chart() {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  const path = document.createElementNS(ns, "path");
  svg.setAttribute("class", "chart");
  svg.setAttribute("viewBox", "0 0 120 20");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(path);
  let drawn = "";
  return {
    svg,
    draw(history) {
      const most = Math.max(4, ...history);
      const d = history.map((n, i) => (n ? `M${i * 2 + 1} 20v${(-19 * n) / most - 1}` : "")).join("");
      if (d !== drawn) path.setAttribute("d", (drawn = d));
    },
  };
}
