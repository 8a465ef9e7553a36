import { Acknowledger } from "./acks.js";
import { CallboardError, unavailable } from "./errors.js";
import { checkSize, isState, read } from "./messages.js";
import { Requests, requestPrefix } from "./requests.js";
import { Sequences } from "./sequences.js";
import { Servers } from "./serve.js";
import { Terms } from "./sides.js";
import { Subscription } from "./subscription.js";
import { Tasks } from "./tasks.js";

const maxFirst = 64 << 10; // bytes that a hello may have of a client whose token is not known yet
const maxUnanswered = 16; // hellos without a number that are remembered
const unansweredFor = 5 * 60_000; // ms that each is
const maxSources = 1 << 16; // that a broker may name

/** What goes on over connections: who this is, what is subscribed, how far each source is. */
export class Session {
  greeted = false; // hello was said over the connection
  attached = false; // and answered
  welcome = null; // the last one
  subscriptions = new Map();
  terms = new Terms();
  tasks;
  servers;
  #config;
  #queue = null;
  #connection = null;
  #welcomed = null; // called once the broker has taken this client
  #identity = { client: "", session: "", attachment: 0 };
  #fresh = true; // no hello has been answered by a welcome yet
  #tried = 0; // the highest attachment before the newest hello
  #away = new Set(); // robots, and devices, that the broker has told are away
  #unanswered = []; // ms, when hellos without a number were said that got no answer: a broker may take each late
  #unnumbered = false; // the newest hello is the last of them
  #random = false; // nobody comes back to the client id
  #sequences = new Sequences();
  #stored = new Map(); // id → spec, that a stored session has and nobody has asked for yet
  #requests = new Requests((m) => this.send(m));
  #acks;

  constructor(config) {
    this.#config = config;
    this.tasks = new Tasks((m) => this.send(m), !config.anonymous);
    this.servers = new Servers((m) => this.send(m), !config.anonymous);
    this.#acks = new Acknowledger({ config, sequences: this.#sequences, send: (acks) => this.#acknowledge(acks) });
    const left = config.resume ?? config.store?.load() ?? null;
    const state = isState(left) && (!config.client || config.client === left.client) ? left : null;
    if (config.anonymous) return;
    this.#random = !config.client && !state && !config.store;
    this.#identity.client = config.client || state?.client || randomId();
    this.#unanswered = state?.unanswered ?? [];
    if (!state?.session) return;
    this.#identity.session = state.session;
    this.#identity.attachment = state.attachment || 0;
    this.#sequences.restore(state.num);
    this.#away = new Set(state.away ?? []);
    this.terms.restore(state.terms);
    for (const spec of state.subscriptions ?? []) {
      if (config.resume) this.subscriptions.set(spec.id, this.#restored(spec));
      else this.#stored.set(spec.id, spec);
    }
  }

  #restored(spec, handlers) {
    const s = new Subscription(this, spec, handlers);
    s.confirmed = true;
    return s;
  }

