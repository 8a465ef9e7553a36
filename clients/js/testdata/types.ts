// What TypeScript says of a program: see TestTypes.
import { Client, CallboardError, brokerURL, type Laser } from "../callboard.js";

const client = await Client.dial({ brokers: [brokerURL("b1:8800")], token: "t", backoff: [1, 2], choose: (current, known) => known.filter((b) => b.url !== current).map((b) => b.url) });
client.on("gap", (gap) => { const from: number = gap.from; return from; });
client.on("status", (status) => { if (status.name === "waiting") status.retryAt.toFixed(); });
const near = await client.subscribe({ condition: "laser.min < 1", trigger: "rising" }, { notify: async (n, m) => { m.values?.x; n.seq; } });
await near.update({ keep: "latest" });
for await (const event of client.events()) {
  switch (event.type) {
    case "notification": {
      const laser: Laser = event.reading;
      const nearest: number = laser.min ?? Infinity;
      nearest.toFixed();
      break;
    }
    case "failure":
      if (event.error instanceof CallboardError) event.error.position?.column;
      break;
    // @ts-expect-error: there is no such event
    case "notify":
      break;
  }
}
// @ts-expect-error: a trigger that is none
client.subscribe({ condition: "true", trigger: "sometimes" });
// @ts-expect-error: no condition
client.subscribe({ id: "x" });
// @ts-expect-error: brokers are a list
new Client({ brokers: "b1:8800" });
// @ts-expect-error: a handler is a function
client.serve("docks", "handler");
const docks = client.serve("docks", async (task) => {
  task.progress({ half: true });
  await fetch("http://dock", { signal: task.signal });
  return { dock: 4, again: task.again, from: task.from.length };
}, { atOnce: 2 });
const ended: CallboardError = await docks.ended;
ended.code.length;
const answer = await client.request("docks", { robot: "r2" }, { ttl: 60, key: "k", signal: AbortSignal.timeout(5), accepted: (ahead) => ahead.toFixed(), progress: (p) => p.half });
answer.dock;
await client.command({ robot: "r0", name: "stop", key: "k2" });
await docks.stop();
