/** Rates of numbers that only grow, from one look to the next. */
export class Traffic {
  #seen = new Map(); // key → {at (ms), value, rate}

  /** Takes a number; returns what it grows a second, or null at first. */
  rate(key, value, now) {
    const before = this.#seen.get(key);
    if (before && now - before.at < 400) return before.rate; // looked at already
    const rate = before && value >= before.value ? ((value - before.value) * 1000) / (now - before.at) : null;
    this.#seen.set(key, { at: now, value, rate });
    return rate;
  }

  /** Forgets what was not looked at for a while. */
  tidy(now) {
    for (const [key, { at }] of this.#seen) if (now - at > 30_000) this.#seen.delete(key);
  }
}
