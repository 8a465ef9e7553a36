import { byId, h } from "./dom.js";
import { coloured, examples, offsetOf, vocabulary, wordEnd } from "./condition.js";
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

  /** @param {{watches: import("./watches.js").Watches, connected: () => boolean}} parts */
  constructor({ watches, connected }) {
    this.#watches = watches;
    this.#connected = connected;
    this.#form.addEventListener("submit", (e) => { e.preventDefault(); this.#submit(); });
    this.#form.addEventListener("input", () => this.#clearError());
    this.#box.addEventListener("input", () => this.#fitBox());
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
    this.#offerWords();
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
    this.#editing = watch;
    this.#setText(watch?.spec.condition ?? "");
    this.#fields.fill(watch?.spec ?? {});
    this.#clearError();
    this.#summary();
    this.#label();
    if (watch && summarise(watch.spec).length) byId("options").open = true;
  }

  #label() {
    byId("composer-mode").textContent = this.#editing ? "changing a subscription" : "";
    byId("cancel-edit").hidden = !this.#editing;
    const waiting = this.#busy && (this.#connected() ? "One moment…" : "Waiting for the broker…");
    byId("subscribe").textContent = waiting || (this.#editing ? "Change" : "Subscribe");
    byId("subscribe").setAttribute("aria-disabled", String(this.#busy));
    byId("composer").classList.toggle("editing", Boolean(this.#editing));
  }

  async #submit() {
    if (this.#busy) return;
    const condition = this.#box.value.trim() ? this.#box.value : "";
    if (!condition) return this.#show({ message: "Write a condition first, or take one of the examples." });
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

  /** Shows an error: below the box what is wrong, in the box where. */
  #show(error) {
    this.#box.setAttribute("aria-invalid", "true");
    const place = error.position;
    const lines = this.#box.value.split("\n").length;
    const where = !place ? "" : lines > 1 ? `line ${place.line}, column ${place.column}: ` : `column ${place.column}: `;
    this.#error.replaceChildren(...(where ? [h("span", { class: "where" }, where)] : []), error.message);
    this.#error.hidden = false;
    if (error.field && error.field !== "condition") {
      byId("options").open = true;
      byId(`opt-${error.field}`).setAttribute("aria-invalid", "true");
      byId(`opt-${error.field}`).focus();
    } else if (place) this.#mark(place);
  }

  #mark(place) {
    const text = this.#box.value;
    const from = offsetOf(text, place);
    const to = wordEnd(text, from);
    const mark = h("mark", { "data-line": place.line, "data-column": place.column }, text.slice(from, to) || "\u00a0");
    this.#marks.replaceChildren(text.slice(0, from), mark, text.slice(to) + "\n");
    this.#marks.scrollTop = this.#box.scrollTop;
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
      h("button", { type: "button", class: "chip", title, onclick: () => { this.#setText(condition); this.#clearError(); this.#box.focus(); } }, h("code", {}, ...coloured(condition)))));
  }

  #offerWords() {
    for (const [group, names] of vocabulary) {
      const words = names.map((name) => h("button", { type: "button", class: "word", onclick: () => this.#insert(name) }, name));
      byId("words-list").append(h("div", { class: "word-group", role: "group", "aria-label": group }, h("span", { class: "word-label" }, group), ...words));
    }
  }

  #insert(name) {
    const { selectionStart: from, selectionEnd: to, value } = this.#box;
    const blank = (c) => c === undefined || /[\s([,!]/.test(c);
    const text = (blank(value[from - 1]) ? "" : " ") + name + (blank(value[to]) || value[to] === ")" ? "" : " ");
    this.#box.setRangeText(text, from, to, "end");
    this.#clearError();
    this.#fitBox();
    this.#box.focus();
  }
}
