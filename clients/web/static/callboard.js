/**
 * callboard.js: a client of Callboard for browsers and other places that have
 * WebSocket. It speaks callboard.v1, says hello, acknowledges, watches the
 * broker's heartbeats, and after a lost connection comes back where it was: a
 * notification arrives once, in the order of its source, or a gap tells what
 * could not be kept.
 *
 *     import { Client } from "./callboard.js";
 *
 *     const client = new Client({ brokers: ["ws://127.0.0.1:8800/ws"] });
 *     client.on("state", (s) => console.log(s.name));
 *     client.connect();
 *     const near = await client.subscribe(
 *       { id: "near", condition: "laser.min < 1", trigger: "rising" },
 *       { notify: (n) => console.log(n.robot, n.time, n.reading.min) });
 *     await client.command({ robot: "r0", name: "velocity", args: [0.5, 0, 0] });
 *     await near.update({ condition: "laser.min < 2" });
 *     await near.unsubscribe();
 *     client.close();
 *
 * Events of a client (`on(name, handler)` gives a function that ends it):
 *   state   State: the connection, whenever it changes
 *   notify  each notification once, after the handlers of its subscriptions
 *   gap     {source, from, to?, why, next?}: what could not be kept
 *   robot   {robot, source, state, lost?, since}: came, went, lost readings
 *   error   CallboardError: what the broker says later on, or without an id
 *   fault   {source, reason}: a sequence number that breaks the protocol
 *
 * Handlers run one at a time, in order; what they throw is reported to the
 * console and stops nothing.
 */
import { Emitter } from "./emitter.js";
import { isState, read } from "./messages.js";
import { Sequences } from "./sequences.js";
import { Subscription } from "./subscription.js";

/** What the broker, or the connection, could not do. */
export class CallboardError extends Error {
  /** @param {{code: string, message: string, position?: {line: number, column: number}, id?: string, attachment?: number}} info */
  constructor(info) {
    super(info.message || info.code || "unknown error");
    this.name = "CallboardError";
    this.code = info.code || "unavailable"; // as in the protocol
    this.position = info.position || null; // in a condition: line, column in characters, from 1
    this.id = info.id ?? null; // of the subscription or request
    this.attachment = info.attachment ?? null; // for conflict: the newest
  }
}

const subprotocol = "callboard.v1";
const connectTimeout = 10_000; // ms to a welcome
const ackCount = 64; // notifications that may wait for an acknowledgement
const ackDelay = 100; // ms that they may wait
const maxFirst = 64 << 10; // bytes that a hello may have of a client whose token is not known yet
const maxUnanswered = 16; // hellos without a number that are remembered
const unansweredFor = 5 * 60_000; // ms that each is

/**
 * State of a connection:
 *   {name: "closed"}                     not wanted
 *   {name: "connecting"}                 on its way
 *   {name: "attached", broker, resumed}  subscriptions are in force
 *   {name: "waiting", retryAt, error}    lost; tries again at retryAt (ms, Unix)
 *   {name: "taken-over", error}          another connection uses this client id; connect() takes it back
 *   {name: "refused", error}             the broker does not let it in; connect() tries again
 * @typedef {{name: string, broker?: string, resumed?: boolean, retryAt?: number, error?: CallboardError}} State
 */

export class Client extends Emitter {
  #config;
  #socket = null;
  #state = { name: "closed" };
  #away = new Set(); // robots, and devices, that the broker has told are away
  #identity = { client: "", session: "", attachment: 0 };
  #unanswered = []; // ms, when hellos without a number were said that got no answer: a broker may take each late
  #unnumbered = false; // the newest hello is the last of them
  #sequences = new Sequences();
  #known; // ids that the session had when it was stored
  #subscriptions = new Map(); // id → Subscription
  #requests = new Map(); // id → {resolve, reject}
  #counter = 0;
  #attempts = 0;
  #welcome = null;
  #heard = 0; // ms, when the broker last said something
  #watched = 0; // ms, when that was last looked at
  #spared = false; // one look was put off
  #timers = { retry: 0, watch: 0, ack: 0, error: 0 };

