/** Handlers by event name; what one throws is reported and stops nothing. */
export class Emitter {
  #handlers = new Map();

  /** @returns {function} ends it */
  on(name, handler) {
    if (!this.#handlers.has(name)) this.#handlers.set(name, new Set());
    this.#handlers.get(name).add(handler);
    return () => this.#handlers.get(name).delete(handler);
  }

  /** @returns {Promise[]} of the handlers that are not done yet */
  emit(name, value) {
    const later = [];
    for (const handler of this.#handlers.get(name) ?? []) {
      const promise = guarded(handler, value);
      if (promise) later.push(promise);
    }
    return later;
  }
}

/** Calls a handler that is somebody else's. It returns a promise, which never fails, if the handler does. */
export function guarded(handler, ...values) {
  try {
    const result = handler(...values);
    return typeof result?.then === "function" ? Promise.resolve(result).catch(report) : null;
  } catch (error) {
    report(error);
    return null;
  }
}

function report(error) {
  console.error("callboard: a handler failed:", error);
}
