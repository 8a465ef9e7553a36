/** The last minute of one number, for a small plot. */
export const span = 60_000; // ms
const room = 600; // values kept: ten a second
const apart = span / room;

export class Series {
  #times = new Float64Array(room);
  #values = new Float64Array(room);
  #next = 0;
  #size = 0;

  /** Takes a value at now (ms); of values that come faster than can be shown the newest counts. */
  add(value, now) {
    const last = (this.#next + room - 1) % room;
    const same = this.#size > 0 && Math.floor(this.#times[last] / apart) === Math.floor(now / apart);
    const at = same ? last : this.#next;
    this.#times[at] = now;
    this.#values[at] = value;
    if (same) return;
    this.#next = (this.#next + 1) % room;
    this.#size = Math.min(room, this.#size + 1);
  }

  /** Calls f(age in ms, value) for each of the last minute, oldest first. */
  each(now, f) {
    for (let i = 0; i < this.#size; i++) {
      const at = (this.#next + room - this.#size + i) % room;
      const age = now - this.#times[at];
      if (age <= span && Number.isFinite(this.#values[at])) f(age, this.#values[at]);
    }
  }

  /** The least and the most of the last minute; null if there is none. */
  range(now) {
    let least = Infinity;
    let most = -Infinity;
    this.each(now, (_, v) => {
      if (v < least) least = v;
      if (v > most) most = v;
    });
    return least <= most ? { least, most } : null;
  }
}

/** Draws a series over the last minute, now at the right. */
export function plot(canvas, series, now, colour) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return; // not shown
  if (canvas.width !== Math.round(width * ratio)) [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  const range = series.range(now);
  if (!range) return;
  const middle = (range.least + range.most) / 2;
  const half = Math.max((range.most - range.least) / 2, 1e-9 + Math.abs(middle) * 1e-6);
  const flat = range.least === range.most;
  c.beginPath();
  let before = Infinity;
  let end = null;
  series.each(now, (age, v) => {
    const x = width * (1 - age / span);
    const y = flat ? height / 2 : height / 2 - ((v - middle) / half) * (height / 2 - 2);
    if (before - age > 3000) c.moveTo(x, y); // nothing came for a while, or it is the first
    else c.lineTo(x, y);
    before = age;
    end = { x, y };
  });
  c.strokeStyle = colour;
  c.lineWidth = 1.3;
  c.lineJoin = "round";
  c.stroke();
  c.fillStyle = colour;
  c.fillRect(end.x - 1, end.y - 1, 2, 2); // a single value is to be seen, too
}