  /**
   * @param {object} config
   * @param {string[]} config.brokers WebSocket URLs, best first; tried in turn
   * @param {string} [config.client] the lasting id; default a random one
   * @param {boolean} [config.anonymous] attaches without an id: nothing is acknowledged nor kept over a lost connection, and what is
   *   subscribed is subscribed again. For what only the newest matters of. Default no
   * @param {string} [config.token] the secret that the broker asks for
   * @param {{load(): object|null, save(state: object): void}} [config.store] where client id, session, attachment and
   *   numbers outlive this page; default nowhere. A subscription of the stored session goes on if it is subscribed again, by its id, before connect
   * @param {[number, number]} [config.backoff] ms, the shortest and longest wait between attempts; default 250 and 5000
   */
  constructor(config) {
    super();
    if (!config.brokers?.length) throw new TypeError("callboard: no broker URL given");
    this.#config = { backoff: [250, 5000], store: null, token: "", ...config };
    if (config.anonymous && (config.client || config.store)) throw new TypeError("callboard: an anonymous client has no id and no store");
    const left = this.#config.store?.load() ?? null;
    const stored = isState(left) ? left : null;
    const own = stored && (!config.client || config.client === stored.client);
    const resumes = own && stored.session;
    this.#identity.client = config.anonymous ? "" : config.client || stored?.client || randomId();
    if (resumes) {
      this.#identity.session = stored.session;
      this.#identity.attachment = stored.attachment || 0;
      this.#sequences.restore(stored.num);
      this.#away = new Set(stored.away ?? []);
    }
    if (own) this.#unanswered = stored.unanswered ?? [];
    this.#known = new Set(resumes ? stored.subscriptions : []);
  }

