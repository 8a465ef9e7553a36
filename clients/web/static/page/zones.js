import { Emitter } from "../emitter.js";
import { byId, setText } from "./dom.js";
import { text } from "./text.js";

const near = 9; // px; a corner at the first or last one ends the zone
const least = 3; // corners

/**
 * Zones: those of the broker's configuration, and one that somebody draws on the
 * map, corner by corner, to be copied into a configuration. Event: change.
 */
export class Zones extends Emitter {
  #words;
  drawing = null; // [[x, y], …] so far
  drawn = null; // the same, done

  constructor({ words }) {
    super();
    this.#words = words;
    words.on("change", () => this.emit("change"));
    byId("draw-zone").addEventListener("click", () => this.toggle());
    byId("zone-name").addEventListener("input", () => this.#write());
    byId("zone-copy").addEventListener("click", () => this.#copy());
    byId("zone-discard").addEventListener("click", () => this.#become(null, null));
  }

  /** The broker's: [name, [[x, y], …]]. */
  get configured() { return Object.entries(this.#words.zones); }

  /** Begins a zone, or ends the one that is being drawn. */
  toggle() {
    if (this.drawing) this.finish();
    else this.#become([], null);
  }

  /** A corner, in m. scale: px per m, to tell whether it ends the zone. */
  corner(x, y, scale) {
    const at = [x, y].map((v) => Math.round(v * 100) / 100);
    const meets = (p) => p && Math.hypot(p[0] - x, p[1] - y) * scale < near;
    if (meets(this.drawing[0]) || meets(this.drawing.at(-1))) return this.finish();
    this.#become([...this.drawing, at], null);
  }

  /** Takes the last corner back. */
  back() { this.#become(this.drawing.slice(0, -1), null); }

  cancel() { this.#become(null, this.drawn); }

  finish() {
    if (this.drawing.length < least) return this.#become(null, null);
    this.#become(null, this.drawing);
    byId("zone-name").focus();
    byId("zone-name").select();
  }

  #become(drawing, drawn) {
    this.drawing = drawing;
    this.drawn = drawn;
    byId("draw-zone").setAttribute("aria-pressed", String(drawing !== null));
    byId("zone").hidden = !drawing && !drawn;
    byId("zone-done").hidden = !drawn;
    setText(byId("zone-hint"), drawing ? text.zones.corners(drawing.length, least) : "");
    byId("zone-hint").hidden = !drawing;
    setText(byId("zone-said"), "");
    this.#write();
    this.emit("change");
  }

  #write() { byId("zone-toml").value = this.drawn ? toml(byId("zone-name").value, this.drawn) : ""; }

  async #copy() {
    const field = byId("zone-toml");
    field.select();
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
      else document.execCommand("copy"); // not on https nor localhost
      setText(byId("zone-said"), text.zones.copied);
    } catch {
      setText(byId("zone-said"), text.zones.selected);
    }
  }
}

/** A zone as it stands in a broker's configuration. */
export function toml(name, points) {
  const key = /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
  return `[zones]\n${key} = [${points.map(([x, y]) => `[${x}, ${y}]`).join(", ")}]\n`;
}

/** Paints the zones; takes what paint.js takes. */
export function paintZones(c, camera, theme, ratio, zones) {
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.lineJoin = "round";
  for (const [name, points] of zones.configured) trace(c, camera, points, { theme, name, colour: theme["ink-2"] });
  if (zones.drawn) trace(c, camera, zones.drawn, { theme, name: byId("zone-name").value, colour: theme.accent });
  const corners = zones.drawing;
  if (!corners) return;
  trace(c, camera, corners, { theme, name: "", colour: theme.accent, open: true });
  c.fillStyle = theme.accent;
  for (const [x, y] of corners) {
    const [px, py] = camera.toScreen(x, y);
    c.fillRect(px - 3, py - 3, 6, 6);
  }
  const [mx, my] = [camera.width / 2, camera.height / 2]; // where the key sets a corner
  c.strokeStyle = theme.accent;
  c.lineWidth = 1;
  c.beginPath();
  for (const [dx, dy] of [[8, 0], [0, 8]]) {
    c.moveTo(mx - dx, my - dy);
    c.lineTo(mx + dx, my + dy);
  }
  c.stroke();
}

function trace(c, camera, points, { theme, name, colour, open = false }) {
  const places = points.map(([x, y]) => camera.toScreen(x, y));
  if (!places.length) return;
  c.beginPath();
  places.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  if (!open) c.closePath();
  c.strokeStyle = c.fillStyle = colour;
  c.globalAlpha = 0.08;
  if (!open) c.fill();
  c.globalAlpha = 0.9;
  c.lineWidth = 1.5;
  c.setLineDash([6, 4]);
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 1;
  if (!name) return;
  const x = places.reduce((sum, p) => sum + p[0], 0) / places.length;
  const y = places.reduce((sum, p) => sum + p[1], 0) / places.length;
  c.font = `italic 500 12px ${theme.font}`;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(name, x, y);
}
