import { Emitter } from "../emitter.js";

const most = 2000; // notifications kept whole
const mostMarks = 20_000;
const together = 250; // ms; notifications of one condition and robot that are closer are one mark

/**
 * What has fired while this page was open: the newest notifications whole, and
 * of all a mark of when, by condition and robot. Event: change.
 */
export class Past extends Emitter {
  #entries = []; // {at, robot, time, notification, matches, pose}, oldest first
  #dropped = 0; // entries before the first
  #marks = []; // {from, to (ms), watch, robot, count, entry: number}, oldest first
  #newest = new Map(); // "watch robot" → mark

  constructor({ watches, robots }) {
    super();
    watches.on("notified", ({ notification, matches }) => {
      const pose = robots.get(notification.robot)?.poseAt(notification.time) ?? null;
      this.#take({ at: Date.now(), robot: notification.robot, time: notification.time, notification, matches, pose });
    });
    watches.on("list", () => this.#forget(watches));
  }

  get marks() { return this.#marks; }

  /** The notification of a mark, or null if it is not kept any more. */
  entry(mark) { return this.#entries[mark.entry - this.#dropped] ?? null; }

  /** The newest notifications of a robot, newest first. */
  of(robot, n) {
    const found = [];
    for (let i = this.#entries.length - 1; i >= 0 && found.length < n; i--) if (this.#entries[i].robot === robot) found.push(this.#entries[i]);
    return found;
  }

  /** The notification of a robot that came next to a time (ms), or null. */
  near(robot, at) {
    let best = null;
    for (const e of this.#entries) if (e.robot === robot && (!best || Math.abs(e.at - at) < Math.abs(best.at - at))) best = e;
    return best;
  }

  #take(entry) {
    const number = this.#dropped + this.#entries.length;
    this.#entries.push(entry);
    if (this.#entries.length > most * 1.25) {
      this.#dropped += this.#entries.length - most;
      this.#entries.splice(0, this.#entries.length - most);
    }
    for (const { watch, state } of entry.matches) {
      if (state === false) continue;
      const key = `${watch.id} ${entry.robot}`;
      const last = this.#newest.get(key);
      if (last && entry.at - last.to < together && last.to - last.from < 2000) {
        last.to = entry.at;
        last.count++;
        continue;
      }
      const mark = { from: entry.at, to: entry.at, watch, robot: entry.robot, count: 1, entry: number };
      this.#newest.set(key, mark);
      this.#marks.push(mark);
    }
    if (this.#marks.length > mostMarks * 1.25) this.#marks.splice(0, this.#marks.length - mostMarks);
    this.emit("change");
  }

  /** A subscription that has ended takes its marks with it. */
  #forget(watches) {
    const gone = this.#marks.some((m) => watches.get(m.watch.id) !== m.watch);
    if (!gone) return;
    this.#marks = this.#marks.filter((m) => watches.get(m.watch.id) === m.watch);
    for (const [key, mark] of this.#newest) if (watches.get(mark.watch.id) !== mark.watch) this.#newest.delete(key);
    this.emit("change");
  }
}
