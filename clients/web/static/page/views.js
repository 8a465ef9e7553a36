import { Emitter } from "../emitter.js";
import { byId } from "./dom.js";

const names = ["conditions", "robot", "fleet"];

/** What the board shows: one of several panels, chosen by tabs. Event: show. */
export class Views extends Emitter {
  current = names[0];

  constructor() {
    super();
    for (const [i, name] of names.entries()) {
      const tab = byId(`tab-${name}`);
      tab.addEventListener("click", () => this.show(name));
      tab.addEventListener("keydown", (e) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!step) return;
        e.preventDefault();
        const next = names[(i + step + names.length) % names.length];
        this.show(next);
        byId(`tab-${next}`).focus();
      });
    }
    this.#arrange();
  }

  show(name) {
    if (!names.includes(name) || name === this.current) return;
    this.current = name;
    this.#arrange();
    this.emit("show", name);
  }

  #arrange() {
    document.body.dataset.view = this.current;
    for (const name of names) {
      const chosen = name === this.current;
      byId(`view-${name}`).hidden = !chosen;
      byId(`tab-${name}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    }
  }
}
