import { Emitter } from "../emitter.js";
import { Meter } from "./watches.js";

const pause = 600; // ms without a key before the broker is asked
const shown = 60; // s that firings are counted over

/**
 * A condition while it is written: the broker tries it, so that what is wrong is
 * shown in place, how many robots match now, and how often it would have fired
 * since. It has a client of its own, which notifications of it may flood. Event:
 * change.
 */
export class Draft extends Emitter {
  #client;
  #timer = 0;
  #spec = null; // what is tried, or is to be
  #step = Promise.resolve();
  #live = []; // subscriptions
  #states = new Map(); // robot → whether the condition holds
  #fired = new Meter();
  #since = 0; // ms
  #fresh = true; // nothing of it has come yet
  error = null; // the broker's
  running = false;

  constructor({ client }) {
    super();
    this.#client = client;
    client.on("notification", (n) => this.#notified(n));
  }

  /** Tries a subscription as soon as nobody types; null: nothing. */
  write(spec) {
    clearTimeout(this.#timer);
    if (JSON.stringify(spec) === JSON.stringify(this.#spec) && (this.running || this.error)) return;
    this.#spec = spec;
    if (!spec) return this.#next();
    this.#timer = setTimeout(() => this.#next(), pause);
  }

  /** How many robots match now, and of how many that is known. */
  get matching() {
    let now = 0;
    for (const state of this.#states.values()) if (state) now++;
    return { now, known: this.#states.size };
  }

  /** How often it would have fired, and in how many s. */
  get firings() {
    const history = this.#fired.history();
    return { count: history.reduce((a, b) => a + b, 0), seconds: Math.min(shown, (performance.now() - this.#since) / 1000) };
  }

  #next() {
    const spec = this.#spec;
    this.#step = this.#step.then(() => (spec === this.#spec ? this.#try(spec) : null));
  }

  async #try(spec) {
    for (const s of this.#live) await s.unsubscribe().catch(() => {}); // it may have ended by itself
    this.#live = [];
    this.#states = new Map();
    this.#fired = new Meter();
    this.running = false;
    this.#fresh = true;
    this.error = null;
    if (spec) {
      if (this.#client.status.name === "closed") this.#client.connect();
      const slim = { select: { ...spec.select, t: "time" } }; // not the whole reading
      try {
        for (const more of [{ id: "draft.state", trigger: "change", min_interval: 0, keep: "all" }, { id: "draft.fired", keep: "latest" }]) {
          this.#live.push(await this.#client.subscribe({ ...spec, ...slim, ...more }));
        }
        this.#since = performance.now();
        this.running = true;
      } catch (error) {
        if (spec === this.#spec) this.error = error;
      }
    }
    this.emit("change");
  }

  /** Of the firings that waited only the newest comes; skipped are those before it. */
  #notified(n) {
    for (const { id, state } of n.subscriptions ?? []) {
      if (id === "draft.state") this.#states.set(n.robot, state === true);
      else this.#fired.add();
    }
    if (!this.#fresh && n.skipped) this.#fired.add(Date.now(), n.skipped);
    this.#fresh = false; // what was skipped before the first is an older draft's
  }
}
