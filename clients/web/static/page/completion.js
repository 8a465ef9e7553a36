import { h } from "./dom.js";
import { text } from "./text.js";

const most = 6; // offers shown

/**
 * Offers names under a text field while somebody types. Up and down choose, Tab
 * or Enter take what is chosen (Tab without a choice the first), Escape closes.
 */
export class Completion {
  #field;
  #source;
  #list;
  #offers = []; // {insert, name, detail, doc}
  #from = 0; // where in the text the word begins
  #chosen = -1;
  #taken;

  /**
   * @param {HTMLElement} field a textarea or input; the list is put behind it
   * @param {function} source source(text before the caret): {from, offers} or null
   * @param {function} taken called when something was taken
   */
  constructor(field, source, taken = () => {}) {
    this.#field = field;
    this.#source = source;
    this.#taken = taken;
    this.#list = h("ul", { class: "completion", id: `${field.id}-completion`, role: "listbox", "aria-label": text.completion.label, hidden: true });
    field.after(this.#list);
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", this.#list.id);
    field.addEventListener("input", () => this.#look());
    field.addEventListener("blur", () => this.close());
    field.addEventListener("keydown", (e) => this.#key(e));
    field.addEventListener("click", () => this.close());
  }

  get open() { return !this.#list.hidden; }

  close() {
    this.#list.hidden = true;
    this.#chosen = -1;
    this.#field.removeAttribute("aria-activedescendant");
  }

  #look() {
    const before = this.#field.value.slice(0, this.#field.selectionStart);
    const found = this.#source(before);
    this.#offers = found?.offers.slice(0, most) ?? [];
    this.#from = found?.from ?? 0;
    const word = before.slice(this.#from);
    if (!this.#offers.length || (this.#offers.length === 1 && this.#offers[0].insert === word)) return this.close();
    this.#chosen = -1;
    this.#list.replaceChildren(...this.#offers.map((o, i) =>
      h("li", { role: "option", id: `${this.#list.id}-${i}`, "aria-selected": "false", title: o.doc, onpointerdown: (e) => { e.preventDefault(); this.#take(i); } },
        h("span", { class: "offer" }, o.name), o.detail ? h("span", { class: "detail" }, o.detail) : null, h("span", { class: "doc" }, o.doc ?? ""))));
    this.#list.hidden = false;
  }

  #key(e) {
    if (!this.open || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    const actions = {
      ArrowDown: () => this.#choose(1),
      ArrowUp: () => this.#choose(-1),
      Escape: () => this.close(),
      Tab: e.shiftKey ? null : () => this.#take(Math.max(0, this.#chosen)),
      Enter: this.#chosen >= 0 ? () => this.#take(this.#chosen) : null,
    };
    const action = actions[e.key];
    if (!action) return;
    e.preventDefault();
    e.stopImmediatePropagation(); // it is not for the field
    action();
  }

  #choose(step) {
    const items = this.#list.children;
    items[this.#chosen]?.setAttribute("aria-selected", "false");
    this.#chosen = (this.#chosen + step + items.length + (this.#chosen < 0 && step < 0 ? 1 : 0)) % items.length;
    items[this.#chosen].setAttribute("aria-selected", "true");
    this.#field.setAttribute("aria-activedescendant", items[this.#chosen].id);
  }

  #take(i) {
    this.#field.setRangeText(this.#offers[i].insert, this.#from, this.#field.selectionStart, "end");
    this.close();
    this.#taken();
  }
}

/** What may stand in a condition where the text ends: names, or in a string robots and zones. */
export function offersIn(before, { words, robots }) {
  const string = /(?:(inside)\s*\(\s*|(\brobot)\s*(?:==|!=|in\s*\[(?:[^\]]*,)?|matches|startsWith)\s*)(["'])([^"']*)$/.exec(before);
  if (string) {
    const [, zone, , quote, word] = string;
    const names = zone ? Object.keys(words.zones) : robots.all.map((r) => r.name);
    return offer(names.map((name) => ({ name, insert: `${name}${quote}`, doc: zone ? text.completion.zone : text.completion.robot })), word, before.length - word.length);
  }
  const open = /^(?:[^"']|"[^"]*"|'[^']*')*["'][^"']*$/.test(before);
  const word = /(?:[\p{L}_][\p{L}\p{N}_.]*)$/u.exec(before)?.[0];
  if (open || !word) return null;
  const prev = word.startsWith("prev.") ? "prev." : "";
  return offer(words.names, word.slice(prev.length), before.length - word.length + prev.length);
}

/** Robots' names, where they stand blank-separated. */
export function offerRobots(before, { robots }) {
  const word = /[^\s,]*$/.exec(before)[0];
  if (!word) return null;
  return offer(robots.all.map(({ name }) => ({ name, insert: name, doc: text.completion.robot })), word, before.length - word.length);
}

/** Those that begin so first, then those that have it anywhere. */
function offer(all, word, from) {
  const low = word.toLowerCase();
  const begins = all.filter((o) => o.name.toLowerCase().startsWith(low));
  const has = low.length > 1 ? all.filter((o) => !begins.includes(o) && o.name.toLowerCase().includes(low)) : [];
  return { from, offers: [...begins, ...has] };
}
