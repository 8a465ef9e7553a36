import { CallboardError } from "./errors.js";
import { checkSize } from "./messages.js";
import { after } from "./tasks.js";

const prefix = "~s"; // of the ids of queues that are served
const maxAtOnce = 1000;
const maxReason = 1024; // characters of an error that is told

// A broker that is killed may not have passed on what came last: answers are said again to the next one.
const sayAgain = 30_000; // ms
const maxSaid = 1000;
const maxSaidBytes = 16 << 20;

/** A task that a server has in hand. */
export class Task {
  #servers;
  #abort = new AbortController();
  #timer;

  constructor(servers, { task, queue, from, body, again, left }) {
    this.#servers = servers;
    this.name = task;
    this.queue = queue ?? "";
    this.from = from ?? "";
    this.body = body ?? null;
    this.again = again ?? false;
    this.#timer = after(left ?? 0, () => this.end(new CallboardError({ code: "expired", message: "the task's time is over" })));
  }

  get signal() { return this.#abort.signal; }

  /** Tells who asked how it comes on. */
  progress(progress) {
    const message = { op: "done", task: this.name, progress: progress ?? null };
    checkSize(message);
    this.#servers.tell(this, message);
  }

  // What follows is the client's.

  /** Its answer is not wanted any more. */
  end(error) {
    clearTimeout(this.#timer);
    this.#abort.abort(error);
  }

  /** Does it. @returns {Promise<{message: object, size: number}>} what is said of it */
  async do(handler) {
    try {
      const message = { op: "done", task: this.name, body: (await handler(this)) ?? null };
      return { message, size: checkSize(message) };
    } catch (error) {
      const reason = String(error?.message ?? error).slice(0, maxReason);
      return { message: { op: "done", task: this.name, error: { message: reason } }, size: maxReason };
    } finally {
      clearTimeout(this.#timer);
    }
  }
}

/** A queue that the client serves. */
export class Server {
  error = null; // why it has ended
  #servers;
  #handler;
  #inHand = 0;
  #idle = []; // called when nothing is in hand
  #end;

  constructor(servers, id, queue, atOnce, handler) {
    this.#servers = servers;
    this.id = id;
    this.queue = queue;
    this.atOnce = atOnce;
    this.#handler = handler;
    this.ended = new Promise((resolve) => { this.#end = resolve; });
  }

  /** Takes no further tasks, and resolves when those in hand are done. */
  async stop() {
    this.#servers.stop(this);
    if (this.#inHand > 0) await new Promise((resolve) => { this.#idle.push(resolve); });
  }

  // What follows is the client's.

  message() { return { op: "serve", id: this.id, queue: this.queue, at_once: this.atOnce }; }

  async work(task) {
    this.#inHand++;
    const answer = await task.do(this.#handler);
    if (--this.#inHand === 0) for (const idle of this.#idle.splice(0)) idle();
    return answer;
  }

  /** It has ended for good. */
  end(error) {
    this.error ??= error;
    this.#end(this.error);
  }
}

/** The queues that a client serves, and the tasks that it has in hand. */
export class Servers {
  #send;
  #lasting; // the client has an id
  #greeted = false;
  #all = new Map(); // id → Server
  #hands = new Map(); // word → Task
  #said = new Map(); // word → {message, size, at}: answers that were given lately, the oldest first
  #saidBytes = 0;
  #counter = 0;

  constructor(send, lasting) {
    this.#send = send;
    this.#lasting = lasting;
  }

  serve(queue, handler, { atOnce = 1 } = {}) {
    if (typeof queue !== "string" || queue === "" || typeof handler !== "function") throw new TypeError("callboard: to serve takes the name of a queue and a handler");
    if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > maxAtOnce) throw new TypeError(`callboard: ${atOnce} tasks at once; expected 1 to ${maxAtOnce}`);
    const s = new Server(this, prefix + ++this.#counter, queue, atOnce, handler);
    this.#all.set(s.id, s);
    if (this.#greeted) this.#send(s.message());
    return s;
  }

  stop(s) {
    if (this.#all.delete(s.id) && this.#greeted) this.#send({ op: "unserve", id: s.id });
  }

  /** Says something of a task that is still in hand. */
  tell(task, message) {
    if (this.#hands.get(task.name) === task && this.#greeted) this.#send(message);
  }

  /** What was answered lately. */
  #lately() {
    this.#forget();
    return [...this.#said.values()].map(({ message }) => message);
  }

  #remember(word, answer) {
    this.#saidBytes += answer.size - (this.#said.get(word)?.size ?? 0);
    this.#said.delete(word);
    this.#said.set(word, { ...answer, at: performance.now() });
    this.#forget();
  }

  /** Forgets what is old, or too much. */
  #forget() {
    const since = performance.now() - sayAgain;
    for (const [word, { size, at }] of this.#said) {
      if (at >= since && this.#said.size <= maxSaid && this.#saidBytes <= maxSaidBytes) return;
      this.#said.delete(word);
      this.#saidBytes -= size;
    }
  }

  /** What a hello says: the words of tasks that are in hand, or were answered lately. */
  words() { return [...new Set([...this.#hands.keys(), ...this.#lately().map((m) => m.task)])].sort(); }

  /** Hello was said: behind it what was answered lately, and what is served. */
  greeted() {
    this.#greeted = true;
    for (const message of this.#lately()) this.#send(message);
    for (const s of this.#all.values()) this.#send(s.message());
  }

  detached() {
    this.#greeted = false;
    if (!this.#lasting) this.#letGo(new CallboardError({ code: "lost", message: "the connection was lost: others do the task" }));
  }

  #letGo(error) {
    for (const task of this.#hands.values()) task.end(error);
    this.#hands.clear();
    this.#said.clear();
    this.#saidBytes = 0;
  }

  /** The client has ended: what is in hand goes back to its queue. */
  end(error) {
    for (const s of this.#all.values()) s.end(error);
    this.#all.clear();
    this.#letGo(error);
  }

  async task(m) {
    const s = this.#all.get(m.id);
    if (!s || this.#hands.has(m.task)) return; // it is given to another server, once the broker knows
    const task = new Task(this, m);
    this.#hands.set(m.task, task);
    const answer = await s.work(task);
    if (this.#hands.get(m.task) !== task) return;
    this.#hands.delete(m.task);
    this.#remember(m.task, answer);
    if (this.#greeted) this.#send(answer.message);
  }

  cancelled({ task }) { this.#hands.get(task)?.end(new CallboardError({ code: "cancelled", message: "the task was cancelled" })); }

  /** Takes an error; false if it is about none of these. */
  failed(error) {
    const s = this.#all.get(error.id);
    s?.end(error);
    return this.#all.delete(error.id);
  }
}