  set queue(queue) { this.#queue = queue; } // that events go into
  get identity() { return this.#identity; }

  /** What a later program needs to go on from here. */
  state() {
    const { client, session, attachment } = this.#identity;
    return {
      client, session, attachment, num: this.#sequences.numbers(), away: [...this.#away].sort(),
      subscriptions: this.#confirmed(), unanswered: this.#unanswered, terms: this.terms.all(),
    };
  }

  #confirmed() { return [...this.subscriptions.values()].filter((s) => s.confirmed && !s.ending).map((s) => s.spec); }

  save() { this.#config.store?.save(this.state()); }

  /** Whether hello may be too large for a client whose token is not known yet. */
  get large() {
    const { num, away, subscriptions } = this.state();
    return JSON.stringify([num, away, subscriptions]).length > maxFirst / 4; // of characters that may have 4 bytes
  }

  send(message) { this.#connection?.send(message); }

  /** Says hello; welcomed is called once the broker has taken this client. */
  hello(connection, welcomed) {
    this.#connection = connection;
    this.#welcomed = welcomed;
    this.#stored.clear();
    connection.send(this.#hello(connection.url));
    this.greeted = true;
    for (const s of [...this.subscriptions.values()]) s.greeted();
    this.servers.greeted();
    this.tasks.greeted();
    this.save();
  }

  #hello(url) {
    const { token } = this.#config;
    const subscriptions = this.#confirmed();
    const tasks = this.#identity.client ? [...this.tasks.words(), ...this.servers.words()] : [];
    const term = this.terms.of(url);
    return {
      op: "hello", ...this.#who(), ...(token && { token }), ...(term && { term }),
      ...(subscriptions.length > 0 && { subscriptions }), ...(tasks.length > 0 && { tasks }),
    };
  }

  /** What a connection says that only listens at a side of a pair of brokers. */
  listens(url) {
    const { token } = this.#config;
    const term = this.terms.of(url);
    return { op: "hello", standby: true, ...(token && { token }), ...(term && { term }) };
  }

  /**
   * What a hello says of who it is and of the session that is to go on. A number
   * is used once, answered or not: a broker may take a hello long after it was
   * given up, and of two the later one has to count.
   */
  #who() {
    const { client, session, attachment } = this.#identity;
    if (!client) return {};
    this.#tried = attachment;
    this.#unnumbered = !attachment;
    const fields = { client };
    if (attachment) fields.attachment = this.#identity.attachment = attachment + 1;
    else this.#unanswered = [...this.#unanswered, Date.now()].slice(-maxUnanswered);
    return session ? { ...fields, session, num: this.#sequences.hello(), away: [...this.#away].sort() } : fields;
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

  /** The connection has ended. */
  detach(connection) {
    if (this.#connection !== connection) return;
    this.#acks.stop();
    this.#connection = null;
    this.greeted = this.attached = false;
    this.save();
    this.#requests.detached();
    this.tasks.detached();
    this.servers.detached();
    for (const s of [...this.subscriptions.values()]) s.detached();
  }

  /** The client has ended: what waits is answered. */
  end(error) {
    this.#requests.end(error);
    this.tasks.end(error);
    this.servers.end(error);
    for (const s of [...this.subscriptions.values()]) s.closed(error);
    this.#fresh = true; // connect takes it back
  }

  /** The last words over a connection. @returns {string} the reason to close it with */
  farewell() {
    if (!this.attached) return "";
    if (this.#random) for (const id of this.subscriptions.keys()) this.send({ op: "unsubscribe", id });
    this.#acks.flush(true);
    return this.#random ? "goodbye" : "";
  }

  /** Resolves when no request waits for an answer, or after so many ms. */
  settled(ms) { return this.#requests.settled(ms); }

  async subscribe(spec, handlers) {
    const id = spec.id;
    if (typeof id !== "string" || id === "" || id.startsWith(requestPrefix)) {
      throw new CallboardError({ code: "bad_message", message: `subscription id ${JSON.stringify(id)}: expected text that does not begin with ${requestPrefix}` });
    }
    checkSize({ op: "subscribe", ...spec });
    while (this.subscriptions.get(id)?.ending) await this.subscriptions.get(id).done;
    if (this.subscriptions.has(id)) throw new CallboardError({ code: "conflict", message: `subscription "${id}" is in use`, id });
    const s = this.#stored.delete(id) ? this.#restored(spec, handlers) : new Subscription(this, spec, handlers);
    this.subscriptions.set(id, s);
    return s.confirmed ? s : s.change("subscribe");
  }

  forget(id) {
    this.subscriptions.delete(id);
    if (this.subscriptions.size === 0) this.#away.clear(); // the broker tells of no robots any more
    this.save();
  }

  /** Sends a command or list once attached, and resolves with its reply. */
  request(message, signal) {
    checkSize(message);
    return this.#requests.ask(message, signal);
  }

  /** Takes what the broker sends. */
  receive(data) {
    const { message: m, wrong } = read(data, this.#config.cbor);
    const broken = (why) => this.#connection.end(new CallboardError({ code: "bad_message", message: `the broker broke the protocol: ${why}` }));
    if (wrong) return broken(wrong);
    if (this.#sequences.size > maxSources) return broken(`more than ${maxSources} sources`);
    if (!this.attached) {
      if (m.op === "welcome") return this.#taken(m);
      if (m.op === "error") return this.#connection.end(this.#refused(new CallboardError(m)));
      return m.op === "heartbeat" ? undefined : broken(`${m.op} before welcome`);
    }
    const size = data.byteLength ?? data.length;
    switch (m.op) {
      case "notify": return this.#notified(m, size);
      case "subscribed": return this.#subscribed(m, size);
      case "gap": return this.#gapped(m, size);
      case "robot": return this.#robot(m, size);
      case "reply": return this.#replied(m);
      case "error": return this.#failed(new CallboardError(m), size);
      case "accepted": return this.tasks.accepted(m);
      case "progress": return this.tasks.progressed(m);
      case "task": return void this.servers.task(m);
      case "cancelled": return this.servers.cancelled(m);
      case "heartbeat": return this.terms.now(m.term);
      case "welcome": return broken("a second welcome");
    } // what else a newer broker may say
  }

  #taken(m) {
    const resumed = this.#identity.session !== "" && m.session === this.#identity.session;
    this.#answered();
    const old = this.terms.welcome(this.#connection.url, m);
    if (old) return this.#connection.end(unavailable(old));
    if (!resumed) {
      for (const [source, given] of this.#sequences.clear()) {
        this.#tell({ type: "gap", source, from: given + 1, why: "the broker does not know the session any more" });
      }
      this.#away.clear();
    }
    if (this.#identity.client) this.#identity.session = m.session;
    this.#identity.attachment = Math.max(this.#identity.attachment, m.attachment);
    this.#fresh = false;
    this.welcome = m;
    this.attached = true;
    for (const s of [...this.subscriptions.values()]) s.welcomed();
    this.#tell({ type: "attached", url: this.#connection.url, broker: m.broker, session: m.session, attachment: m.attachment, resumed });
    this.#requests.attached();
    this.tasks.attached();
    if (this.#identity.client) this.#acks.flush(false);
    this.save();
    this.#welcomed(resumed);
  }

  /** An error in place of welcome: fatal if trying again would not help, renumbered if the same broker will take the next hello. */
  #refused(error) {
    this.#answered();
    const { attachment } = error;
    if (["unauthorized", "forbidden", "bad_message"].includes(error.code)) error.fatal = true;
    if (error.code !== "conflict") return error;
    // An earlier program with this state may have counted further than that says; later on only another program can have.
    if (attachment === null || (!this.#fresh && attachment > this.#tried && !this.#ours())) return takenOver(error);
    this.#identity.attachment = Math.max(this.#identity.attachment, attachment);
    error.renumbered = true;
    return error;
  }

  /** Adds an event that has no place in a queue that is full. */
  #tell(event) { this.#queue.force({ event, size: 0 }); }

  /** Adds an event; without room for it the connection goes, and comes back later on. */
  #push(item) {
    if (this.#queue.push(item)) return true;
    this.#connection.end(unavailable("the program does not take its events; the session is resumed later"));
    return false;
  }

  #subscribed(m, size) {
    for (const source of m.sources ?? []) this.#sequences.of(source);
    if (this.subscriptions.get(m.id)?.subscribed(m)) this.#push({ event: Object.assign(m, { type: "resubscribed" }), size });
    this.save();
  }

  /** The next hello tells which robots the program takes for away. */
  #robot(m, size) {
    if (!this.#push({ event: Object.assign(m, { type: "robot" }), size })) return;
    const name = m.device ? `${m.robot} ${m.device}` : m.robot;
    if (m.state === "away") this.#away.add(name);
    if (m.state === "up") this.#away.delete(name);
    this.save();
  }

  #notified(m, size) {
    const given = this.#sequences.of(m.source).given;
    const { s, fresh, skipped, fault } = this.#sequences.notify(m.source, m.seq, m.skipped ?? 0);
    s.prompt = this.#onlyLatest(m);
    if (skipped) m.skipped = skipped;
    else delete m.skipped;
    this.#numbered(m, "notification", s, m.seq, { fresh, fault, given, size: 2 * size });
  }

  #gapped(m, size) {
    if (m.to === undefined || m.to === null) {
      m.from = this.#sequences.end(m.source, m.from, m.next);
      this.#push({ event: Object.assign(m, { type: "gap" }), size });
      return;
    }
    const given = this.#sequences.of(m.source).given;
    const { s, fresh, from, fault } = this.#sequences.gap(m.source, m.from, m.to);
    m.from = from;
    this.#numbered(m, "gap", s, m.to, { fresh, fault, given, size });
  }

  /** Gives what has numbers. What has no room was not given: it comes again. */
  #numbered(m, type, s, seq, { fresh, fault, given, size }) {
    if (fault && !this.#push({ event: { type: "fault", source: m.source, reason: fault }, size: 0 })) s.given = given;
    else if (fresh && !this.#push({ event: Object.assign(m, { type }), size, source: m.source, sequence: s, seq })) s.given = given;
    this.#ackSoon(m.source, s);
  }

  /** The program has handled an item of the queue. */
  handled({ source, sequence: s, seq, size }) {
    if (!s) return;
    s.handled = Math.max(s.handled, seq);
    s.bytes += size;
    this.#ackSoon(source, s);
  }

  /** Whether all subscriptions of a notification keep the latest only: the next reading of its device waits for the acknowledgement. */
  #onlyLatest(m) { return (m.subscriptions ?? []).every((match) => this.subscriptions.get(match.id)?.spec.keep === "latest"); }

  #ackSoon(source, s) {
    if (this.attached && this.#identity.client) this.#acks.soon(source, s); // what was written to an anonymous client's socket counts
  }

  #acknowledge(acks) {
    for (const [source, num] of acks) this.send({ op: "ack", source, num });
    this.save();
  }

  #replied(m) {
    if (m.key) this.tasks.replied(m);
    else if (!this.#requests.replied(m)) this.subscriptions.get(m.id)?.replied();
  }

  #failed(error, size) {
    if ([this.#requests, this.tasks, this.servers].some((part) => part.failed(error))) return;
    const subscription = this.subscriptions.get(error.id);
    if (error.id === null && error.code === "conflict") return this.#connection.end(this.#conflict(error));
    const ended = subscription ? subscription.failed(error) : false;
    if (ended !== null) this.#push({ event: { type: "failure", id: error.id, code: error.code, message: error.message, position: error.position, ended, error }, size });
  }

  /** The client id has attached elsewhere. A number up to ours is our own: this connection is the older one. */
  #conflict(error) {
    const { attachment } = error;
    if (attachment === null) return takenOver(error);
    const known = attachment <= this.#identity.attachment;
    this.#identity.attachment = Math.max(this.#identity.attachment, attachment);
    return known || this.#ours() ? error : takenOver(error);
  }
}

function takenOver(error) {
  const all = new CallboardError({ code: "taken_over", message: `another program has attached with this client id: ${error.message}`, attachment: error.attachment });
  all.fatal = true;
  return all;
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return "js-" + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}
