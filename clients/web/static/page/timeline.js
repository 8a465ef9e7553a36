import { Emitter } from "../emitter.js";
import { byId, setText, throttled } from "./dom.js";
import { clock, count, plural } from "./format.js";
import { text } from "./text.js";

const rowHeight = 16; // px
const axisHeight = 20;
const labelWidth = 170;
const mostRows = 80; // above, a condition is one row
const first = 60_000; // ms that are shown at first
const [closest, widest] = [500, 24 * 3600_000];
const hit = 7; // px
const byName = new Intl.Collator("en", { numeric: true });

/**
 * What has fired, over time: a row for each condition and robot. It follows now
 * until somebody pans; drag, wheel or keys pan and zoom, a mark shows its robot
 * as it was. Event: window (another time is shown).
 */
export class TimeLine extends Emitter {
  #past;
  #theme;
  #show;
  #canvas = byId("time");
  #span = first;
  #end = null; // ms; null: now
  #rows = []; // {watch, robot: name or "", marks, from: index of the first}
  #chosen = null; // a mark
  #drag = null;
  #draw = throttled(150, () => this.#paint());

  /** @param {{past: object, theme: object, show: function}} parts show(entry): a notification of the past */
  constructor({ past, theme, show }) {
    super();
    this.#past = past;
    this.#theme = theme;
    this.#show = show;
    past.on("change", this.#draw);
    theme.on("change", this.#draw);
    new ResizeObserver(this.#draw).observe(this.#canvas.parentElement);
    setInterval(() => { if (this.#end === null && !document.hidden) this.#draw(); }, 500);
    const c = this.#canvas;
    c.addEventListener("pointerdown", (e) => this.#down(e));
    c.addEventListener("pointermove", (e) => this.#move(e));
    c.addEventListener("pointerup", (e) => this.#up(e));
    c.addEventListener("pointercancel", () => { this.#drag = null; });
    c.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    c.addEventListener("keydown", (e) => this.#key(e));
    byId("time-now").addEventListener("click", () => this.#follow());
    byId("time-in").addEventListener("click", () => this.#zoom(0.5));
    byId("time-out").addEventListener("click", () => this.#zoom(2));
    this.#paint();
  }

  /** What is shown, in ms. */
  get window() {
    const end = this.#end ?? Date.now();
    return { from: end - this.#span, to: end, following: this.#end === null, rows: this.#rows.length, chosen: this.#chosen?.robot ?? null };
  }

  get #width() { return Math.max(40, this.#canvas.clientWidth - labelWidth - 8); }
  #x(ms) { return labelWidth + (this.#width * (ms - this.window.from)) / this.#span; }
  #at(x) { return this.window.from + ((x - labelWidth) / this.#width) * this.#span; }

  /** Shows the time before end (ms). */
  look(end) {
    this.#end = end >= Date.now() ? null : end;
    this.emit("window");
    this.#draw();
  }

  #follow() {
    this.#end = null;
    this.emit("window");
    this.#draw();
  }

  pan(ms) {
    this.look(this.window.to + ms);
  }

  /** Zooms about a time, or about the end if it follows. */
  #zoom(factor, about = this.#end === null ? Date.now() : (this.window.from + this.window.to) / 2) {
    const span = Math.min(widest, Math.max(closest, this.#span * factor));
    const { to } = this.window;
    const end = about + ((to - about) * span) / this.#span;
    if (this.#end !== null) this.#end = Math.min(end, Date.now());
    this.#span = span;
    this.emit("window");
    this.#draw();
  }

  #wheel(e) {
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      return this.pan(((e.deltaX || e.deltaY) / this.#width) * this.#span);
    }
    if (!e.ctrlKey && this.#canvas.parentElement.scrollHeight > this.#canvas.parentElement.clientHeight && e.offsetX < labelWidth) return; // the rows scroll
    e.preventDefault();
    this.#zoom(Math.exp(Math.max(-240, Math.min(240, e.deltaY)) * 0.003), this.#at(e.offsetX));
  }

  #down(e) {
    if (e.pointerType === "mouse" && e.button !== 0) return;
    this.#canvas.setPointerCapture(e.pointerId);
    this.#drag = { x: e.offsetX, moved: 0 };
  }

  #move(e) {
    if (!this.#drag) return;
    const dx = e.offsetX - this.#drag.x;
    this.#drag.moved += Math.abs(dx);
    this.#drag.x = e.offsetX;
    if (this.#drag.moved > 4) this.pan((-dx / this.#width) * this.#span);
  }

  #up(e) {
    const click = this.#drag && this.#drag.moved <= 4;
    this.#drag = null;
    if (click) this.#pick(e.offsetX, e.offsetY);
  }

  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const actions = {
      ArrowLeft: () => this.pan(-this.#span / 8),
      ArrowRight: () => this.pan(this.#span / 8),
      "+": () => this.#zoom(0.7),
      "=": () => this.#zoom(0.7),
      "-": () => this.#zoom(1 / 0.7),
      0: () => this.#follow(),
      "[": () => this.#step(-1),
      "]": () => this.#step(1),
    };
    if (!actions[e.key]) return;
    e.preventDefault();
    actions[e.key]();
  }

  /** Chooses the mark before or after the chosen one. */
  #step(by) {
    const marks = this.#past.marks;
    const at = marks.indexOf(this.#chosen);
    const next = at < 0 ? marks.at(-1) : marks[at + by];
    if (!next) return;
    const { from, to } = this.window;
    if (next.from < from || next.from > to) this.#end = next.from + this.#span / 2;
    this.#choose(next);
  }

  #pick(x, y) {
    const row = this.#rows[Math.floor((y - axisHeight) / rowHeight)];
    if (!row) return;
    let best = null;
    for (const mark of row.marks) {
      const far = Math.max(0, this.#x(mark.from) - x, x - this.#x(mark.to));
      if (far < hit && (!best || far < best.far)) best = { mark, far };
    }
    if (best) this.#choose(best.mark);
  }

  #choose(mark) {
    this.#chosen = mark;
    const entry = this.#past.entry(mark);
    if (entry) this.#show(entry);
    const said = text.past.mark(mark.robot, mark.watch.spec.condition, clock(mark.from), mark.count);
    setText(byId("time-said"), entry ? said : `${said}; ${text.past.gone}`);
    this.#draw();
  }

  /** Rows by condition, then robot; with many of them one for each condition. */
  #arrange() {
    const rows = new Map();
    const fill = (each) => {
      rows.clear();
      for (const mark of this.#past.marks) {
        const robot = each ? mark.robot : "";
        const key = `${mark.watch.id}\n${robot}`;
        if (!rows.has(key)) rows.set(key, { watch: mark.watch, robot, marks: [] });
        rows.get(key).marks.push(mark);
      }
    };
    fill(true);
    if (rows.size > mostRows) fill(false);
    const order = (w) => Number(w.id.slice(1)) || 0;
    this.#rows = [...rows.values()].sort((a, b) => order(a.watch) - order(b.watch) || byName.compare(a.robot, b.robot));
  }

  #paint() {
    const marks = this.#past.marks;
    byId("timeline").hidden = marks.length === 0;
    if (!marks.length) return;
    this.#arrange();
    const canvas = this.#canvas;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.parentElement.clientWidth, axisHeight + rowHeight * this.#rows.length + 4];
    canvas.style.height = `${height}px`;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    this.#axis(c, height);
    this.#rows.forEach((row, i) => this.#row(c, row, axisHeight + rowHeight * i, this.#rows[i - 1]?.watch !== row.watch));
    setText(byId("time-count"), text.past.marks(count(marks.reduce((sum, m) => sum + m.count, 0)), plural(this.#rows.length, "row")));
    byId("time-now").setAttribute("aria-pressed", String(this.#end === null));
    const label = text.past.timeline(this.#rows.length, clock(this.window.from), clock(this.window.to));
    if (canvas.getAttribute("aria-label") !== label) canvas.setAttribute("aria-label", label);
  }

  #axis(c, height) {
    const { from, to } = this.window;
    const steps = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1800_000, 3600_000, 7200_000, 4 * 3600_000];
    const step = steps.find((s) => (s / this.#span) * this.#width >= 76) ?? steps.at(-1);
    c.font = `500 11px ${this.#theme.font}`;
    c.textBaseline = "middle";
    c.textAlign = "center";
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = Math.round(this.#x(t)) + 0.5;
      c.strokeStyle = this.#theme["grid-strong"];
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x, axisHeight - 4);
      c.lineTo(x, height);
      c.stroke();
      c.fillStyle = this.#theme["ink-2"];
      const part = step < 1000 ? `.${String(Math.round(t % 1000)).padStart(3, "0").slice(0, 1)}` : "";
      c.fillText(clock(t).split(" ").at(-1) + part, Math.min(x, labelWidth + this.#width - 22), axisHeight / 2 - 2);
    }
  }

  #row(c, { watch, robot, marks }, y, begins) {
    const { from, to } = this.window;
    const colour = this.#theme.colour(watch.colour);
    if (begins) {
      c.fillStyle = this.#theme["grid-strong"];
      c.fillRect(0, y, labelWidth + this.#width + 8, 1);
    }
    c.fillStyle = colour;
    c.fillRect(6, y + 5, 7, 7);
    c.textAlign = "left";
    c.fillStyle = this.#theme.ink;
    c.fillText(fitted(c, robot ? `${robot} · ${watch.spec.condition}` : watch.spec.condition, labelWidth - 24), 18, y + rowHeight / 2 + 1);
    c.fillStyle = colour;
    for (const mark of marks) {
      if (mark.to < from || mark.from > to) continue;
      const left = Math.max(labelWidth, this.#x(mark.from));
      const right = Math.max(left + 2, Math.min(labelWidth + this.#width, this.#x(mark.to)));
      c.globalAlpha = mark === this.#chosen ? 1 : 0.75;
      c.fillRect(left - 1, y + 3, right - left + 1, rowHeight - 5);
      if (mark === this.#chosen) {
        c.strokeStyle = this.#theme.ink;
        c.strokeRect(left - 2.5, y + 1.5, right - left + 4, rowHeight - 2);
      }
    }
    c.globalAlpha = 1;
  }
}

/** A text that is cut to a width. */
function fitted(c, words, width) {
  if (c.measureText(words).width <= width) return words;
  let n = words.length;
  while (n > 1 && c.measureText(`${words.slice(0, n)}…`).width > width) n--;
  return `${words.slice(0, n)}…`;
}
