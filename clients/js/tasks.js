import { CallboardError, unavailable } from "./errors.js";
import { guarded } from "./emitter.js";
import { checkSize } from "./messages.js";

const prefix = "~t"; // of the ids of tasks; those of commands and lists are numbers
const defaultTTL = 10; // s that a task may wait and take
const grace = 10; // s that its answer is waited for beyond that
const maxCancelled = 1000; // tasks whose cancelling is remembered
const maxTimer = 2 ** 31 - 1; // ms

/** Tasks that are asked for, and commands with a key. Their answers find the client wherever it hangs on. */
export class Tasks {
  #send;
  #lasting; // the client has an id; without one it is another client on each connection
  #open = false; // hello was said; without an id: and answered
  #asked = new Map(); // key → {id, key, message, deadline, known, accepted, progress, resolve, reject}
  #cancelled = new Map(); // key → ms, until when its cancelling is said behind each hello
  #counter = 0;

  constructor(send, lasting) {
    this.#send = send;
    this.#lasting = lasting;
  }

  /** Asks for what a message with a key says, and resolves with the answer. */
  async ask(message, { ttl = defaultTTL, signal, accepted, progress } = {}) {
    signal?.throwIfAborted();
    const key = message.key || randomKey();
    if (this.#asked.has(key)) throw new CallboardError({ code: "conflict", message: `the answer to the task "${key}" is awaited already` });
    const id = prefix + ++this.#counter;
    const a = { id, key, message: { ...message, id, key, ttl }, deadline: performance.now() + ttl * 1000, known: false, accepted, progress };
    checkSize(a.message);
    const answer = new Promise((resolve, reject) => Object.assign(a, { resolve, reject }));
    const late = after(ttl + grace, () => this.#giveUp(a, unavailable("no broker has answered in time; the task may have been done")));
    const abort = () => this.#giveUp(a, signal.reason);
    signal?.addEventListener("abort", abort);
    this.#asked.set(key, a);
    this.#cancelled.delete(key);
    if (this.#open) this.#say(a);
    try {
      return await answer;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener("abort", abort);
    }
  }

  #say(a) {
    const left = (a.deadline - performance.now()) / 1000;
    if (left > 0) this.#send({ ...a.message, ttl: left });
  }

  /** Nobody waits for the answer any more. A connection may be lost before the broker has heard of it. */
  #giveUp(a, error) {
    if (this.#asked.get(a.key) !== a) return;
    this.#asked.delete(a.key);
    if (this.#lasting && this.#cancelled.size < maxCancelled) this.#cancelled.set(a.key, a.deadline);
    this.#send({ op: "cancel", key: a.key });
    a.reject(error);
  }

  /** What a hello says: the keys whose answers are awaited. */
  words() { return [...this.#asked.values()].filter((a) => a.known).map((a) => a.key).sort(); }

  /** Hello was said: behind it what was not accepted. */
  greeted() {
    if (this.#lasting) this.#begin();
  }

  attached() {
    if (!this.#lasting) this.#begin();
  }

  #begin() {
    this.#open = true;
    for (const [key, until] of this.#cancelled) {
      if (performance.now() < until) this.#send({ op: "cancel", key });
      else this.#cancelled.delete(key);
    }
    for (const a of this.#asked.values()) if (!a.known) this.#say(a);
  }

  detached() {
    if (!this.#lasting && this.#open) this.end(new CallboardError({ code: "lost", message: "the connection was lost before the answer came" }));
    this.#open = false;
  }

  /** Answers all that wait. */
  end(error) {
    for (const a of this.#asked.values()) a.reject(error);
    this.#asked.clear();
  }

  accepted({ key, ahead }) {
    const a = this.#asked.get(key);
    if (!a || a.known) return;
    a.known = true;
    if (a.accepted) guarded(a.accepted, ahead ?? 0);
  }

  progressed({ key, progress }) {
    const a = this.#asked.get(key);
    if (a?.progress) guarded(a.progress, progress ?? null);
  }

  /** Takes the reply to a task. What nobody waits for is acknowledged, too. */
  replied({ key, ok, result, error }) {
    this.#send({ op: "ack", key });
    this.#cancelled.delete(key);
    const a = this.#asked.get(key);
    if (!a) return;
    this.#asked.delete(key);
    if (ok) a.resolve(result ?? null);
    else a.reject(new CallboardError({ message: "the broker gave no reason", ...error, id: a.id }));
  }

  /** Takes an error; false if it is about none of these. */
  failed(error) {
    const a = [...this.#asked.values()].find((one) => one.id === error.id);
    if (!a) return false;
    this.#asked.delete(a.key);
    a.reject(error);
    return true;
  }
}

/** Calls f after so many seconds, or the most that timers take. */
export function after(seconds, f) { return setTimeout(f, Math.min(seconds * 1000, maxTimer)); }

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
}
