import { Emitter } from "../emitter.js";
import { byId, h, setText, throttled } from "./dom.js";
import { count } from "./format.js";
import { text } from "./text.js";

const period = 500; // ms between looks at how it goes
const speeds = [0.25, 0.5, 1, 2, 4, 8, 16, 0]; // 0: as fast as possible
const rowHeight = 9; // px
const mostRows = 8;

/**
 * The recorded run that the broker replays, if it does: play, pause, a slider to
 * seek with, the speed; and below the slider what the user's conditions found in
 * the whole run. Event: change.
 */
export class Replay extends Emitter {
  #watches;
  #theme;
  #words;
  #state = null; // as /api/replay gives it
  #wanted = null; // s, to be gone to
  #held = false; // somebody drags the slider
  #found = new Map(); // Watch → {key, marks, notifications, error}
  #canvas = byId("replay-marks");
  #slider = byId("replay-at");
  #seek = throttled(120, () => this.#change({ at: Number(this.#slider.value) }));

  constructor({ watches, theme, words }) {
    super();
    this.#watches = watches;
    this.#theme = theme;
    this.#words = words;
    words.on("change", () => this.#look());
    watches.on("list", () => this.#search());
    theme.on("change", () => this.#paint());
    byId("replay-play").addEventListener("click", () => this.#change({ playing: !this.#state?.playing }));
    this.#slider.addEventListener("input", () => { this.#held = true; this.#tell(Number(this.#slider.value)); this.#seek(); });
    this.#slider.addEventListener("change", () => { this.#held = false; });
    byId("replay-speed").append(...speeds.map((s) => h("option", { value: String(s) }, text.replay.speed(s))));
    byId("replay-speed").addEventListener("change", (e) => this.#change({ speed: Number(e.target.value) }));
    this.#canvas.addEventListener("click", (e) => this.#change({ at: (e.offsetX / this.#canvas.clientWidth) * this.#state.length }));
    new ResizeObserver(() => this.#paint()).observe(this.#canvas);
    setInterval(() => { if (!document.hidden) this.#look(); }, period);
  }

  /** How it goes, and how much was found, for tests; null: nothing is replayed. */
  get view() { return this.#state && { ...this.#state, found: [...this.#found.values()].map((f) => f.marks.length) }; }

  /** Goes to a time of the run (s), and waits there, as soon as it is known that there is one. */
  begin(at) {
    this.#wanted = at;
    if (this.#state) this.#arrive();
  }

  #arrive() {
    const at = this.#wanted;
    this.#wanted = null;
    if (at !== null) this.#change({ at, playing: false });
  }

  async #ask(path, body) {
    const url = new URL(`api/${path}`, document.baseURI);
    url.username = url.password = ""; // fetch refuses them; the browser knows them by now
    const answer = await fetch(url, body && { method: "POST", body: JSON.stringify(body) });
    const result = await answer.json();
    if (!answer.ok) throw new Error(result.message ?? answer.statusText);
    return result;
  }

  async #look() {
    if (!this.#words.extras.includes("replay")) return;
    try {
      this.#take(await this.#ask("replay"));
    } catch {
      // the broker is gone; the masthead says so
    }
  }

  async #change(what) {
    try {
      this.#take(await this.#ask("replay", what));
      setText(byId("replay-problem"), "");
    } catch (error) {
      setText(byId("replay-problem"), error.message);
    }
  }

  #take(state) {
    const before = this.#state;
    const first = before === null;
    this.#state = state;
    byId("replay").hidden = false;
    this.#slider.max = String(state.length);
    if (!this.#held) this.#slider.value = String(state.at);
    this.#tell(this.#held ? Number(this.#slider.value) : state.at);
    const play = byId("replay-play");
    const label = state.playing ? text.replay.pause : text.replay.play;
    if (play.getAttribute("aria-label") !== label) {
      play.setAttribute("aria-label", label);
      play.title = label;
      play.querySelector("use").setAttribute("href", state.playing ? "#i-pause" : "#i-play");
    }
    if (document.activeElement !== byId("replay-speed")) byId("replay-speed").value = String(state.speed);
    setText(byId("replay-files"), state.files.map((f) => f.split(/[\\/]/).at(-1)).join(", "));
    if (first) {
      this.#search();
      this.#arrive();
    }
    if (before?.at !== state.at || before?.playing !== state.playing) this.emit("change");
    this.#paint();
  }

  #tell(at) {
    const said = text.replay.at(at, this.#state.length);
    setText(byId("replay-time"), said);
    this.#slider.setAttribute("aria-valuetext", said);
  }

  /** Asks what each subscription would have been told of the whole run. */
  #search() {
    if (!this.#state) return;
    const watches = this.#watches.all;
    for (const watch of this.#found.keys()) if (!watches.includes(watch)) this.#found.delete(watch);
    for (const watch of watches) {
      const { condition, robots, devices, trigger, min_interval, for: held } = watch.spec;
      const asked = JSON.parse(JSON.stringify({ condition, robots, devices, trigger, min_interval, for: held }));
      const key = JSON.stringify(asked);
      if (this.#found.get(watch)?.key === key) continue;
      this.#found.set(watch, { key, marks: [], notifications: 0, searching: true });
      this.#searchFor(watch, key, asked);
    }
    this.#paint();
  }

  async #searchFor(watch, key, asked) {
    let found;
    try {
      const { marks, notifications, more } = await this.#ask("replay/found", asked);
      found = { key, marks, notifications, more };
    } catch (error) {
      found = { key, marks: [], notifications: 0, error: error.message };
    }
    if (this.#found.get(watch)?.key !== key) return; // it has changed meanwhile
    this.#found.set(watch, found);
    this.#paint();
  }

  /** A row for each subscription, as long as the slider. */
  #paint() {
    if (!this.#state) return;
    const rows = [...this.#found].slice(0, mostRows);
    const canvas = this.#canvas;
    canvas.style.width = `${this.#slider.clientWidth}px`; // below the slider
    canvas.style.height = `${rows.length * rowHeight}px`;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const [w, high] = [Math.round(width * ratio), Math.round(rows.length * rowHeight * ratio)];
    if (canvas.width !== w || canvas.height !== high) [canvas.width, canvas.height] = [w, high];
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, rows.length * rowHeight);
    const scale = width / Math.max(this.#state.length, 1e-9);
    rows.forEach(([watch, { marks }], i) => {
      c.fillStyle = this.#theme["grid-strong"];
      c.fillRect(0, i * rowHeight + rowHeight / 2, width, 1);
      c.fillStyle = this.#theme.colour(watch.colour);
      for (const m of marks) c.fillRect(m.from * scale - 1, i * rowHeight + 1, Math.max(2, (m.to - m.from) * scale + 1), rowHeight - 2);
    });
    c.fillStyle = this.#theme.ink;
    c.fillRect(this.#state.at * scale, 0, 1, rows.length * rowHeight);
    setText(byId("replay-found"), rows.map(([watch, f]) => `${watch.spec.condition}: ${f.searching ? text.replay.searching : f.error ?? text.replay.found(count(f.notifications), f.marks.length, f.more)}`).join("; "));
    canvas.setAttribute("aria-label", byId("replay-found").textContent || text.replay.none);
  }
}
