/**
 * The numbers of one client's notifications, by source: consecutive from 1, but
 * for what `skipped` and gaps account for. Of each source it is known what was
 * given (is in the queue), what the program has handled, and what of that was
 * acknowledged; and what the connection in use has brought (wire), beginning with
 * what its hello told as handled. What was given and comes again is dropped.
 */
export class Sequences {
  #all = new Map(); // source → {given, handled, acked, bytes, prompt}
  #wire = new Map();

  restore(numbers) {
    for (const [source, num] of Object.entries(numbers ?? {})) this.#all.set(source, { ...fresh(), given: num, handled: num, acked: num });
  }

  /** Forgets all, and returns [source, the last number given]. */
  clear() {
    const had = [...this.#all].map(([source, s]) => [source, s.given]);
    this.#all.clear();
    this.#wire.clear();
    return had;
  }

  /** What a hello tells: the highest number handled, by source. The connection's numbers begin there. */
  hello() {
    const told = this.numbers();
    this.#wire = new Map(Object.entries(told));
    for (const [source, s] of this.#all) s.acked = told[source];
    return told;
  }

  /** The highest number handled, by source. */
  numbers() { return Object.fromEntries([...this.#all].map(([source, s]) => [source, s.handled])); }

  get size() { return this.#all.size; }

  /** The source's numbers. A hello tells of each that was named, whether anything has come of it or not. */
  of(source) {
    let s = this.#all.get(source);
    if (!s) this.#all.set(source, (s = fresh()));
    return s;
  }

  /**
   * Takes a notification's numbers. fresh: it is news; skipped: how many were
   * passed over since the last one given; fault: what breaks the protocol.
   */
  notify(source, seq, skipped) {
    const s = this.of(source);
    const wire = this.#wire.get(source) ?? 0;
    if (seq <= wire) return { s, fresh: false, skipped, fault: `notification ${seq} came again, the last one was ${wire}` };
    const fault = seq === wire + 1 + skipped ? "" : `notification ${seq} (skipped ${skipped}) follows ${wire}, expected ${wire + 1 + skipped}`;
    this.#wire.set(source, seq);
    if (seq <= s.given) return { s, fresh: false, skipped, fault };
    const passed = fault ? skipped : seq - s.given - 1;
    s.given = seq;
    return { s, fresh: true, skipped: passed, fault };
  }

  /** Takes a gap's numbers. from: the first that is news. */
  gap(source, from, to) {
    const s = this.of(source);
    const wire = this.#wire.get(source) ?? 0;
    const fault = from === wire + 1 ? "" : `gap from ${from} follows ${wire}, expected ${wire + 1}`;
    this.#wire.set(source, Math.max(wire, to));
    if (to <= s.given) return { s, fresh: false, from, fault };
    const first = Math.max(from, s.given + 1);
    s.given = to;
    return { s, fresh: true, from: first, fault };
  }

  /** Ends a source's sequence; next follows it. It returns the first number that is missing. */
  end(source, from, next) {
    const first = Math.max(from, (this.#all.get(source)?.given ?? 0) + 1);
    this.#all.delete(source);
    this.#wire.delete(source);
    if (next) this.of(next);
    return first;
  }

  /** How many numbers of a source wait to be acknowledged: the broker must have sent them over this connection. */
  due(source, s) { return Math.max(0, Math.min(s.handled, this.#wire.get(source) ?? 0) - s.acked); }

  /** [source, num] to acknowledge, of those that due says; they count as acknowledged. */
  acks(due) {
    const list = [];
    for (const [source, s] of this.#all) {
      const n = this.due(source, s);
      if (n === 0 || !due(s, n)) continue;
      s.acked += n;
      s.bytes = 0;
      list.push([source, s.acked]);
    }
    return list;
  }
}

const fresh = () => ({ given: 0, handled: 0, acked: 0, bytes: 0, prompt: false });
