/** What a broker, or the connection, could not do. */
export class CallboardError extends Error {
  /** @param {{code?: string, message?: string, position?: object|null, id?: string, attachment?: number}} info */
  constructor(info) {
    super(info.message || info.code || "unknown error");
    this.name = "CallboardError";
    this.code = info.code || "unavailable";
    this.position = info.position ?? null;
    this.id = info.id ?? null;
    this.attachment = info.attachment ?? null;
  }
}

export const unavailable = (message) => new CallboardError({ code: "unavailable", message });

/** What a close event says. */
export function closeError({ code, reason }) {
  const codes = { 4401: "unauthorized", 4403: "forbidden", 4409: "conflict", 1013: "overloaded", 1008: "bad_message" };
  const error = new CallboardError({ code: codes[code], message: reason || (code === 1001 ? "the broker shut down" : "the connection was lost") });
  error.said = Boolean(code) && code !== 1006; // the broker said goodbye
  return error;
}
