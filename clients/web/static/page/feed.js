/**
 * The page's own subscriptions, which the map lives on: positions of the robots
 * in view and, seldom, of the others; laser and sonar readings as far as they are
 * shown. Each keeps only the latest, so a slow page skips frames instead of
 * falling behind. Their client is not the user's: its sequence waits for no other
 * notifications.
 */
const crowd = 40; // robots in view; above that only the selected one's scans are shown
const lookPeriod = 1000; // ms between looks at who is in view

// How often, in s, a robot's reading is asked for, by how many are asked for.
const often = [[12, 0.1], [Infinity, 0.2]];
const kinds = {
  position: { condition: "position.time >= 0", intervals: [[100, 0.1], [300, 0.25], [Infinity, 1]] },
  others: { condition: "position.time >= 0", intervals: [[Infinity, 5]] },
  laser: { condition: "laser.count >= 0", intervals: often },
  sonar: { condition: "sonar.count >= 0", intervals: often },
};

export class Feed {
  #client;
  #robots;
  #layers;
  #inView;
  #near = new Set(); // names that are subscribed to as in view
  #live = new Map(); // kind → {text: wanted, applied: text, done: promise of the subscription}
  #changed;

  /** @param {{inView: () => string[], changed: function}} parts inView names the robots that the map shows; changed is called for what came */
  constructor({ client, robots, layers, inView, changed }) {
    this.#client = client;
    this.#robots = robots;
    this.#layers = layers;
    this.#inView = inView;
    this.#changed = changed;
    robots.on("list", () => this.adjust());
    robots.on("select", () => this.adjust());
    layers.on("change", () => this.adjust());
    setInterval(() => { if (!document.hidden && this.#robots.size > crowd) this.adjust(); }, lookPeriod);
    this.adjust();
  }

  /** Whether too many robots are in view to show all their scans. */
  get crowded() { return Math.min(this.#near.size || Infinity, this.#robots.size) > crowd; }

  /** Brings the subscriptions to what is shown. */
  adjust() {
    this.#look();
    const near = this.#near.size ? [...this.#near].map(exactly) : []; // all: no list
    this.#want("position", near);
    this.#want("others", near.length ? [] : null);
    for (const kind of ["laser", "sonar"]) {
      const shown = this.#layers.shows(kind === "laser" ? "scans" : "sonar");
      const selected = this.#robots.selected;
      if (!shown || (this.crowded && !selected)) this.#want(kind, null);
      else this.#want(kind, this.crowded ? [exactly(selected)] : near);
    }
  }

  /** Looks who is in view. The set stays while it serves, since each change is a message. */
  #look() {
    const seen = this.#inView();
    if (this.#robots.size <= crowd || !seen.length || seen.length > this.#robots.size / 2) return this.#near.clear();
    const whole = seen.every((name) => this.#near.has(name));
    if (!whole || this.#near.size > 2 * seen.length + 10) this.#near = new Set(seen);
  }

  #want(kind, robots) {
    const count = robots?.length || this.#robots.size;
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
      if (kind === "laser") this.#robots.all.forEach((r) => r.scans.clear());
      if (kind === "sonar") this.#robots.all.forEach((r) => r.sonars.clear());
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
    const device = `${n.interface}:${n.index}`;
    if (kind === "laser") robot.scanned(device, n.reading, n.time, now);
    else if (kind === "sonar") robot.sounded(device, n.reading, n.time, now);
    else if (robot.standsOn(device)) {
      robot.moved(n.reading, n.time, now);
      this.#robots.emit("pose", robot);
    }
    this.#changed();
  }
}

/** A pattern that matches this name only. */
export function exactly(name) { return name.replace(/[\\*?[]/g, "\\$&"); }
