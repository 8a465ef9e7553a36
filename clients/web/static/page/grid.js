import { h, setText } from "./dom.js";
import { text } from "./text.js";

const most = 300; // rows shown

/** A table that is brought up to date row by row, by key. Hidden while it has none. */
export class Grid {
  #section;
  #body;
  #more;
  #rows = new Map(); // key → {item, cells}
  #columns;

  /** @param {HTMLElement} section its heading is in the markup. @param {{name: string, number: boolean}[]} columns */
  constructor(section, columns) {
    this.#section = section;
    this.#columns = columns;
    this.#body = h("tbody", {});
    this.#more = h("p", { class: "hint", hidden: true });
    section.append(h("div", { class: "grid-box", tabindex: "0", role: "group", "aria-labelledby": section.getAttribute("aria-labelledby") },
      h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ...columns.map((c) => h("th", { scope: "col", class: c.number ? "number" : null }, c.name)))), this.#body)), this.#more);
  }

  /** @param {{key: string, cells: string[], kind: string, colour: number}[]} rows kind: a class of the row's */
  show(rows) {
    this.#section.hidden = rows.length === 0;
    const shown = rows.slice(0, most);
    const keys = new Set(shown.map((r) => r.key));
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      row.item.remove();
      this.#rows.delete(key);
    }
    shown.forEach((r, i) => {
      let row = this.#rows.get(r.key);
      if (!row) {
        const cells = this.#columns.map((c) => h("td", { class: c.number ? "number" : null }));
        row = { item: h("tr", { "data-key": r.key }, ...cells), cells };
        this.#rows.set(r.key, row);
      }
      if (this.#body.children[i] !== row.item) this.#body.insertBefore(row.item, this.#body.children[i] ?? null);
      row.item.className = r.kind ?? "";
      row.cells.forEach((cell, at) => setText(cell, r.cells[at] ?? ""));
    });
    const left = rows.length - shown.length;
    this.#more.hidden = left === 0;
    setText(this.#more, left ? text.fleet.more(left) : "");
  }
}
