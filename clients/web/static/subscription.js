import { guarded } from "./emitter.js";

/** A subscription of a Client; what Client.subscribe gives. */
export class Subscription {
  #channel;
  #handlers;
  #pending = null; // {kind: subscribe | update | unsubscribe, promise's ends, changes}
  known = false; // the broker's session has it
  listed = false; // a hello has listed it and is not answered yet
  confirmed; // the spec as the broker has it
  sources = []; // that it is in force at
  robots = 0; // that match its patterns and have what its condition names
  warning = "";

  constructor(channel, spec, handlers) {
    this.#channel = channel;
    this.#handlers = handlers;
    this.confirmed = spec;
  }

  get id() { return this.confirmed.id; }
  /** The spec as the broker has it. */
  get spec() { return this.confirmed; }
  get ending() { return this.#pending?.kind === "unsubscribe"; }

  /** Changes what is given; nothing missed, nothing twice. A bad update changes nothing. */
  update(changes) {
    if (this.#pending) return Promise.reject(new Error(`subscription ${this.id}: ${this.#pending.kind} is under way`));
    const done = this.expect("update", changes);
    this.#channel.send({ op: "update", id: this.id, ...changes });
    return done;
  }

  /** Ends it. */
  unsubscribe() {
    if (this.#pending) return Promise.reject(new Error(`subscription ${this.id}: ${this.#pending.kind} is under way`));
    const done = this.expect("unsubscribe");
    this.#channel.send({ op: "unsubscribe", id: this.id });
    return done;
  }

  // What follows is the client's.

  /** A promise of the broker's answer. */
  expect(kind, changes = null) {
    return new Promise((resolve, reject) => { this.#pending = { kind, changes, resolve, reject }; });
  }

  /** What is to be sent after a hello that listed what was confirmed and not ending then. */
  outstanding() {
    if (this.#pending?.kind === "unsubscribe") {
      if (this.listed) return [{ op: "unsubscribe", id: this.id }]; // it was asked for after the hello
      this.ended(null);
      return [];
    }
    if (this.#pending?.kind === "update") return [{ op: "update", id: this.id, ...this.#pending.changes }];
    return this.listed ? [] : [{ op: "subscribe", ...this.confirmed }];
  }

  /** The connection is lost: what was under way is sent again after the next hello. */
  detached() {
    this.listed = false;
    this.sources = [];
  }

  subscribed(m) {
    const greeted = this.listed; // answers the hello, not an update that follows it
    Object.assign(this, { known: true, listed: false, sources: m.sources ?? [], robots: m.robots ?? 0, warning: m.warning ?? "" });
    const pending = this.#pending;
    if (pending?.kind === "subscribe" || (pending?.kind === "update" && !greeted)) {
      this.#pending = null;
      if (pending.changes) this.confirmed = { ...this.confirmed, ...pending.changes };
      pending.resolve(this);
    }
    if (this.#handlers.changed) guarded(this.#handlers.changed, this);
  }

  notified(notification, match) {
    if (this.#handlers.notify) guarded(this.#handlers.notify, notification, match);
  }

  /** An error that names it: of what is under way, or later on. */
  failed(error) {
    const pending = this.#pending;
    if (this.listed) { // hello listed it, and that is refused: an update or unsubscribe behind it has its own answer
      this.known = this.listed = false;
      if (pending?.kind === "unsubscribe") return;
      if (pending?.kind === "update") return this.#tell(error, true);
    }
    const ended = !this.known || pending?.kind === "subscribe" || (!pending && error.code === "not_found");
    this.#pending = null;
    if (ended) this.#channel.forget(this.id);
    if (pending) return pending.reject(error);
    this.#tell(error, ended);
  }

  #tell(error, ended) {
    if (this.#handlers.error) guarded(this.#handlers.error, error, ended);
  }

  /** The reply to unsubscribe. */
  ended(error) {
    const pending = this.#pending;
    this.#pending = null;
    if (error && error.code !== "not_found") return pending?.reject(error);
    this.#channel.forget(this.id);
    pending?.resolve(null);
  }
}
