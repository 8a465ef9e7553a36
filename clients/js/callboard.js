/**
 * The JavaScript client library of Callboard, for browsers and Node: it
 * subscribes to conditions over robots' sensor readings, and gives what matches,
 * in order and once.
 *
 *     import { Client } from "./callboard.js";
 *
 *     const client = await Client.dial({ brokers: ["ws://127.0.0.1:8800/ws"] });
 *     await client.subscribe({ id: "near", condition: "laser.min < 1" });
 *     for await (const event of client.events()) {
 *       if (event.type === "notification") console.log(event.robot, event.time, event.reading.min);
 *     }
 *
 * It says hello, acknowledges, watches the broker's heartbeats, and comes back
 * after a lost connection where it was, at the next broker if need be. Types and
 * what each part does are in callboard.d.ts, the design in DESIGN.md.
 */
import { CallboardError } from "./errors.js";
import { Emitter } from "./emitter.js";
import { Queue } from "./queue.js";
import { Roamer } from "./roam.js";
import { Roster, brokerURL } from "./roster.js";
import { Session } from "./session.js";

export { CallboardError, brokerURL };

const defaults = {
  client: "", anonymous: false, token: "", resume: null, store: null, choose: null, sides: true, cbor: false,
  connectTimeout: 10_000, backoff: [100, 5000], ackCount: 64, ackBytes: 256 << 10, ackDelay: 100,
  queueCount: 1 << 16, queueBytes: 64 << 20,
};

export class Client extends Emitter {
  #session;
  #roster;
  #roamer;
  #queue;
  #reader = null; // of events()
  #status = { name: "closed" };

  constructor(config) {
    super();
    const given = Object.fromEntries(Object.entries(config).filter(([, v]) => v !== undefined));
    const whole = { ...defaults, WebSocket: globalThis.WebSocket, ...given };
    if (!whole.brokers?.length) throw new TypeError("callboard: no broker URL given");
    if (whole.anonymous && (whole.client || whole.store || whole.resume)) throw new TypeError("callboard: an anonymous client has neither an id nor a store");
    if (!whole.WebSocket) throw new TypeError("callboard: there is no WebSocket here: use Node 22 or later, node --experimental-websocket, or config.WebSocket");
    whole.brokers = whole.brokers.map(brokerURL);
    this.#session = new Session(whole);
    this.#roster = new Roster(whole);
    this.#queue = new Queue({
      count: whole.queueCount, bytes: whole.queueBytes,
      deliver: (event) => this.#deliver(event), handled: (item) => this.#session.handled(item),
    });
    this.#session.queue = this.#queue;
    this.#roamer = new Roamer({ config: whole, session: this.#session, roster: this.#roster, queue: this.#queue, status: (s) => this.#told(s) });
  }

  static async dial(config) {
    const client = new Client(config);
    const first = client.#roamer.first();
    client.connect();
    try {
      await first;
    } catch (error) {
      client.close();
      throw error;
    }
    return client;
  }

  get status() { return this.#status; }
  get id() { return this.#session.identity.client; }
  get session() { return this.#session.identity.session; }
  get attachment() { return this.#session.identity.attachment; }
  get welcome() { return this.#session.welcome; }
  get subscriptions() { return new Map(this.#session.subscriptions); }
  get known() { return this.#roster.known(); }

  state() { return this.#session.state(); }

  connect() { this.#roamer.start(); }

  close() {
    this.#roamer.stop();
    this.#session.end(new CallboardError({ code: "closed", message: "the client is closed" }));
    this.#told({ name: "closed" });
  }

  on(name, handler) {
    if (name !== "status") this.#queue.open();
    return super.on(name, handler);
  }

  async *events() {
    if (this.#reader) throw new TypeError("callboard: the events have a reader already");
    const reader = { waiting: null, next: null, ended: this.#ended };
    this.#reader = reader;
    this.#queue.open();
    try {
      for (;;) {
        while (!reader.next && !reader.ended) await new Promise((resolve) => { reader.waiting = resolve; });
        if (!reader.next) break;
        yield reader.next.event;
        const { done } = reader.next;
        reader.next = null;
        done();
      }
    } finally {
      this.#reader = null;
      reader.next?.done();
    }
    if (this.#status.error) throw this.#status.error;
  }

  async subscribe(spec, handlers = {}) {
    if (handlers.notify) this.#queue.open();
    return this.#session.subscribe({ ...spec, id: spec.id ?? this.#freeId() }, handlers);
  }

  async command(command, { signal } = {}) {
    if (!command.key) return this.#session.request({ op: "command", ...command }, signal);
    return this.#session.tasks.ask({ op: "command", ...command }, { ttl: command.ttl, signal });
  }

  async request(queue, body, { key, ...options } = {}) {
    return this.#session.tasks.ask({ op: "request", queue, body: body ?? null, key }, options);
  }

  serve(queue, handler, options) { return this.#session.servers.serve(queue, handler, options); }

  async list(what, { signal } = {}) { return this.#session.request({ op: "list", what }, signal); }
  move(url) { return this.#roamer.move(url); }

  #freeId() {
    let n = 1;
    while (this.#session.subscriptions.has(`s${n}`)) n++;
    return `s${n}`;
  }

  get #ended() { return ["closed", "taken-over", "refused"].includes(this.#status.name); }

  #told(status) {
    this.#status = status;
    this.emit("status", status);
    if (!this.#reader) return;
    this.#reader.ended = this.#ended;
    this.#reader.waiting?.();
  }

  /** Gives an event to all that listen; a promise if they are not done with it. */
  #deliver(event) {
    const later = [];
    if (event.type === "notification") {
      for (const match of event.subscriptions ?? []) {
        const promise = this.#session.subscriptions.get(match.id)?.notified(event, match);
        if (promise) later.push(promise);
      }
    }
    later.push(...this.emit(event.type, event));
    if (this.#reader) later.push(new Promise((done) => {
      this.#reader.next = { event, done };
      this.#reader.waiting?.();
    }));
    return later.length > 0 ? Promise.all(later) : null;
  }
}
