/** The driver of clients/conformance: one client, told line by line what to do. */
import { createInterface } from "node:readline";
import { Client } from "../callboard.js";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => {
  const { value, done } = await lines.next();
  return done ? null : JSON.parse(value);
};
const print = (value) => process.stdout.write(JSON.stringify(value) + "\n");

const given = await read();
const ms = (s) => (s === undefined ? undefined : s * 1000);
const client = new Client({
  brokers: given.brokers, client: given.client, anonymous: given.anonymous, token: given.token, resume: given.resume,
  backoff: given.backoff.map(ms), connectTimeout: ms(given.connect_timeout),
  ackCount: given.ack_count, ackDelay: given.ack_delay === undefined ? undefined : Math.min(ms(given.ack_delay), 2 ** 31 - 1), queueCount: given.queue_count,
  cbor: given.cbor, choose: given.choose && (() => given.choose),
});

let held = null; // {promise, release}
const names = ["notification", "gap", "robot", "failure", "fault", "resubscribed", "attached", "stayed", "detached"];
for (const name of names) {
  client.on(name, ({ type, error, ...fields }) => {
    print({ event: type, ...fields });
    return held?.promise;
  });
}
const calls = new Set();
client.on("status", async ({ name, error }) => {
  if (!["closed", "taken-over", "refused"].includes(name)) return;
  await Promise.all(calls);
  process.stdout.write(JSON.stringify({ end: error?.code ?? "" }) + "\n", () => setTimeout(() => process.exit(), 50));
});

const servers = new Map(); // by queue
const inHand = new Map(); // word → {resolve, reject, task}
const asked = new Map(); // tag → AbortController

/** Has a task done by what the driver is told to do. */
function work(task) {
  const { name, queue, from, body, again } = task;
  print({ event: "task", task: name, queue, from, body, again });
  return new Promise((resolve, reject) => {
    inHand.set(name, { resolve, reject, task });
    task.signal.addEventListener("abort", () => {
      print({ event: "cancelled", task: name });
      reject(task.signal.reason);
    });
  });
}

const actions = {
  request: ({ queue, body, ...options }, tag) => {
    asked.set(tag, new AbortController());
    return client.request(queue, body, {
      ...options, signal: asked.get(tag).signal,
      accepted: (ahead) => print({ event: "accepted", ahead }), progress: (progress) => print({ event: "progress", progress }),
    });
  },
  cancel: async ({ tag }) => asked.get(tag).abort(Object.assign(new Error("a test"), { code: "aborted" })),
  serve: async ({ queue, at_once: atOnce, echo }) => {
    const s = client.serve(queue, echo ? ({ body }) => body : work, { atOnce });
    servers.set(queue, s);
    s.ended.then(({ code }) => code === "closed" || print({ event: "unserved", queue, code }));
  },
  stop: ({ queue }) => servers.get(queue).stop(),
  answer: async ({ task, body, error }) => (error ? inHand.get(task).reject(new Error(error)) : inHand.get(task).resolve(body)),
  progress: async ({ task, progress }) => inHand.get(task).task.progress(progress),
  subscribe: async (a) => shown(await client.subscribe(a)),
  update: async ({ id, ...changes }) => {
    const s = client.subscriptions.get(id);
    if (!s) throw Object.assign(new Error(`no subscription ${id}`), { code: "not_found" });
    return shown(await s.update(changes));
  },
  unsubscribe: async ({ id }) => {
    const s = client.subscriptions.get(id);
    if (!s) throw Object.assign(new Error(`no subscription ${id}`), { code: "not_found" });
    await s.unsubscribe();
  },
  command: (a) => client.command(a),
  list: ({ what }) => client.list(what),
  move: ({ url }) => client.move(url),
  state: async () => client.state(),
  hold: async () => {
    let release;
    held = { promise: new Promise((resolve) => { release = resolve; }) };
    held.release = release;
  },
  release: async () => {
    held.release();
    held = null;
  },
  close: async () => client.close(),
};
const shown = ({ id, sources, robots, warning }) => ({ id, sources, robots, warning: warning || undefined });

async function call({ tag, do: name, args }) {
  try {
    print({ result: tag, value: (await actions[name](args, tag)) ?? null });
  } catch (error) {
    print({ result: tag, error: { code: error.code ?? "unavailable", message: error.message, position: error.position } });
  }
}

client.connect();
for (let m = await read(); m; m = await read()) {
  const done = call(m);
  calls.add(done);
  done.then(() => calls.delete(done));
}
