import { Emitter } from "../emitter.js";
import { colours } from "./theme.js";

const seconds = 60; // of history behind the little chart
const window = 5; // s that a rate is taken over

/** Counts events by second, for rates and charts. */
export class Meter {
  total = 0;
  #buckets = new Uint32Array(seconds);
  #second = 0;

  add(now = Date.now(), n = 1) {
    this.#advance(now);
    this.total += n;
    this.#buckets[this.#second % seconds] += n;
  }

  /** Events per second, over the last few whole seconds. */
  rate(now = Date.now()) {
    const history = this.history(now);
    let sum = 0;
    for (let i = seconds - 1 - window; i < seconds - 1; i++) sum += history[i];
    return sum / window;
  }

  /** Counts of the last seconds, oldest first; the last one is not over yet. */
  history(now = Date.now()) {
    this.#advance(now);
    return Array.from({ length: seconds }, (_, i) => this.#buckets[(this.#second + 1 + i) % seconds]);
  }

  #advance(now) {
    const second = Math.floor(now / 1000);
    for (let s = Math.max(this.#second + 1, second - seconds + 1); s <= second; s++) this.#buckets[s % seconds] = 0;
    this.#second = Math.max(this.#second, second);
  }
}

/** One of the user's subscriptions: {spec, colour, meter, subscription, problem}. */
class Watch {
  meter = new Meter();
  subscription = null; // while the broker has it
  problem = null; // why it has not, or what it said last
  removed = false;

  constructor(spec, colour) {
    this.spec = spec;
    this.colour = colour;
  }

  get id() { return this.spec.id; }
}

/**
 * The user's subscriptions, side by side, each with a colour. They outlive a
 * reload of the page. Events: list, notified {notification, matches: [{watch,
 * state, values}]}.
 */
export class Watches extends Emitter {
  #client;
  #store;
  #watches = new Map(); // id → Watch
  meter = new Meter(); // of all notifications

  constructor({ client, store }) {
    super();
    this.#client = client;
    this.#store = store;
    client.on("notification", (n) => this.#notified(n));
  }

  get all() { return [...this.#watches.values()]; }
  get(id) { return this.#watches.get(id) ?? null; }

  /** Subscribes anew to what this tab had before a reload. */
  restore() {
    for (const { spec, colour } of this.#store.load()) {
      if (typeof spec?.id !== "string" || this.#watches.has(spec.id)) continue;
      const watch = new Watch(spec, colour);
      this.#watches.set(spec.id, watch);
      this.#subscribe(watch).catch((error) => { watch.problem = error; }).finally(() => this.#changed());
    }
    this.#changed();
  }

  /** Subscribes; rejects with the broker's error, and then nothing is kept. */
  async add(spec) {
    const watch = new Watch({ ...spec, id: this.#freeId() }, this.#freeColour());
    await this.#subscribe(watch);
    this.#watches.set(watch.id, watch);
    this.#changed();
    return watch;
  }

  /** Subscribes unless that is there; what is wrong is shown at its card. */
  want(spec) {
    const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
    if (this.all.some((w) => same({ ...w.spec, id: "" }, { ...spec, id: "" }))) return;
    const watch = new Watch({ ...spec, id: this.#freeId() }, this.#freeColour());
    this.#watches.set(watch.id, watch);
    this.#subscribe(watch).catch((error) => { watch.problem = error; }).finally(() => this.#changed());
    this.#changed();
  }

  /** Changes condition and options; rejects with the broker's error, and then nothing is changed. */
  async change(watch, spec) {
    const changes = { robots: [], trigger: "every", min_interval: 0, for: 0, select: {}, keep: "all", ...spec };
    if (watch.subscription) await watch.subscription.update(changes);
    const whole = { ...spec, id: watch.id };
    if (!watch.subscription) await this.#subscribe(watch, whole);
    watch.spec = whole;
    watch.problem = null;
    this.#changed();
  }

  async remove(watch) {
    this.#watches.delete(watch.id);
    watch.removed = true;
    this.#changed();
    await this.#leave(watch);
  }

  #leave(watch) {
    return watch.subscription?.unsubscribe().catch((error) => console.warn("callboard:", error.message));
  }

  async #subscribe(watch, spec = watch.spec) {
    watch.subscription = await this.#client.subscribe(spec, {
      changed: () => this.emit("list"),
      error: (error, ended) => {
        watch.problem = error;
        if (ended) watch.subscription = null;
        this.emit("list");
      },
    });
    if (watch.removed) await this.#leave(watch); // it went while it was waited for
  }

  #notified(notification) {
    const matches = [];
    for (const { id, state, values } of notification.subscriptions ?? []) {
      const watch = this.#watches.get(id);
      if (!watch) continue;
      watch.meter.add();
      matches.push({ watch, state, values });
    }
    if (!matches.length) return;
    this.meter.add();
    this.emit("notified", { notification, matches });
  }

  #changed() {
    this.#store.save(this.all.map(({ spec, colour }) => ({ spec, colour })));
    this.emit("list");
  }

  #freeId() {
    let n = 1;
    while (this.#watches.has(`w${n}`) || this.#client.subscriptions.has(`w${n}`)) n++;
    return `w${n}`;
  }

  /** The colour that is used least. */
  #freeColour() {
    const used = new Array(colours).fill(0);
    for (const w of this.all) used[w.colour % colours]++;
    return used.indexOf(Math.min(...used));
  }
}

/** An object with its fields in order. */
function sorted(object) { return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))); }
