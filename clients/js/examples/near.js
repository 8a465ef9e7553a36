/**
 * Drives a robot ahead and stops it when something is near:
 *
 *     node near.js ws://127.0.0.1:8800/ws r0
 */
import { Client } from "../callboard.js";

const [broker, robot] = process.argv.slice(2);
const client = await Client.dial({ brokers: [broker] });

// The broker tests every scan; only the first one that matches comes here.
await client.subscribe({ id: "near", condition: "laser.front < 0.8", robots: [robot], trigger: "rising", select: { front: "laser.front" } });
await client.command({ robot, name: "velocity", args: [0.5, 0, 0], ttl: 1 });
for await (const event of client.events()) {
  if (event.type !== "notification") continue;
  await client.command({ robot, name: "stop", ttl: 1 });
  console.log(`${event.robot} stopped, ${event.subscriptions[0].values.front.toFixed(2)} m ahead`);
  break;
}
client.close();
