/**
 * What a broker says, checked before the client counts with it: a number that
 * is none would be added up, and a source without a name acknowledged.
 */

import { decode } from "./cbor.js";
import { CallboardError } from "./errors.js";

const maxHeartbeat = 3600; // s
const maxMessage = 1 << 20; // bytes

const text = (v) => typeof v === "string" && v !== "";
const whole = (v, least) => Number.isSafeInteger(v) && v >= least;
const counter = (v) => whole(v, 0) && Number.isSafeInteger(v + 1); // there is a next one
const absent = (v) => v === undefined || v === null;
const object = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const list = (v, each) => absent(v) || (Array.isArray(v) && v.every(each));

const string = (v) => absent(v) || typeof v === "string";
const number = (v) => absent(v) || typeof v === "number";
const integer = (v) => absent(v) || Number.isSafeInteger(v);
const place = (v) => absent(v) || (object(v) && integer(v.line) && integer(v.column));
const truth = (v) => absent(v) || typeof v === "boolean";
const maybeWhole = (v) => absent(v) || whole(v, 0);
const failure = (v) => absent(v) || (object(v) && string(v.code) && string(v.message) && place(v.position));

/** op → [field, what it has to be, whether it is]. What is wrong elsewhere is the program's. */
const fields = {
  welcome: [
    ["broker", "text", text],
    ["session", "text", text],
    ["client", "text", string],
    ["attachment", "a number from 0", counter],
    ["heartbeat", `seconds up to ${maxHeartbeat}`, (v) => typeof v === "number" && v > 0 && v <= maxHeartbeat],
    ["window", "a number", integer],
    ["brokers", "a list of objects with id and url", (v) => list(v, (b) => object(b) && string(b.id) && string(b.url))],
    ["term", "a number from 0", maybeWhole],
    ["sides", "a list of objects with url", (v) => list(v, (s) => object(s) && string(s.url))],
  ],
  heartbeat: [
    ["broker", "text", string],
    ["time", "a number", number],
    ["term", "a number from 0", maybeWhole],
  ],
  notify: [
    ["source", "text", text],
    ["seq", "a number from 1", (v) => whole(v, 1)],
    ["skipped", "a number below seq", (v, m) => absent(v) || (whole(v, 0) && v < m.seq)],
    ["robot", "text", string],
    ["interface", "text", string],
    ["index", "a number from 0 to 65535", (v) => maybeWhole(v) && (v ?? 0) < 1 << 16],
    ["time", "a number", number],
    ["subscriptions", "a list of objects with id", (v) => list(v, (s) => object(s) && text(s.id) && truth(s.state))],
  ],
  gap: [
    ["source", "text", text],
    ["from", "a number from 1", (v) => whole(v, 1)],
    ["to", "a number not below from", (v, m) => absent(v) || whole(v, m.from)],
    ["why", "text", string],
    ["next", "text", string],
  ],
  subscribed: [
    ["id", "text", text],
    ["sources", "a list of texts", (v) => list(v, text)],
    ["robots", "a number from 0", maybeWhole],
    ["warning", "text", string],
  ],
  robot: [
    ["robot", "text", text],
    ["device", "text", string],
    ["source", "text", string],
    ["state", "text", text],
    ["lost", "a number from 0", maybeWhole],
    ["since", "a number", number],
  ],
  reply: [
    ["id", "text, of what has no key", (v, m) => string(v) && (text(v) || text(m.key))],
    ["key", "text", string],
    ["ok", "true or false", (v) => typeof v === "boolean"],
    ["error", "an object with code and message", failure],
  ],
  accepted: [
    ["id", "text", string],
    ["key", "text", string],
    ["ahead", "a number from 0", maybeWhole],
  ],
  task: [
    ["id", "text", text],
    ["task", "text", text],
    ["queue", "text", string],
    ["from", "text", string],
    ["left", "a number", number],
    ["again", "true or false", truth],
  ],
  cancelled: [["task", "text", string]],
  progress: [
    ["id", "text", string],
    ["key", "text", string],
  ],
  error: [
    ["id", "text", string],
    ["code", "text", text],
    ["message", "text", string],
    ["position", "a place", place],
    ["attachment", "a number from 0", (v) => absent(v) || counter(v)],
  ],
};

/**
 * Reads a message. What a newer broker may say passes.
 * @returns {{message?: object, wrong?: string}} wrong: what is malformed, and what was expected
 */
export function read(data, cbor) {
  if ((typeof data === "string") === cbor) return { wrong: cbor ? "text, expected CBOR" : "a binary message, expected text" };
  let message;
  try {
    message = cbor ? decode(data) : JSON.parse(data);
  } catch {
    return { wrong: `a message that is not ${cbor ? "CBOR" : "JSON"}` };
  }
  if (!object(message) || !text(message.op)) return { wrong: "a message without op, expected an object that has one" };
  for (const [name, expected, right] of Object.hasOwn(fields, message.op) ? fields[message.op] : []) {
    if (!right(message[name], message)) return { wrong: `${message.op} with ${name} ${shown(message[name])}, expected ${expected}` };
  }
  return { message };
}

/** Whether a state that was stored is one: another program may have written it. */
export function isState(state) {
  return object(state) && text(state.client) &&
    (absent(state.session) || typeof state.session === "string") &&
    (absent(state.attachment) || counter(state.attachment)) &&
    [state.num, state.terms].every((all) => absent(all) || (object(all) && Object.values(all).every((n) => whole(n, 0)))) &&
    list(state.unanswered, Number.isFinite) && list(state.subscriptions, (s) => object(s) && text(s.id)) && list(state.away, text);
}

/** Refuses what the broker would close the connection for. @returns {number} bytes */
export function checkSize(message) {
  const size = new TextEncoder().encode(JSON.stringify(message)).length;
  if (size > maxMessage) throw new CallboardError({ code: "bad_message", message: `a message of ${size} bytes, the limit is ${maxMessage}` });
  return size;
}

function shown(value) {
  return value === undefined ? "left out" : JSON.stringify(value).slice(0, 40);
}