  /** @returns {State} */
  get state() { return this.#state; }
  /** The lasting id; "" if it is anonymous. */
  get id() { return this.#identity.client; }
  get session() { return this.#identity.session; }
  /** The highest number that is known of this client's attachments; each hello takes the next. */
  get attachment() { return this.#identity.attachment; }
  /** What the broker said in welcome: broker, window, heartbeat, brokers. */
  get welcome() { return this.#welcome; }
  /** The subscriptions, by id. */
  get subscriptions() { return new Map(this.#subscriptions); }

  /** Attaches now, and again whenever the connection is lost. */
  connect() {
    clearTimeout(this.#timers.retry);
    if (this.#socket) return;
    this.#open();
  }

  /** Detaches. What is subscribed waits at the broker until its session ends. */
  close() {
    clearTimeout(this.#timers.retry);
    this.#drop();
    this.#set({ name: "closed" });
  }

  /**
   * Subscribes. Before connect and while the connection is lost it waits.
   * @param {object} spec as in the protocol's subscribe: condition, and id, robots, devices, trigger, min_interval, for, select, keep
   * @param {{notify?: function, changed?: function, error?: function}} [handlers] notify(notification, {state, values}),
   *   changed(subscription) after each `subscribed`, error(CallboardError, ended) for what the broker says later on
   * @returns {Promise<Subscription>} rejects with a CallboardError
   */
  subscribe(spec, handlers = {}) {
    const id = spec.id || "s" + randomId().slice(0, 8);
    if (this.#subscriptions.has(id)) {
      return Promise.reject(new CallboardError({ code: "conflict", message: `a subscription "${id}" exists already`, id }));
    }
    const s = new Subscription(this.#channel, { ...spec, id }, handlers);
    s.known = this.#known.delete(id);
    this.#subscriptions.set(id, s);
    const done = s.expect("subscribe");
    if (this.#attached) this.#send({ op: "subscribe", ...s.spec });
    return done;
  }

  /** Sends a command to a robot: {robot, name, args?, interface?, index?, ttl?}. Gives its result. */
  command(command) { return this.#request({ op: "command", ...command }); }

  /** Lists "robots", "brokers" or "subscriptions". */
  list(what) { return this.#request({ op: "list", what }); }

  get #attached() { return this.#state.name === "attached"; }

  /** What a Subscription may do with its client. */
  get #channel() {
    return {
      send: (m) => this.#attached && this.#send(m),
      forget: (id) => {
        this.#subscriptions.delete(id);
        if (this.#subscriptions.size === 0) this.#away.clear(); // the broker tells of no robots any more
        this.#save();
      },
    };
  }

  #request(message) {
    const id = `${message.op}-${++this.#counter}`;
    if (!this.#attached) return Promise.reject(new CallboardError({ code: "unavailable", message: "not connected to a broker", id }));
    return new Promise((resolve, reject) => {
      this.#requests.set(id, { resolve, reject });
      this.#send({ ...message, id });
    });
  }

  #set(state) {
    this.#state = state;
    this.emit("state", state);
  }

  #open() {
    const url = this.#config.brokers[this.#attempts % this.#config.brokers.length];
    this.#set({ name: "connecting" });
    this.#heard = this.#watched = Date.now();
    const socket = new WebSocket(this.#withToken(url), subprotocol);
    this.#socket = socket;
    socket.onopen = () => this.#hello();
    socket.onmessage = (e) => this.#receive(e.data);
    socket.onclose = (e) => this.#lost(closeError(e));
    // Browsers say close with the reason right behind it, and node says error alone of an attempt that failed.
    socket.onerror = (e) => { this.#timers.error = setTimeout(() => this.#lost(closeError({ reason: e.message })), 0); };
    this.#timers.watch = setInterval(() => this.#watch(), 500);
  }

  /** The address with the token, if hello may be too large for a client whose token is not known yet. */
  #withToken(url) {
    const { token } = this.#config;
    if (!token) return url;
    const listed = [...this.#subscriptions.values()].map((s) => s.confirmed ?? null);
    if (JSON.stringify([listed, this.#sequences.numbers(), [...this.#away]]).length <= maxFirst / 4) return url; // of characters that may have 4 bytes
    const shown = new URL(url, globalThis.location?.href);
    shown.searchParams.set("token", token);
    return shown.href;
  }

  #hello() {
    const hello = { op: "hello", ...this.#resume(), subscriptions: [] };
    if (this.#config.token) hello.token = this.#config.token;
    for (const s of this.#subscriptions.values()) {
      s.listed = s.known && !s.ending;
      if (s.listed) hello.subscriptions.push(s.confirmed);
    }
    this.#send(hello);
    this.#save();
  }

  /**
   * What a hello says of who it is and of the session that is to go on. A number
   * is used once, answered or not: a broker may take a hello long after it was
   * given up, and of two the later one has to count.
   */
  #resume() {
    const { client, session, attachment } = this.#identity;
    if (!client) return {};
    const fields = { client };
    this.#unnumbered = !attachment;
    if (attachment) fields.attachment = this.#identity.attachment = attachment + 1;
    else this.#unanswered = [...this.#unanswered, Date.now()].slice(-maxUnanswered);
    return session ? { ...fields, session, num: this.#sequences.numbers(), away: [...this.#away] } : fields;
  }

  /** The newest hello has its answer. */
  #answered() {
    if (this.#unnumbered) this.#unanswered.pop();
    this.#unnumbered = false;
  }

  /**
   * Whether an attachment that is not known may be that of a hello of our own:
   * one without a number, taken late. Each explains one.
   */
  #ours() {
    while (this.#unanswered.length > 0) {
      if (Date.now() - this.#unanswered.shift() < unansweredFor) return true;
    }
    return false;
  }

  #receive(text) {
    this.#heard = Date.now();
    const { message: m, wrong } = read(text);
    if (wrong) return this.#lost(new CallboardError({ code: "bad_message", message: `the broker broke the protocol: ${wrong}` }));
    switch (m.op) {
      case "notify": return this.#notified(m);
      case "welcome": return this.#welcomed(m);
      case "subscribed": return this.#subscribed(m);
      case "gap": return this.#gapped(m);
      case "robot": return this.#robot(m);
      case "reply": return this.#replied(m);
      case "error": return this.#failed(new CallboardError(m));
    } // heartbeat, and what a newer broker may say
  }

  #welcomed(m) {
    if (this.#attached) {
      this.emit("fault", { source: "", reason: "a second welcome" });
      return;
    }
    this.#answered();
    const resumed = this.id !== "" && m.session === this.#identity.session;
    if (!resumed) {
      this.#sequences.clear();
      this.#away.clear();
    }
    this.#sequences.attach();
    this.#identity.session = m.session;
    this.#identity.attachment = Math.max(this.#identity.attachment, m.attachment);
    this.#welcome = m;
    this.#attempts = 0;
    this.#known.clear();
    for (const s of [...this.#subscriptions.values()]) {
      for (const message of s.outstanding()) this.#send(message);
    }
    this.#save();
    this.#set({ name: "attached", broker: m.broker, resumed }); // from here on what is asked for is sent at once
  }

  #subscribed(m) {
    for (const source of m.sources ?? []) this.#sequences.name(source);
    this.#subscriptions.get(m.id)?.subscribed(m);
    this.#save();
  }

  /** The next hello tells which robots the program takes for away. */
  #robot(m) {
    const name = m.device ? `${m.robot} ${m.device}` : m.robot;
    if (m.state === "away") this.#away.add(name);
    if (m.state === "up") this.#away.delete(name);
    this.#save();
    this.emit("robot", m);
  }

  #notified(m) {
    const { fresh, fault } = this.#sequences.notify(m.source, m.seq, m.skipped ?? 0);
    if (fault) this.emit("fault", { source: m.source, reason: fault });
    this.#ack(this.#onlyLatest(m));
    if (!fresh) return;
    for (const match of m.subscriptions ?? []) {
      this.#subscriptions.get(match.id)?.notified(m, match);
    }
    this.emit("notify", m);
  }

  #gapped(m) {
    const { fresh, from, fault } = this.#sequences.gap(m.source, m.from, m.to, m.next);
    if (fault) this.emit("fault", { source: m.source, reason: fault });
    this.#ack();
    if (fresh) this.emit("gap", { ...m, from });
  }

  #replied(m) {
    const request = this.#requests.get(m.id);
    if (request) {
      this.#requests.delete(m.id);
      if (m.ok) request.resolve(m.result ?? null);
      else request.reject(new CallboardError({ ...m.error, id: m.id }));
      return;
    }
    this.#subscriptions.get(m.id)?.ended(m.ok ? null : new CallboardError({ ...m.error, id: m.id }));
  }

  #failed(error) {
    if (!this.#attached) this.#answered();
    const request = this.#requests.get(error.id);
    if (request) {
      this.#requests.delete(error.id);
      request.reject(error);
      return;
    }
    const subscription = this.#subscriptions.get(error.id);
    if (subscription) return subscription.failed(error);
    if (error.code === "conflict") return this.#conflict(error);
    if (error.code === "unauthorized" || (error.code === "forbidden" && !this.#attached)) {
      this.#drop();
      this.#set({ name: "refused", error });
      return;
    }
    this.emit("error", error);
  }

  /**
   * Before welcome: our number was too low, so take the next. After it: somebody
   * else has taken over, unless the number is one of our own.
   */
  #conflict(error) {
    const attached = this.#attached;
    const newest = error.attachment ?? Infinity;
    const ours = newest <= this.#identity.attachment || (newest < Infinity && this.#ours());
    if (error.attachment) this.#identity.attachment = Math.max(this.#identity.attachment, error.attachment);
    this.#drop();
    if (attached && !ours) this.#set({ name: "taken-over", error });
    else this.#retry(error);
  }

  #lost(error) {
    const attached = this.#attached;
    this.#drop();
    if (error.code === "conflict" && attached) this.#set({ name: "taken-over", error });
    else if (error.code === "unauthorized" || error.code === "forbidden") this.#set({ name: "refused", error });
    else this.#retry(error);
  }

  #retry(error) {
    const [least, most] = this.#config.backoff;
    const wait = Math.min(most, least * 2 ** Math.min(this.#attempts, 10)) * (0.75 + Math.random() / 2);
    this.#attempts++;
    this.#timers.retry = setTimeout(() => this.#open(), wait);
    this.#set({ name: "waiting", retryAt: Date.now() + wait, error });
  }

  /** Lets the socket go at once: closing handshakes with a dead peer take minutes. */
  #drop() {
    clearInterval(this.#timers.watch);
    clearTimeout(this.#timers.ack);
    clearTimeout(this.#timers.error);
    this.#timers.ack = 0;
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    this.#save();
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.onerror = () => {}; // of what is closed before it is open
    socket.close();
    const error = new CallboardError({ code: "unavailable", message: "the connection was lost before the answer" });
    for (const r of this.#requests.values()) r.reject(error);
    this.#requests.clear();
    for (const s of [...this.#subscriptions.values()]) s.detached();
  }

  #watch() {
    const now = Date.now();
    const late = now - this.#watched > 2000; // the page was held up: what has come may not have been handled yet
    this.#watched = now;
    if (late && !this.#spared) {
      this.#spared = true;
      return;
    }
    this.#spared = false;
    const silence = now - this.#heard;
    const limit = this.#attached ? Math.max(3000, 4000 * (this.#welcome.heartbeat || 1)) : connectTimeout;
    if (silence > limit) this.#lost(new CallboardError({ code: "unavailable", message: `nothing heard for ${Math.round(silence / 1000)} s` }));
  }

  /** Whether all subscriptions of a notification keep the latest only: the next reading of its device waits for the acknowledgement. */
  #onlyLatest(m) {
    return (m.subscriptions ?? []).every((match) => this.#subscriptions.get(match.id)?.spec.keep === "latest");
  }

  /** Acknowledges what was handled: soon, or at once. */
  #ack(atOnce = false) {
    if (!this.id) return; // what was written to its socket counts as acknowledged
    if (atOnce || this.#sequences.due() >= ackCount) return this.#flush();
    if (!this.#timers.ack) this.#timers.ack = setTimeout(() => this.#flush(), ackDelay);
  }

  #flush() {
    clearTimeout(this.#timers.ack);
    this.#timers.ack = 0;
    for (const [source, num] of this.#sequences.acks()) this.#send({ op: "ack", source, num });
    this.#save();
  }

  #save() {
    const known = [...this.#subscriptions.values()].filter((s) => s.known).map((s) => s.id);
    this.#config.store?.save({ ...this.#identity, unanswered: this.#unanswered, num: this.#sequences.numbers(), away: [...this.#away], subscriptions: known });
  }

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** The broker's WebSocket URL beside a page: "https://host/" → "wss://host/ws". */
export function brokerURL(page) {
  const url = new URL("ws", page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = url.hash = "";
  url.username = url.password = ""; // the browser sends what it was opened with
  return url.href;
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** What a close event says, as an error with a code of the protocol. */
function closeError(e) {
  const code = { 4401: "unauthorized", 4403: "forbidden", 4409: "conflict", 1013: "overloaded", 1008: "bad_message" }[e.code] || "unavailable";
  return new CallboardError({ code, message: e.reason || (e.code === 1001 ? "the broker shut down" : "the connection was lost") });
}
