/**
 * The page's own subscriptions, which the map lives on: positions of all
 * robots, laser and sonar readings as far as they are shown. Each keeps only
 * the latest, so a slow page skips frames instead of falling behind. Their
 * client is not the user's: its sequence waits for no other notifications.
 */
const crowd = 40; // robots; above that only the selected one's scans are shown

const kinds = {
  position: { condition: "position.time >= 0", method: "moved", intervals: [[100, 0.1], [300, 0.25], [Infinity, 1]] },
  laser: { condition: "laser.count >= 0", method: "scanned", intervals: [[12, 0.1], [Infinity, 0.2]] },
  sonar: { condition: "sonar.count >= 0", method: "sounded", intervals: [[12, 0.1], [Infinity, 0.2]] },
};

export class Feed {
  #client;
  #robots;
  #layers;
  #live = new Map(); // kind → {text: wanted, applied: text, done: promise of the subscription}
  #changed;

  constructor({ client, robots, layers, changed }) {
    this.#client = client;
    this.#robots = robots;
    this.#layers = layers;
    this.#changed = changed;
    robots.on("list", () => this.adjust());
    robots.on("select", () => this.adjust());
    layers.on("change", () => this.adjust());
    this.adjust();
  }

  /** Whether there are too many robots to show all their scans. */
  get crowded() { return this.#robots.size > crowd; }

  /** Brings the subscriptions to what is shown. */
  adjust() {
    this.#want("position", []);
    for (const kind of ["laser", "sonar"]) {
      const shown = this.#layers.shows(kind === "laser" ? "scans" : "sonar");
      const selected = this.#robots.selected;
      if (!shown || (this.crowded && !selected)) this.#want(kind, null);
      else this.#want(kind, this.crowded ? [exactly(selected)] : []);
    }
  }

  #want(kind, robots) {
    const count = this.#robots.size;
    const wanted = robots && { min_interval: kinds[kind].intervals.find(([most]) => count <= most)[1], robots };
    const text = JSON.stringify(wanted);
    const live = this.#live.get(kind) ?? { text: "null", done: Promise.resolve(null) };
    if (live.text === text) return;
    this.#live.set(kind, live);
    live.text = text;
    live.done = live.done.then((subscription) => this.#change(kind, subscription, live)).catch((error) => {
      console.warn(`callboard: the page's ${kind} subscription:`, error.message);
      live.text = live.applied = "null"; // asked for again when what is shown changes
      return null;
    });
  }

  /** One step towards what is wanted by now. */
  async #change(kind, subscription, live) {
    const wanted = JSON.parse(live.text);
    if (!wanted) {
      await subscription?.unsubscribe();
      live.applied = "null";
      this.#robots.all.forEach((r) => (kind === "laser" ? r.scans : r.sonars).clear());
      return null;
    }
    if (subscription) {
      if (live.applied !== live.text) await subscription.update(wanted);
      live.applied = JSON.stringify(wanted);
      return subscription;
    }
    live.applied = live.text;
    const spec = { id: `page.${kind}`, condition: kinds[kind].condition, keep: "latest", ...wanted };
    return this.#client.subscribe(spec, { notify: (n) => this.#arrived(kind, n) });
  }

  #arrived(kind, n) {
    if (!n.reading) return;
    const robot = this.#robots.know(n.robot);
    const now = performance.now();
    if (kind === "position") {
      if (!robot.standsOn(`${n.interface}:${n.index}`)) return;
      robot.moved(n.reading, n.time, now);
      this.#robots.emit("pose", robot);
    } else {
      robot[kinds[kind].method](`${n.interface}:${n.index}`, n.reading, n.time, now);
    }
    this.#changed();
  }
}

/** A pattern that matches this name only. */
function exactly(name) { return name.replace(/[\\*?[]/g, "\\$&"); }
