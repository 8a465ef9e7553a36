import { Emitter } from "../emitter.js";

const names = ["paper", "ink", "ink-2", "ink-3", "grid", "grid-strong", "wall", "wall-fill", "floor", "scan", "scan-hit", "sonar", "accent", "danger",
  "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];

/** How many colours there are for subscriptions. */
export const colours = 8;

/** The style sheet's colours for the canvas, light or dark as the system is. */
export class Theme extends Emitter {
  constructor() {
    super();
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.#read();
    for (const query of [this.dark, this.still]) {
      query.addEventListener("change", () => {
        this.#read();
        this.emit("change");
      });
    }
  }

  colour(index) { return this[`c${index % colours}`]; }

  #read() {
    // Kept, since a browser tells of no change that was looked at before.
    this.isDark = this.dark.matches;
    this.isStill = this.still.matches; // nothing is to be animated for its own sake
    const style = getComputedStyle(document.documentElement);
    for (const name of names) this[name] = style.getPropertyValue(`--${name}`).trim();
    this.font = style.getPropertyValue("--sans").trim() || "sans-serif";
  }
}
