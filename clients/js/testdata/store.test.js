/** The store, which only browsers have: what a page leaves to the next one. Run by js_test.go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../callboard.js";

/** A WebSocket whose other end is the test. */
class Socket {
  static made = [];
  static waiting = null;
  sent = [];
  readyState = 0;
  protocol = "callboard.v1";

  constructor(address) {
    this.address = address;
    Socket.made.push(this);
    Socket.waiting?.();
  }

  send(text) { this.sent.push(JSON.parse(text)); }
  close() { this.readyState = 3; }

  hello() {
    this.readyState = 1;
    this.onopen();
    return new Promise((resolve) => { setImmediate(() => resolve(this.sent.find((m) => m.op === "hello"))); });
  }

  say(message) { this.onmessage({ data: JSON.stringify(message) }); }

  welcome(attachment) { this.say({ op: "welcome", broker: "b1", session: "one", attachment, heartbeat: 3600, brokers: [] }); }

  cut() {
    this.readyState = 3;
    this.onclose({ code: 1006, reason: "" });
  }

  static async next() {
    while (Socket.made.length === 0) await new Promise((resolve) => { Socket.waiting = resolve; });
    return Socket.made.shift();
  }
}

let kept = null;
const store = { load: () => kept, save: (state) => { kept = structuredClone(state); } };
let last = null;

function make(config) {
  const left = kept;
  last?.close(); // a page that goes saves nothing
  kept = left;
  last = new Client({ brokers: ["b"], WebSocket: Socket, backoff: [1, 1], ackCount: 1, ...config });
  last.on("fault", () => {});
  return last;
}

const until = async (status) => { while (last.status.name !== status) await new Promise(setImmediate); };
const conflict = (attachment) => ({ op: "error", code: "conflict", message: "taken over", attachment });

test("a stored state that is none", async () => {
  for (const state of [
    "x", [], { client: 5 }, { client: "x", session: "one", attachment: "7" }, { client: "x", session: "one", num: { b: "5" } },
    { client: "x", session: "one", subscriptions: {} }, { client: "x", session: "one", attachment: 2 ** 53 - 1 },
    { client: "x", session: "one", subscriptions: ["a"] },
  ]) {
    kept = state;
    make({ store }).connect();
    const hello = await (await Socket.next()).hello();
    assert.ok(hello.client && hello.client !== "x" && !hello.session && !hello.attachment, JSON.stringify([state, hello]));
  }
});

test("another page goes on", async () => {
  kept = null;
  let c = make({ store });
  c.connect();
  const near = c.subscribe({ id: "near", condition: "laser.min < 1" });
  c.subscribe({ id: "gone", condition: "laser.min < 1" });
  let s = await Socket.next();
  const first = await s.hello();
  s.welcome(1);
  for (const id of ["near", "gone"]) s.say({ op: "subscribed", id, sources: ["s1"], robots: 1 });
  await near;
  c.on("notification", () => {});
  s.say({ op: "notify", source: "s1", seq: 1, subscriptions: [{ id: "near" }] });
  await new Promise(setImmediate);
  c = make({ store });
  const again = await c.subscribe({ id: "near", condition: "laser.min < 1" });
  c.connect();
  s = await Socket.next();
  const hello = await s.hello();
  assert.deepEqual({ ...hello, client: "" }, {
    op: "hello", client: "", attachment: 2, session: "one", num: { s1: 1 }, away: [], subscriptions: [{ id: "near", condition: "laser.min < 1" }],
  });
  assert.equal(hello.client, first.client);
  s.welcome(2);
  s.say({ op: "subscribed", id: "near", sources: ["s1"], robots: 7 });
  assert.equal(again.robots, 7);
});

for (const [name, explained, first] of [
  ["by another page", 1, async () => { make({ store }).connect(); }],
  ["given up twice", 2, async (s) => {
    s.cut();
    const next = await Socket.next();
    await next.hello();
    next.cut();
  }],
  ["refused", 0, async (s) => { s.say({ op: "error", code: "overloaded", message: "no room" }); }],
  ["long after", 0, async (s, t) => {
    s.cut();
    const now = Date.now;
    Date.now = () => now() + 6 * 60_000;
    t.after(() => { Date.now = now; });
  }],
]) {
  test(`a first hello that is taken late: ${name}`, async (t) => {
    kept = null;
    make({ store }).connect();
    let s = await Socket.next();
    const hello = await s.hello();
    await first(s, t);
    s = await Socket.next();
    const again = await s.hello();
    assert.equal(again.client, hello.client);
    assert.equal(again.attachment, undefined);
    s.welcome(1);
    let newest = 2;
    for (let n = 0; n < explained; n++, newest += 2) {
      s.say(conflict(newest));
      s = await Socket.next();
      const resumed = await s.hello();
      assert.equal(resumed.attachment, newest + 1);
      assert.equal(resumed.session, "one");
      s.welcome(newest + 1);
    }
    s.say(conflict(newest));
    await until("taken-over");
  });
}

test("a number is used once, by whatever page", async () => {
  kept = null;
  make({ store }).connect();
  let s = await Socket.next();
  await s.hello();
  s.welcome(1);
  s.cut();
  s = await Socket.next();
  assert.equal((await s.hello()).attachment, 2);
  make({ store }).connect(); // another page comes before the answer
  s = await Socket.next();
  assert.equal((await s.hello()).attachment, 3);
});

test("events wait for somebody who listens, and promises are waited for", async () => {
  last.close();
  last = null;
  const c = new Client({ brokers: ["b"], client: "me", WebSocket: Socket, ackCount: 1 });
  c.connect();
  const s = await Socket.next();
  await s.hello();
  s.welcome(1);
  for (let seq = 1; seq <= 3; seq++) s.say({ op: "notify", source: "s1", seq, subscriptions: [] });
  const acks = () => s.sent.filter((m) => m.op === "ack").map((m) => m.num);
  await new Promise(setImmediate);
  assert.deepEqual(acks(), []);
  const events = c.events();
  const seqs = [];
  for await (const event of events) {
    if (event.type !== "notification") continue;
    seqs.push(event.seq);
    assert.deepEqual(acks(), seqs.slice(0, -1));
    if (event.seq === 3) break;
  }
  await new Promise(setImmediate);
  assert.deepEqual(acks(), [1, 2, 3]);
  c.close();
});

test("an anonymous client has no store, and addresses are completed", () => {
  assert.throws(() => new Client({ brokers: ["b"], WebSocket: Socket, anonymous: true, store }), TypeError);
  assert.throws(() => new Client({ brokers: [], WebSocket: Socket }), TypeError);
  assert.throws(() => new Client({ brokers: ["ftp://b"], WebSocket: Socket }), /scheme/);
});
