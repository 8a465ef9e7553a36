import { CallboardError } from "./errors.js";

export const requestPrefix = "~"; // of the ids of commands and lists, which share those of subscriptions

/** Commands and lists, and their answers. */
export class Requests {
  #send;
  #attached = false;
  #sent = new Map(); // id → {message, resolve, reject, done}
  #waiting = []; // for a broker
  #counter = 0;

  constructor(send) { this.#send = send; }

  /** Sends a message once attached, and resolves with its reply. */
  ask(message, signal) {
    const id = requestPrefix + ++this.#counter;
    const r = { message: { ...message, id } };
    const answer = new Promise((resolve, reject) => Object.assign(r, { resolve, reject }));
    r.done = answer.catch(() => {});
    signal?.addEventListener("abort", () => {
      this.#sent.delete(id);
      this.#waiting = this.#waiting.filter((w) => w !== r);
      r.reject(signal.reason);
    });
    if (this.#attached) this.#ask(r);
    else this.#waiting.push(r);
    return answer;
  }

  #ask(r) {
    this.#sent.set(r.message.id, r);
    this.#send(r.message);
  }

  attached() {
    this.#attached = true;
    for (const r of this.#waiting.splice(0)) this.#ask(r);
  }

  detached() {
    this.#attached = false;
    for (const r of this.#sent.values()) {
      if (r.message.op === "list") this.#waiting.push(r); // asking twice does no harm
      else r.reject(new CallboardError({ code: "lost", message: "the connection was lost before the answer came" }));
    }
    this.#sent.clear();
  }

  /** Answers all that wait. */
  end(error) {
    for (const r of [...this.#sent.values(), ...this.#waiting]) r.reject(error);
    this.#sent.clear();
    this.#waiting = [];
  }

  /** Takes a reply; false if it answers none of these. */
  replied({ id, ok, result, error }) {
    return this.#answer(id, (r) => {
      if (ok) r.resolve(result ?? null);
      else r.reject(new CallboardError({ message: "the broker gave no reason", ...error, id }));
    });
  }

  failed(error) { return this.#answer(error.id, (r) => r.reject(error)); }

  #answer(id, how) {
    const r = this.#sent.get(id);
    if (r) how(r);
    return this.#sent.delete(id);
  }

  /** Resolves when none waits for its answer, or after so many ms. */
  async settled(ms) {
    const all = [...this.#sent.values()].map((r) => r.done);
    if (all.length > 0) await Promise.race([Promise.all(all), new Promise((resolve) => { setTimeout(resolve, ms); })]);
  }
}
