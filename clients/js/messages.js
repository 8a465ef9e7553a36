/**
 * What a broker says, checked before the client counts with it: a number that
 * is none would be added up, and a source without a name acknowledged.
 */

const maxHeartbeat = 3600; // s

const text = (v) => typeof v === "string" && v !== "";
const whole = (v, least) => Number.isSafeInteger(v) && v >= least;
const counter = (v) => whole(v, 0) && Number.isSafeInteger(v + 1); // there is a next one
const absent = (v) => v === undefined || v === null;
const object = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const list = (v, each) => absent(v) || (Array.isArray(v) && v.every(each));

/** op → [field, what it has to be, whether it is]: of what the client counts with. */
const fields = {
  welcome: [
    ["broker", "text", (m) => text(m.broker)],
    ["session", "text", (m) => text(m.session)],
    ["attachment", "a number from 0", (m) => counter(m.attachment)],
    ["heartbeat", `seconds up to ${maxHeartbeat}`, (m) => typeof m.heartbeat === "number" && m.heartbeat > 0 && m.heartbeat <= maxHeartbeat],
  ],
  notify: [
    ["source", "text", (m) => text(m.source)],
    ["seq", "a number from 1", (m) => whole(m.seq, 1)],
    ["robot", "text", (m) => absent(m.robot) || typeof m.robot === "string"],
    ["time", "a number", (m) => absent(m.time) || typeof m.time === "number"],
    ["skipped", "a number below seq", (m) => absent(m.skipped) || (whole(m.skipped, 0) && m.skipped < m.seq)],
    ["subscriptions", "a list of objects with id", (m) => list(m.subscriptions, (s) => object(s) && text(s.id))],
  ],
  gap: [
    ["source", "text", (m) => text(m.source)],
    ["from", "a number from 1", (m) => whole(m.from, 1)],
    ["to", "a number not below from", (m) => absent(m.to) || whole(m.to, m.from)],
    ["next", "text", (m) => absent(m.next) || typeof m.next === "string"],
  ],
  subscribed: [
    ["id", "text", (m) => text(m.id)],
    ["sources", "a list of texts", (m) => list(m.sources, text)],
    ["robots", "a number", (m) => absent(m.robots) || whole(m.robots, 0)],
  ],
  robot: [
    ["robot", "text", (m) => text(m.robot)],
    ["device", "text", (m) => absent(m.device) || text(m.device)],
    ["state", "text", (m) => text(m.state)],
  ],
  reply: [
    ["id", "text", (m) => text(m.id)],
    ["ok", "true or false", (m) => typeof m.ok === "boolean"],
    ["error", "an object", (m) => absent(m.error) || object(m.error)],
  ],
  error: [
    ["code", "text", (m) => text(m.code)],
    ["attachment", "a number from 0", (m) => absent(m.attachment) || counter(m.attachment)],
  ],
};

/**
 * Reads a message. What a newer broker may say passes.
 * @returns {{message?: object, wrong?: string}} wrong: what is malformed, and what was expected
 */
export function read(data) {
  if (typeof data !== "string") return { wrong: "a binary message, expected text" };
  let message;
  try {
    message = JSON.parse(data);
  } catch {
    return { wrong: "a message that is not JSON" };
  }
  if (!object(message) || !text(message.op)) return { wrong: "a message without op, expected an object that has one" };
  for (const [name, expected, right] of Object.hasOwn(fields, message.op) ? fields[message.op] : []) {
    if (!right(message)) return { wrong: `${message.op} with ${name} ${shown(message[name])}, expected ${expected}` };
  }
  return { message };
}

/** Whether a state that was stored is one: another program may have written it. */
export function isState(state) {
  return object(state) && text(state.client) &&
    (absent(state.session) || typeof state.session === "string") &&
    (absent(state.attachment) || counter(state.attachment)) &&
    (absent(state.num) || (object(state.num) && Object.values(state.num).every((n) => whole(n, 0)))) &&
    list(state.unanswered, Number.isFinite) && list(state.subscriptions, (s) => object(s) && text(s.id)) && list(state.away, text);
}

function shown(value) {
  return value === undefined ? "left out" : JSON.stringify(value).slice(0, 40);
}
