import { encode } from "./cbor.js";
import { closeError, unavailable } from "./errors.js";

const stagger = 250; // ms that a broker may take to answer before the next one is asked besides
const normal = 1000; // the status of a close frame

/** One WebSocket to a broker. It ends once, by ended(error). */
export class Connection {
  welcomed = false;
  heard = performance.now(); // ms, when the broker last said something
  attended = 0; // ms, when it was welcomed
  received = () => {}; // a message
  ended = () => {};
  over = null; // why it has ended
  #socket;
  #encode;

  /** @param {{url: string, address: string, subprotocol: string, WebSocket: function, opened: function, ended: function}} config */
  constructor({ url, address, subprotocol, WebSocket, opened, ended }) {
    this.url = url;
    this.#encode = subprotocol.endsWith(".cbor") ? encode : JSON.stringify;
    this.ended = ended;
    this.began = performance.now();
    const socket = new WebSocket(address, subprotocol);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.onopen = () => {
      if (socket.protocol === subprotocol) return opened(this);
      this.end(unavailable(`it speaks "${socket.protocol}", expected ${subprotocol}: is this a Callboard broker?`));
    };
    socket.onmessage = ({ data }) => {
      this.heard = performance.now();
      this.received(data);
    };
    socket.onclose = (e) => this.end(closeError(e));
    // Browsers say close with the reason right behind it, and node says error alone of an attempt that failed.
    socket.onerror = (e) => { setTimeout(() => this.end(closeError({ reason: e.message })), 0); };
  }

  send(message) {
    if (!this.over && this.#socket.readyState === 1) this.#socket.send(this.#encode(message));
  }

  /** Says goodbye; what comes after it is not heard. Closing handshakes with a dead peer take minutes: nobody waits for them. */
  close(error = unavailable("it was given up"), reason = "") {
    if (this.over) return;
    this.over = error;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.onerror = () => {};
    if (this.#socket.readyState === 1) this.#socket.close(normal, reason);
    else this.#socket.close();
  }

  /** Ends it, and says so. */
  end(error) {
    if (this.over) return;
    this.close(error);
    this.ended(error);
  }
}

/**
 * Asks brokers in order, the next one when one fails or does not answer for a
 * while. The first that answers wins.
 * @param {string[]} urls
 * @param {function} dial (url, {opened, ended}) → Connection
 * @param {AbortSignal} signal ends it
 * @param {number} timeout ms that each may take
 * @returns {Promise<{connection: Connection|null, failed: Map<string, Error>}>}
 */
export function race(urls, dial, signal, timeout) {
  return new Promise((resolve) => {
    const failed = new Map();
    const running = new Set();
    const timers = new Set();
    let started = 0;
    let next = 0;
    let decided = false;
    const after = (ms, f) => {
      const timer = setTimeout(f, ms);
      timers.add(timer);
      return timer;
    };
    const done = (connection) => {
      decided = true;
      timers.forEach(clearTimeout);
      signal.removeEventListener("abort", stop);
      for (const other of running) if (other !== connection) other.close();
      resolve({ connection, failed });
    };
    const stop = () => done(null);
    const fail = (url, error) => {
      if (decided) return;
      failed.set(url, error);
      if (failed.size === urls.length) done(null);
      else if (started < urls.length) start();
    };
    const start = () => {
      const url = urls[started++];
      clearTimeout(next);
      if (started < urls.length) next = after(stagger, start);
      let connection = null;
      const over = after(timeout, () => connection?.end(unavailable(`no answer within ${timeout / 1000} s`)));
      const ended = (error) => {
        clearTimeout(over);
        running.delete(connection);
        fail(url, error);
      };
      try {
        connection = dial(url, { opened: () => done(connection), ended });
        running.add(connection);
      } catch (error) { // no address, or the page may not
        ended(unavailable(error.message));
      }
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    else start();
  });
}
