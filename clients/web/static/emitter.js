/** Handlers by event name; what one throws is reported and stops nothing. */
export class Emitter {
  #handlers = new Map();

  /** @returns {function} ends it */
  on(name, handler) {
    if (!this.#handlers.has(name)) this.#handlers.set(name, new Set());
    this.#handlers.get(name).add(handler);
    return () => this.#handlers.get(name).delete(handler);
  }

  emit(name, value) {
    for (const handler of this.#handlers.get(name) ?? []) guarded(handler, value);
  }
}

/** Calls a handler that is somebody else's. */
export function guarded(handler, ...values) {
  try {
    handler(...values);
  } catch (error) {
    console.error("callboard: a handler failed:", error);
  }
}
