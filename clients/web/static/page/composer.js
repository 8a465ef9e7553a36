import { byId, h, setText } from "./dom.js";
import { Completion, offerRobots, offersIn } from "./completion.js";
import { coloured, examples, offsetOf, wordEnd } from "./condition.js";
import { text } from "./text.js";
import { OptionFields, summarise } from "./options.js";

/** The box for a condition, its options, and the broker's errors at their place. */
export class Composer {
  #watches;
  #connected;
  #form = byId("composer");
  #box = byId("condition");
  #marks = byId("condition-marks");
  #error = byId("condition-error");
  #fields = new OptionFields();
  #editing = null; // a Watch
  #busy = false;
  #draft;
  #words;

  /** @param {{watches: import("./watches.js").Watches, draft: object, words: object, robots: object, connected: () => boolean}} parts */
  constructor({ watches, draft, words, robots, connected }) {
    this.#watches = watches;
    this.#draft = draft;
    this.#words = words;
    this.#connected = connected;
    new Completion(this.#box, (before) => offersIn(before, { words, robots }), () => this.#edited());
    new Completion(byId("opt-robots"), (before) => offerRobots(before, { robots }), () => this.#edited());
    draft.on("change", () => this.#tried());
    setInterval(() => this.#foretell(), 500);
    this.#form.addEventListener("submit", (e) => { e.preventDefault(); this.#submit(); });
    this.#form.addEventListener("input", () => this.#edited());
    this.#box.addEventListener("scroll", () => { this.#marks.scrollTop = this.#box.scrollTop; });
    this.#box.addEventListener("keydown", (e) => {
      if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
      e.preventDefault();
      this.#submit();
    });
    byId("cancel-edit").addEventListener("click", () => this.#begin(null));
    byId("options").addEventListener("input", () => this.#summary());
    watches.on("list", () => {
      byId("examples").hidden = watches.all.length > 0; // known by now
      if (this.#editing && !watches.get(this.#editing.id)) this.#begin(null);
    });
    this.#offerExamples();
    words.on("change", () => this.#offerWords());
    new ResizeObserver(() => this.#fitBox()).observe(this.#form);
    this.#summary();
  }

  /** Takes a subscription into the box, to be changed. */
  edit(watch) {
    this.#begin(watch);
    this.#box.focus();
    this.#form.scrollIntoView({ block: "nearest" });
  }

  /** Restricts what is written to one robot. */
  forRobot(name) {
    this.#fields.robots = [name.replace(/[\\*?[]/g, "\\$&")];
    byId("options").open = true;
    this.#summary();
    this.#box.focus();
  }

  #begin(watch) {
    this.#draft.write(null);
    this.#editing = watch;
    this.#setText(watch?.spec.condition ?? "");
    this.#fields.fill(watch?.spec ?? {});
    this.#clearError();
    this.#summary();
    this.#label();
    if (watch && summarise(watch.spec).length) byId("options").open = true;
  }

  #label() {
    byId("composer-mode").textContent = this.#editing ? text.composer.changing : "";
    byId("cancel-edit").hidden = !this.#editing;
    const waiting = this.#busy && (this.#connected() ? text.composer.moment : text.map.waiting);
    byId("subscribe").textContent = waiting || (this.#editing ? text.cards.change : text.composer.subscribe);
    byId("subscribe").setAttribute("aria-disabled", String(this.#busy));
    byId("composer").classList.toggle("editing", Boolean(this.#editing));
  }

  /** Somebody has changed something: the broker tries it. */
  #edited() {
    this.#clearError();
    this.#fitBox();
    this.#summary();
    const condition = this.#box.value.trim() ? this.#box.value : "";
    this.#draft.write(condition ? { condition, ...this.#fields.peek() } : null);
    this.#foretell();
  }

  /** The broker has tried what is in the box. */
  #tried() {
    if (this.#draft.error && !this.#busy) this.#show(this.#draft.error, false);
    this.#foretell();
  }

  /** What it would do, while it is written. */
  #foretell() {
    const { matching, firings, running } = this.#draft;
    const said = !running ? "" : matching.known === 0 ? text.draft.nobody : `${text.draft.matching(matching)}; ${text.draft.fired(firings)}`;
    setText(byId("draft"), said);
    byId("draft").hidden = !said;
  }

  async #submit() {
    if (this.#busy) return;
    const condition = this.#box.value.trim() ? this.#box.value : "";
    this.#draft.write(null); // it would be tried twice
    if (!condition) return this.#show({ message: text.composer.nothing });
    this.#busy = true;
    this.#label();
    try {
      const spec = { condition, ...this.#fields.read() };
      if (this.#editing) await this.#watches.change(this.#editing, spec);
      else await this.#watches.add(spec);
      this.#begin(null);
      byId("options").open = false;
    } catch (error) {
      this.#show(error);
    } finally {
      this.#busy = false;
      this.#label();
    }
  }

  /** Shows an error: below the box what is wrong, in the box where; the caret goes there unless somebody types. */
  #show(error, go = true) {
    this.#box.setAttribute("aria-invalid", "true");
    const place = error.position;
    const lines = this.#box.value.split("\n").length;
    const where = place ? text.composer.where(place, lines > 1) : "";
    this.#error.replaceChildren(...(where ? [h("span", { class: "where" }, where)] : []), error.message);
    this.#error.hidden = false;
    if (error.field && error.field !== "condition") {
      byId("options").open = true;
      byId(`opt-${error.field}`).setAttribute("aria-invalid", "true");
      if (go) byId(`opt-${error.field}`).focus();
    } else if (place) this.#mark(place, go);
  }

  #mark(place, go) {
    const written = this.#box.value;
    const from = offsetOf(written, place);
    const to = wordEnd(written, from);
    const mark = h("mark", { "data-line": place.line, "data-column": place.column }, written.slice(from, to) || "\u00a0");
    this.#marks.replaceChildren(written.slice(0, from), mark, written.slice(to) + "\n");
    this.#marks.scrollTop = this.#box.scrollTop;
    if (!go) return;
    this.#box.focus();
    this.#box.setSelectionRange(from, from);
  }

  #clearError() {
    this.#error.hidden = true;
    this.#error.textContent = "";
    this.#marks.textContent = "";
    for (const field of this.#form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  }

  #setText(text) {
    this.#box.value = text;
    this.#fitBox();
  }

  /** The box is as high as its text. */
  #fitBox() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${this.#box.scrollHeight + 2}px`;
  }

  #summary() { byId("options-summary").textContent = summarise(this.#fields.peek()).join(" · "); }

  #offerExamples() {
    byId("examples").append(...examples.map(({ condition, title }) =>
      h("button", { type: "button", class: "chip", title, onclick: () => { this.#box.value = condition; this.#edited(); this.#box.focus(); } }, h("code", {}, ...coloured(condition)))));
  }

  #offerWords() {
    const words = this.#words;
    const groups = [
      [text.words.reading, words.variables.map(({ name, doc }) => ({ name, doc }))],
      ...words.kinds.map((k) => [k.name, k.fields.map((f) => ({ name: `${k.name}.${f.name}`, doc: f.doc }))]),
      [text.words.before, [{ name: "prev.position.x", doc: text.words.prev }]],
      [text.words.functions, words.functions.map((f) => ({ name: `${f.name}(${f.args})`, doc: f.doc }))],
      [text.words.zones, Object.keys(words.zones).map((name) => ({ name: `inside("${name}")`, doc: text.completion.zone }))],
    ];
    byId("words-list").replaceChildren(...groups.filter(([, names]) => names.length).map(([group, names]) =>
      h("div", { class: "word-group", role: "group", "aria-label": group }, h("span", { class: "word-label" }, group),
        ...names.map(({ name, doc }) => h("button", { type: "button", class: "word", title: doc, onclick: () => this.#insert(name) }, name)))));
  }

  #insert(name) {
    const { selectionStart: from, selectionEnd: to, value } = this.#box;
    const blank = (c) => c === undefined || /[\s([,!]/.test(c);
    const inserted = (blank(value[from - 1]) ? "" : " ") + name + (blank(value[to]) || value[to] === ")" ? "" : " ");
    this.#box.setRangeText(inserted, from, to, "end");
    this.#edited();
    this.#box.focus();
  }
}
