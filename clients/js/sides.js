import { race } from "./connection.js";
import { unavailable } from "./errors.js";
import { read } from "./messages.js";
import { brokerURL } from "./roster.js";

const maxSides = 64; // URLs of pairs of brokers that are remembered

/** ms that a client that has lost one side of a pair waits for the other, to which it listens, to be active before it looks for any broker. */
export const sideWait = 500;

/** Of pairs of brokers the newest term in which each served the client, by its URL. */
export class Terms {
  #all = new Map();
  #here = []; // URLs of the pair that the client hangs on

  restore(terms) { this.#all = new Map(Object.entries(terms ?? {})); }

  of(url) { return this.#all.get(url) ?? 0; }

  all() { return Object.fromEntries(this.#all); }

  /** Takes a welcome that came from url. It returns what is wrong: the side may not know yet that it has been replaced. */
  welcome(url, { term, sides }) {
    if (term && term < this.of(url)) return `term ${term} after ${this.of(url)}: it is the side of a pair of brokers that was active before`;
    this.#here = [url, ...sideURLs(sides)];
    this.now(term);
    return "";
  }

  /** What follows is said in a term. */
  now(term) {
    if (!term) return;
    if (this.#all.size > maxSides - this.#here.length) this.#all.clear();
    for (const url of this.#here) this.#all.set(url, Math.max(term, this.of(url)));
  }
}

function sideURLs(sides) {
  const urls = [];
  for (const side of (sides ?? []).slice(0, maxSides / 2)) {
    try { urls.push(brokerURL(side.url)); } catch { } // of no use here
  }
  return urls;
}

/** Listens at the side of a pair of brokers that the client does not hang on, until that is active. */
export class Listener {
  listening = false;
  #config;
  #dial;
  #hello;
  #active;
  #url = ""; // of the side
  #abort = null; // ends the listening there

  /** @param {{config: object, dial: function, hello: function, active: function}} parts hello(url) → message; active(url, term) → Promise, null if the term is an old one */
  constructor({ config, dial, hello, active }) {
    this.#config = config;
    this.#dial = dial;
    this.#hello = hello;
    this.#active = active;
  }

  /** The client hangs on url, as its welcome says a side of a pair. */
  attached(url, { sides }) {
    const other = sideURLs(sides).find((side) => side !== url) ?? "";
    if (other === this.#url) return;
    this.stop();
    this.#url = other;
    if (!other) return;
    this.#abort = new AbortController();
    this.#stay(other, this.#abort.signal);
  }

  stop() {
    this.#abort?.abort();
    this.#abort = null;
    this.#url = "";
    this.listening = false;
  }

  async #stay(url, signal) {
    const [least, most] = this.#config.backoff;
    for (let wait = least; !signal.aborted; wait = Math.min(2 * wait, most)) {
      const began = performance.now();
      await this.#listen(url, signal);
      if (performance.now() - began > 2 * wait) wait = least;
      await pause(wait, signal);
    }
  }

  /** Hears which side is active, until the connection ends. */
  async #listen(url, signal) {
    const { connection } = await race([url], this.#dial, signal, this.#config.connectTimeout);
    if (!connection) return;
    const stop = () => connection.end(unavailable("it was given up"));
    signal.addEventListener("abort", stop);
    await new Promise((resolve) => {
      connection.ended = resolve;
      if (signal.aborted || connection.over) return resolve(stop());
      connection.received = (data) => this.#heard(connection, data);
      connection.send(this.#hello(url));
    });
    signal.removeEventListener("abort", stop);
    if (!signal.aborted) this.listening = false;
  }

  #heard(connection, data) {
    const { message: m, wrong } = read(data, this.#config.cbor);
    if (wrong) return connection.end(unavailable(`the broker broke the protocol: ${wrong}`));
    this.listening = true;
    if (m.op !== "active") return;
    if (!Number.isSafeInteger(m.term)) return connection.end(unavailable("the broker broke the protocol: active without a term"));
    this.#active(connection.url, m.term)?.catch((error) => connection.end(error));
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
