import { Emitter } from "../emitter.js";
import { Series } from "./series.js";
import { Meter } from "./watches.js";
import { exactly } from "./feed.js";

const most = 64; // devices of which readings are kept

/** What is known of one device of the selected robot. */
class Device {
  reading = null;
  time = 0; // s, the robot's
  at = 0; // ms, when the reading came
  meter = new Meter();
  series = new Map(); // field → Series

  constructor(interf, index) {
    this.interface = interf;
    this.index = index;
    this.name = `${interf}:${index}`;
  }

  take(reading, time, now) {
    Object.assign(this, { reading, time, at: now });
    this.meter.add();
    for (const [field, v] of Object.entries(reading)) {
      if ((typeof v !== "number" && typeof v !== "boolean") || field === "time" || field === "index") continue;
      let series = this.series.get(field);
      if (!series) this.series.set(field, (series = new Series()));
      series.add(Number(v), now);
    }
  }
}

/**
 * The readings of all devices of the selected robot, while somebody looks. A
 * condition that names no interface is tested with every reading. Event: change.
 */
export class Sensors extends Emitter {
  #client;
  #robot = null; // whose readings are wanted
  #watched = false;
  #subscription = Promise.resolve(null);
  #applied = null; // the robot that is subscribed to
  devices = new Map(); // name → Device

  constructor({ client }) {
    super();
    this.#client = client;
  }

  /** Wants the readings of a robot; null, or if nobody looks, of none. */
  watch(robot, watched) {
    if (robot !== this.#robot) this.devices = new Map();
    this.#robot = robot;
    this.#watched = watched;
    const step = this.#subscription.then((s) => this.#change(s));
    this.#subscription = step.catch((error) => {
      console.warn("callboard: the panel's subscription:", error.message);
      this.#applied = null;
      return null;
    });
    this.emit("change");
  }

  async #change(subscription) {
    const wanted = this.#watched ? this.#robot : null;
    if (wanted === this.#applied) return subscription;
    this.#applied = wanted;
    if (wanted === null) {
      await subscription?.unsubscribe();
      return null;
    }
    if (subscription) {
      await subscription.update({ robots: [exactly(wanted)] });
      return subscription;
    }
    const spec = { id: "page.robot", condition: "time >= 0", robots: [exactly(wanted)], keep: "latest" };
    return this.#client.subscribe(spec, { notify: (n) => this.#arrived(n) });
  }

  #arrived(n) {
    if (n.robot !== this.#robot || !n.reading) return;
    const name = `${n.interface}:${n.index}`;
    let device = this.devices.get(name);
    if (!device) {
      if (this.devices.size >= most) return;
      this.devices.set(name, (device = new Device(n.interface, n.index)));
    }
    device.take(n.reading, n.time, performance.now());
    this.emit("change");
  }
}
