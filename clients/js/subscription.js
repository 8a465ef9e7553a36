import { CallboardError } from "./errors.js";
import { guarded } from "./emitter.js";

/** A subscription of a Client; what Client.subscribe resolves to. */
export class Subscription {
  spec; // as the broker has it
  confirmed = false; // the broker's session has it
  listed = false; // a hello has listed it and is not answered yet
  sources = []; // that it is in force at
  robots = 0; // that match its patterns and have what its condition names
  warning = "";
  #handlers;
  #session;
  #change = null; // {kind, changes, sent, done, resolve, reject}: what the broker has not answered

  constructor(session, spec, handlers) {
    this.#session = session;
    this.spec = spec;
    this.#handlers = handlers ?? {};
  }

  get id() { return this.spec.id; }
  get ending() { return this.#change?.kind === "unsubscribe"; }
  /** Resolves when what is under way is answered. */
  get done() { return this.#change?.done; }

  /** Changes what is given; nothing missed, nothing twice. A bad update changes nothing. */
  update(changes) { return this.change("update", changes); }

  /** Ends it. */
  unsubscribe() { return this.change("unsubscribe"); }

  // What follows is the client's.

  /** Waits for its turn, asks for a change and resolves with the broker's answer. */
  async change(kind, changes = {}) {
    while (this.#change) await this.#change.done;
    if (kind !== "subscribe" && !this.confirmed) throw this.#none();
    const answer = new Promise((resolve, reject) => {
      this.#change = { kind, changes, sent: false, resolve, reject };
    });
    this.#change.done = answer.catch(() => {});
    if (this.#session.greeted && (kind !== "unsubscribe" || this.listed || this.#session.attached)) this.#send();
    return answer;
  }

  #none() { return new CallboardError({ code: "not_found", message: `no subscription "${this.id}"`, id: this.id }); }

  #send() {
    const { kind, changes } = this.#change;
    this.#change.sent = true;
    const fields = { subscribe: this.spec, update: { ...changes, id: this.id }, unsubscribe: { id: this.id } }[kind];
    this.#session.send({ op: kind, ...fields });
  }

  /** A hello was said: it lists what is confirmed and not ending. What waits is sent behind it. */
  greeted() {
    this.listed = this.confirmed && !this.ending;
    if (this.#change && !this.ending) this.#send();
  }

  /** The hello is answered: what it did not list has ended. */
  welcomed() {
    if (this.ending && !this.#change.sent) this.#ended();
  }

  /** The connection is lost: what was under way is sent again behind the next hello. */
  detached() {
    this.listed = false;
    this.sources = [];
    if (this.#change) this.#change.sent = false;
  }

  /** It returns whether the program is to be told that it is in force again. */
  subscribed(m) {
    if (this.ending) return false;
    const greeted = this.listed; // answers the hello, not an update that follows it
    const change = this.#change;
    Object.assign(this, { listed: false, sources: m.sources ?? [], robots: m.robots ?? 0, warning: m.warning ?? "" });
    const answers = change && !greeted;
    if (answers) {
      this.#change = null;
      this.confirmed = true;
      this.spec = { ...this.spec, ...change.changes, id: this.id };
      change.resolve(this);
    }
    if (this.#handlers.changed) guarded(this.#handlers.changed, this);
    return !answers;
  }

  notified(notification, match) {
    return this.#handlers.notify ? guarded(this.#handlers.notify, notification, match) : null;
  }

  /** An error that names it. It returns null if a call has waited for that, else whether the subscription has ended. */
  failed(error) {
    const change = this.#change;
    if (this.listed) { // hello listed it, and that is refused: a change behind it has its own answer
      this.listed = this.confirmed = false;
      if (!change) this.#session.forget(this.id);
      return this.ending ? null : this.#tell(error, true);
    }
    if (!change) return this.#tell(error, false);
    if (change.kind === "unsubscribe") return null; // the reply comes
    this.#change = null;
    if (!this.confirmed) this.#session.forget(this.id);
    change.reject(error);
    return null;
  }

  #tell(error, ended) {
    if (this.#handlers.error) guarded(this.#handlers.error, error, ended);
    return ended;
  }

  /** The reply to unsubscribe: not_found is what was asked for, too. */
  replied() {
    if (this.ending) this.#ended();
  }

  #ended() {
    const change = this.#change;
    this.#change = null;
    this.confirmed = false;
    this.#session.forget(this.id);
    change.resolve(null);
  }

  /** The client has ended. */
  closed(error) {
    const change = this.#change;
    this.#change = null;
    this.listed = false;
    if (!this.confirmed) this.#session.forget(this.id);
    change?.reject(error);
  }
}
