/**
 * The numbers of one client's notifications, by source: consecutive from 1,
 * but for what `skipped` and gaps account for. After a resume the broker may
 * send again what was handled already; it is dropped.
 */
export class Sequences {
  #last = new Map(); // source → the highest number handled
  #wire = new Map(); // source → the last number of this connection
  #acked = new Map(); // source → the highest number acknowledged

  restore(numbers) {
    for (const [source, num] of Object.entries(numbers ?? {})) this.#last.set(source, num);
  }

  clear() {
    this.#last.clear();
    this.attach();
  }

  /** Begins a connection whose hello told numbers(). */
  attach() {
    this.#wire = new Map(this.#last);
    this.#acked = new Map(this.#last);
  }

  /** Takes note of a source that the broker has named: numbers() tells of it, whether anything has come of it or not. */
  name(source) {
    if (!this.#last.has(source)) this.#last.set(source, 0);
  }

  /** The highest number handled, by source. */
  numbers() { return Object.fromEntries(this.#last); }

  /** Takes a notification's numbers. fresh: it is news. fault: what breaks the protocol. */
  notify(source, seq, skipped) {
    const wire = this.#wire.get(source) ?? 0;
    const fault = seq === wire + 1 + skipped ? "" : `notification ${seq} (skipped ${skipped}) follows ${wire}`;
    return { fresh: this.#advance(source, seq), fault };
  }

  /**
   * Takes a gap's numbers. from: the first that is news. Without to the source's
   * sequence has ended, and next, if there is one, follows it. A broker tells the
   * end from what it knows to be handled, again until a hello shows that it is known.
   */
  gap(source, from, to, next) {
    const wire = this.#wire.get(source) ?? 0;
    const fault = from === wire + 1 ? "" : `gap from ${from} follows ${wire}`;
    const first = Math.max(from, (this.#last.get(source) ?? 0) + 1);
    if (to === undefined || to === null) {
      for (const numbers of [this.#last, this.#wire, this.#acked]) numbers.delete(source);
      if (next) this.name(next);
      return { fresh: true, from: first, fault: wire > 0 && from > wire + 1 ? fault : "" }; // of one told again nothing is known
    }
    return { fresh: this.#advance(source, to), from: first, fault };
  }

  #advance(source, num) {
    this.#wire.set(source, Math.max(num, this.#wire.get(source) ?? 0));
    if (num <= (this.#last.get(source) ?? 0)) return false;
    this.#last.set(source, num);
    return true;
  }

  /** How many handled notifications of any one source wait to be acknowledged. */
  due() {
    let most = 0;
    for (const [source, num] of this.#last) most = Math.max(most, num - (this.#acked.get(source) ?? 0));
    return most;
  }

  /** [source, num] to acknowledge; they count as acknowledged. */
  acks() {
    const due = [...this.#last].filter(([source, num]) => num > (this.#acked.get(source) ?? 0));
    for (const [source, num] of due) this.#acked.set(source, num);
    return due;
  }
}
