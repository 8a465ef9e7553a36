/** Acknowledges what the program has handled: batches that are full at once, the rest soon. */
export class Acknowledger {
  #config;
  #sequences;
  #send;
  #timer = 0;

  /** @param {{config: object, sequences: Sequences, send: function}} parts send([source, num][]) */
  constructor({ config, sequences, send }) {
    this.#config = config;
    this.#sequences = sequences;
    this.#send = send;
  }

  /** Something of a source was handled, or has come. */
  soon(source, s) {
    const due = this.#sequences.due(source, s);
    if (due === 0) return;
    if (this.#full(s, due)) this.flush(false);
    else this.#later();
  }

  /** A batch is full, or the broker waits for it. */
  #full(s, due) {
    const { ackCount, ackBytes } = this.#config;
    return s.prompt || due >= ackCount || s.bytes >= ackBytes;
  }

  #later() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.flush(true);
    }, this.#config.ackDelay);
  }

  /** Acknowledges all that is due, or the batches that are full. */
  flush(all) {
    let later = false;
    const acks = this.#sequences.acks((s, due) => {
      const now = all || this.#full(s, due);
      later ||= !now;
      return now;
    });
    if (acks.length > 0) this.#send(acks);
    if (later) this.#later();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
  }
}
