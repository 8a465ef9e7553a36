import { CallboardError } from "./errors.js";

const maxBrokers = 256;

/** The brokers that a client may attach to: those of its configuration, and those that the last welcome named. */
export class Roster {
  #list = []; // {id, url, configured, named, roundTrip, failed, taken}
  #secure; // a token goes over wss only

  constructor({ brokers, token }) {
    for (const url of brokers) this.#entry(url).configured = true;
    this.#secure = Boolean(token) && this.#list.every((b) => b.url.startsWith("wss:"));
  }

  find(url) { return this.#list.find((b) => b.url === url) ?? null; }

  #entry(url) {
    let b = this.find(url);
    if (!b && this.#list.length < maxBrokers) {
      b = { id: "", url, configured: false, named: false, roundTrip: 0, failed: 0, taken: false };
      this.#list.push(b);
    }
    return b;
  }

  /** Takes a welcome that came over a connection to url. */
  welcome(url, { broker, brokers }) {
    for (const b of this.#list) b.named = false;
    for (const named of brokers ?? []) {
      let b = null;
      try { b = this.#entry(brokerURL(named.url)); } catch { continue; } // of no use here
      if (b) Object.assign(b, { id: named.id, named: true });
    }
    this.#list = this.#list.filter((b) => b.configured || b.named || b.url === url);
    const here = this.find(url);
    if (here) Object.assign(here, { id: broker, taken: true, failed: 0 });
  }

  /** Copies of those that may be used. */
  known() {
    return this.#list.filter((b) => b.configured || (b.named && (!this.#secure || b.url.startsWith("wss:")))).map((b) => ({ ...b }));
  }

  /**
   * URLs in the order in which they are tried: the one that was lost, unless it is
   * gone; those that answered before, nearest first; the others.
   */
  order(last, gone) {
    const known = this.known();
    const id = known.find((b) => b.url === last)?.id || null;
    const rank = (b) => {
      const lost = b.url === last || (id !== null && b.id === id);
      if (lost) return gone ? 4 : b.url === last ? 0 : 1;
      return b.roundTrip > 0 ? 2 : 3;
    };
    return known.sort((a, b) => rank(a) - rank(b) || (rank(a) === 2 ? a.roundTrip - b.roundTrip : 0)).map((b) => b.url);
  }
}

/**
 * Completes a broker's address: "host:port" and "http://host:port" become
 * "ws://host:port/ws" (https: wss).
 */
export function brokerURL(text) {
  const wrong = (why) => new CallboardError({ code: "bad_message", message: `callboard: broker "${text}": ${why}, expected ws://HOST:PORT/ws` });
  let url;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `ws://${text}`);
  } catch {
    throw wrong("no address");
  }
  const scheme = { "ws:": "ws:", "wss:": "wss:", "http:": "ws:", "https:": "wss:" }[url.protocol];
  if (!scheme) throw wrong(`scheme "${url.protocol}"`);
  url.protocol = scheme;
  if (url.pathname === "/") url.pathname = "/ws";
  return url.href;
}
