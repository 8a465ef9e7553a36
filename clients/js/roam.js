import { CallboardError, unavailable } from "./errors.js";
import { Connection, race } from "./connection.js";
import { brokerURL } from "./roster.js";
import { Listener, sideWait } from "./sides.js";

const lingering = 1000; // ms that a hand-over waits for answers over the connection in use
const missedHeartbeats = 3;
const leastSilence = 1000; // ms
const look = 250; // ms between looks at the silence

/**
 * Decides which broker the client is attached to. At most one attempt is under
 * way, and a move waits behind it. Only one connection has said hello at a time:
 * the one in use is let go when another one stands, before hello is said over
 * that, so nothing arrives or is confirmed beside a hello.
 */
export class Roamer {
  #config;
  #session;
  #roster;
  #queue;
  #status; // told of the connection's state
  #current = null; // the connection that is attached
  #attempt = null; // {urls, move, choice, abort}
  #pending = null; // a move that waits until the attempt has ended
  #last = null; // URL of the last broker that took this client
  #hold = 0; // ms, no move by choice before it, since one has failed
  #backoff;
  #retry = 0;
  #watch = 0;
  #looked = 0; // ms, when the silence was last looked at
  #spared = false; // one look was put off
  #first = null; // {resolve, reject}: of the first round of attempts
  #running = false;
  #listener;

