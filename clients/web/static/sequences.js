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

  /** The highest number handled, by source. */
  numbers() { return Object.fromEntries(this.#last); }

  /** Takes a notification's numbers. fresh: it is news. fault: what breaks the protocol. */
  notify(source, seq, skipped) {
    const wire = this.#wire.get(source) ?? 0;
    const fault = seq === wire + 1 + skipped ? "" : `notification ${seq} (skipped ${skipped}) follows ${wire}`;
    return { fresh: this.#advance(source, seq), fault };
  }

  /** Takes a gap's numbers. Without to the source's sequence has ended. */
  gap(source, from, to) {
    const wire = this.#wire.get(source) ?? 0;
    const fault = from === wire + 1 ? "" : `gap from ${from} follows ${wire}`;
    if (to === undefined || to === null) {
      for (const numbers of [this.#last, this.#wire, this.#acked]) numbers.delete(source);
      return { fresh: true, fault };
    }
    return { fresh: this.#advance(source, to), fault };
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
