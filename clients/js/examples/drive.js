/**
 * Serves orders to drive a robot ahead; who asks is told how far it is, and when
 * it is there:
 *
 *     node drive.js ws://127.0.0.1:8800/ws r0
 *     callboard request r0/drive '{"metres": 1.5}' --progress
 */
import { Client } from "../callboard.js";

const [broker, robot] = process.argv.slice(2);
const client = await Client.dial({ brokers: [broker] });

const waiting = []; // for where the robot is
const place = () => new Promise((resolve) => { waiting.push(resolve); });
await client.subscribe({ condition: "position.time >= 0", robots: [robot], min_interval: 0.1, keep: "latest" }, {
  notify: ({ reading }) => { for (const resolve of waiting.splice(0)) resolve(reading); },
});

client.serve(`${robot}/drive`, async (task) => {
  const begin = await place();
  let driven = 0;
  try {
    while (driven < task.body.metres) {
      task.signal.throwIfAborted();
      await client.command({ robot, name: "velocity", args: [0.4, 0, 0, 1], ttl: 1 }); // for a second at most
      const { x, y } = await place();
      driven = Math.hypot(x - begin.x, y - begin.y);
      task.progress({ driven });
    }
  } finally { // also if the order is cancelled
    await client.command({ robot, name: "stop", ttl: 1 });
  }
  return { driven };
});
console.log(`serves ${robot}/drive`);