  constructor({ config, session, roster, queue, status }) {
    this.#config = config;
    this.#session = session;
    this.#roster = roster;
    this.#queue = queue;
    this.#status = status;
    this.#backoff = config.backoff[0];
    this.#listener = new Listener({
      config, dial: (url, h) => this.#dial(url, h), hello: (url) => session.listens(url),
      active: (url, term) => (term < session.terms.of(url) ? null : this.move(url)),
    });
  }

  /** Begins, or does not wait for the next attempt. */
  start() {
    if (this.#running && !this.#retry) return;
    this.#running = true;
    this.#search(null, false);
  }

  /** Resolves when the first round of attempts has found a broker. */
  first() { return new Promise((resolve, reject) => { this.#first = { resolve, reject }; }); }

  /** Ends all that runs. */
  stop() {
    this.#running = false;
    this.#listener.stop();
    clearTimeout(this.#retry);
    clearInterval(this.#watch);
    this.#retry = 0;
    const reason = this.#session.farewell();
    const connection = this.#current;
    this.#current = null;
    connection?.close(undefined, reason);
    if (connection) this.#session.detach(connection);
    this.#attempt?.abort.abort();
    const closed = new CallboardError({ code: "closed", message: "the client is closed" });
    for (const move of [this.#attempt?.move, this.#pending]) move?.reject(closed);
    this.#attempt = this.#pending = null;
    this.#first?.reject(closed);
  }

  #tell(event) { this.#queue.force({ event, size: 0 }); }

  /** Hands over to another broker. */
  async move(text) {
    const url = brokerURL(text);
    if (!this.#running) throw new CallboardError({ code: "closed", message: "the client is closed" });
    return new Promise((resolve, reject) => this.#move({ url, resolve, reject }));
  }

  #move(move) {
    const a = this.#attempt;
    if (a) {
      this.#pending?.reject(overtaken(this.#pending));
      this.#pending = move;
      a.overtaken = true;
      a.abort.abort();
    } else if (this.#current?.url === move.url) move.resolve();
    else this.#start({ urls: [move.url], move });
  }

  #search(last, gone) {
    this.#clear();
    const urls = this.#choose("") ?? this.#roster.order(last ?? this.#last, gone);
    if (urls.length === 0) return this.#wait(unavailable("no broker is known"));
    this.#status({ name: "connecting" });
    this.#start({ urls });
  }

  #clear() {
    clearTimeout(this.#retry);
    this.#retry = 0;
  }

  /** Lets some time pass before the next search. */
  #wait(error) {
    const wait = this.#backoff * (0.5 + Math.random() / 2);
    this.#backoff = Math.min(2 * this.#backoff, this.#config.backoff[1]);
    this.#retryIn(wait, error);
  }

  #retryIn(wait, error) {
    this.#retry = setTimeout(() => this.#search(null, false), wait);
    this.#status({ name: "waiting", retryAt: Date.now() + wait, error });
  }

  /** What the program wants; null if it does not say. */
  #choose(current) {
    try {
      const urls = (this.#config.choose?.(current, this.#roster.known()) ?? []).map(brokerURL);
      return urls.length > 0 ? urls : null;
    } catch (error) {
      console.error("callboard: choose failed:", error);
      return null;
    }
  }

  /** Called when the brokers known have changed. */
  #reconsider() {
    if (this.#attempt || !this.#current || performance.now() < this.#hold) return;
    const urls = this.#choose(this.#current.url);
    if (urls && urls[0] !== this.#current.url) this.#start({ urls: urls.slice(0, 1), choice: true });
  }

  #start({ urls, move = null, choice = false }) {
    this.#clear();
    this.#attempt = { urls, move, choice, abort: new AbortController(), overtaken: false };
    this.#try(this.#attempt);
  }

  async #try(a) {
    const { signal } = a.abort;
    const trial = { urls: [...a.urls], errors: [], renumbered: new Set(), fatal: null, mayEnd: true };
    if (!a.move && !a.choice) await this.#queue.half();
    while (trial.urls.length > 0 && !signal.aborted) {
      const { connection, failed } = await race(trial.urls, (url, h) => this.#dial(url, h), signal, this.#config.connectTimeout);
      for (const [url, error] of failed) this.#refuse(trial, url, error);
      if (!connection) continue;
      const known = this.#roster.find(connection.url);
      if (known) known.roundTrip = Math.max(1, performance.now() - connection.began);
      const error = await this.#greet(a, connection, signal);
      if (!error) return;
      this.#refuse(trial, connection.url, error);
    }
    if (this.#attempt === a) this.#failed(a, trial);
  }

  #dial(url, handlers) {
    const { WebSocket, token, cbor } = this.#config;
    const address = new URL(url);
    if (token && this.#session.large) address.searchParams.set("token", token);
    return new Connection({ url, address: address.href, subprotocol: cbor ? "callboard.v1.cbor" : "callboard.v1", WebSocket, ...handlers });
  }

  /** Says hello over a connection that stands; resolves with null when the broker has taken this client, else with the error. */
  async #greet(a, connection, signal) {
    if (this.#current) await this.#session.settled(lingering);
    if (signal.aborted) connection.close();
    if (connection.over) return connection.over;
    if (this.#current) {
      const old = this.#current;
      this.#current = null;
      old.close();
      this.#session.detach(old);
    }
    return new Promise((resolve) => {
      const timeout = this.#config.connectTimeout;
      const timer = setTimeout(() => connection.end(unavailable(`no welcome within ${timeout / 1000} s`)), timeout);
      const abort = () => connection.end(unavailable("it was given up"));
      const settle = (error) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        resolve(error);
      };
      signal.addEventListener("abort", abort);
      connection.received = (data) => this.#session.receive(data);
      connection.ended = (error) => {
        this.#session.detach(connection);
        settle(error);
      };
      this.#session.hello(connection, (resumed) => {
        settle(null);
        this.#welcomed(a, connection, resumed);
      });
    });
  }

  #welcomed(a, connection, resumed) {
    connection.attended = performance.now();
    connection.ended = (error) => this.#lost(connection, error);
    this.#current = connection;
    this.#attempt = null;
    this.#last = connection.url;
    const { welcome } = this.#session;
    this.#roster.welcome(connection.url, welcome);
    if (this.#config.sides) this.#listener.attached(connection.url, welcome);
    this.#watchOver(connection, Math.max(leastSilence, missedHeartbeats * welcome.heartbeat * 1000));
    this.#status({ name: "attached", broker: welcome.broker, url: connection.url, resumed });
    a.move?.resolve();
    this.#first?.resolve();
    this.#first = null;
    const move = this.#pending;
    this.#pending = null;
    if (move) this.#move(move);
    else this.#reconsider();
  }

  /** Ends a connection whose broker is silent. A program that was held up itself has not read yet what has come: it looks once more. */
  #watchOver(connection, limit) {
    clearInterval(this.#watch);
    this.#looked = performance.now();
    this.#watch = setInterval(() => {
      const now = performance.now();
      const late = now - this.#looked > limit / 2 + look;
      this.#looked = now;
      if (late && !this.#spared) {
        this.#spared = true;
        return;
      }
      this.#spared = false;
      if (now - connection.heard <= limit) return;
      const error = unavailable(`nothing heard for ${Math.round((now - connection.heard) / 100) / 10} s`);
      error.said = true; // it is not expected to be there
      connection.end(error);
    }, Math.min(look, limit / 4));
  }

  /** A connection that was attached has ended. */
  #lost(connection, error) {
    if (connection !== this.#current) return;
    clearInterval(this.#watch);
    this.#current = null;
    this.#session.detach(connection);
    this.#tell({ type: "detached", url: connection.url, error });
    if (error.fatal) return this.#end(error);
    if (this.#attempt) return; // which may save the day
    if (this.#listener.listening) return this.#retryIn(sideWait, error);
    if (performance.now() - connection.attended < 2 * this.#backoff) return this.#wait(error);
    this.#backoff = this.#config.backoff[0];
    this.#search(connection.url, Boolean(error.said));
  }

  /** Strikes a broker out, unless its next answer will be another. */
  #refuse(trial, url, error) {
    trial.urls = trial.urls.filter((u) => u !== url);
    if (error.renumbered && !trial.renumbered.has(url)) {
      trial.renumbered.add(url);
      trial.urls.unshift(url);
      return;
    }
    trial.errors.push(error);
    if (error.fatal) trial.fatal = error;
    if (error.code === "taken_over") {
      trial.urls = [];
      trial.mayEnd = true;
      return;
    }
    const known = this.#roster.find(url);
    if (!known) return;
    known.failed = Date.now();
    if (known.taken && !error.fatal) trial.mayEnd = false; // it may take this client again
  }

  /** No broker of an attempt took this client. */
  #failed(a, trial) {
    this.#attempt = null;
    const error = trial.fatal ?? trial.errors[0] ?? unavailable("it was given up");
    a.move?.reject(a.overtaken ? overtaken(a.move) : error);
    if (error.code === "taken_over") return this.#end(error);
    if (a.move || a.choice) {
      this.#hold = performance.now() + this.#config.backoff[1];
      this.#tell({ type: "stayed", url: a.urls[0], error });
    }
    const move = this.#pending;
    this.#pending = null;
    if (move) this.#move(move);
    else if (this.#current) this.#reconsider();
    else if (a.move || a.choice) this.#search(null, false);
    else if (trial.fatal && trial.mayEnd) this.#end(error);
    else {
      this.#first?.reject(error);
      this.#first = null;
      if (this.#running) this.#wait(error);
    }
  }

  /** Going on makes no sense. */
  #end(error) {
    this.#first?.reject(error);
    this.#first = null;
    this.stop();
    this.#session.end(error);
    this.#status({ name: error.code === "taken_over" ? "taken-over" : "refused", error });
  }
}

function overtaken({ url }) {
  return new CallboardError({ code: "overtaken", message: `moving to ${url}: another move has replaced this one` });
}
