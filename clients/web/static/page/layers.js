import { Emitter } from "../emitter.js";
import { byId } from "./dom.js";

/** What the map shows beside robots: scans, sonar, trails, names, zones, brokers' coverage. Event: change. */
export class Layers extends Emitter {
  #boxes = {};

  constructor() {
    super();
    for (const name of ["scans", "sonar", "trails", "names", "zones", "network"]) {
      this.#boxes[name] = byId(`layer-${name}`);
      this.#boxes[name].addEventListener("change", () => this.emit("change", name));
    }
    const details = byId("layers");
    document.addEventListener("pointerdown", (e) => { if (!details.contains(e.target)) details.open = false; });
    details.addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || !details.open) return;
      details.open = false;
      details.querySelector("summary").focus();
    });
  }

  shows(name) { return this.#boxes[name].checked; }

  /** Offers the network's layer, or does not. */
  offerNetwork(on) { byId("layer-network-label").hidden = !on; }

  /** Says why less is shown than asked for; "" for nothing. */
  note(text) {
    byId("layer-note").hidden = !text;
    byId("layer-note").textContent = text;
  }
}
