/**
 * Events on their way to the program, one at a time. What a handler returns a
 * promise of is waited for; without one all happens as an event comes.
 */
export class Queue {
  #items = []; // {event, size, source?, sequence?, seq?}
  #head = 0; // items before it are taken
  #bytes = 0;
  #busy = false;
  #open = false; // somebody listens
  #drained = null; // called when half is free
  #maxCount;
  #maxBytes;
  #deliver;
  #handled;

  /** @param {{count: number, bytes: number, deliver: function, handled: function}} config */
  constructor({ count, bytes, deliver, handled }) {
    this.#maxCount = count;
    this.#maxBytes = bytes;
    this.#deliver = deliver;
    this.#handled = handled;
  }

  get length() { return this.#items.length - this.#head; }

  /** Begins to deliver. */
  open() {
    if (this.#open) return;
    this.#open = true;
    queueMicrotask(() => this.#pump());
  }

  /** Adds an item; false if there is no room. */
  push(item) {
    if (this.length >= this.#maxCount || (this.length > 0 && this.#bytes + item.size > this.#maxBytes)) return false;
    this.force(item);
    return true;
  }

  /** Adds an item about the connection itself, of which there are few. */
  force(item) {
    this.#items.push(item);
    this.#bytes += item.size;
    this.#pump();
  }

  /** Resolves when at most half of the room is taken. */
  async half() {
    while (this.length * 2 > this.#maxCount || this.#bytes * 2 > this.#maxBytes) {
      await new Promise((resolve) => { this.#drained = resolve; });
    }
  }

  #pump() {
    if (this.#busy || !this.#open) return;
    this.#busy = true;
    while (this.#head < this.#items.length) {
      const item = this.#take();
      const later = this.#deliver(item.event);
      if (later) {
        later.then(() => {
          this.#handled(item);
          this.#busy = false;
          this.#pump();
        });
        return;
      }
      this.#handled(item);
    }
    this.#busy = false;
  }

  #take() {
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    this.#bytes -= item.size;
    if (this.#head === this.#items.length || this.#head > 1024) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    this.#drained?.();
    this.#drained = null;
    return item;
  }
}
