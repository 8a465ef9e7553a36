/**
 * Has a robot follow another one, whichever brokers read them. It goes on at
 * another broker when its own is lost.
 *
 *     node follow.js r0 r1 ws://127.0.0.1:8800/ws ws://127.0.0.1:8900/ws
 */
import { Client } from "../callboard.js";

const distance = 1; // m, to stay behind the leader
const [leader, follower, ...brokers] = process.argv.slice(2);
const client = await Client.dial({ brokers });
// Only where they are now matters: what waits is replaced by what is newer.
await client.subscribe({ id: "where", condition: "position.time >= 0", robots: [leader, follower], min_interval: 0.1, keep: "latest" });

const where = {};
let told = 0;
for await (const event of client.events()) {
  if (event.type === "attached") console.log(`attached to ${event.broker}`);
  if (event.type !== "notification") continue;
  where[event.robot] = event.reading;
  if (event.robot !== follower || !where[leader]) continue;
  const [dx, dy] = [where[leader].x - where[follower].x, where[leader].y - where[follower].y];
  const ahead = Math.hypot(dx, dy);
  const angle = Math.atan2(dy, dx) - where[follower].yaw;
  const turn = Math.atan2(Math.sin(angle), Math.cos(angle));
  const speed = Math.max(0, Math.min(0.6, ahead - distance)) * Math.cos(Math.min(Math.abs(turn), Math.PI / 2));
  try {
    await client.command({ robot: follower, name: "velocity", args: [speed, 0, Math.max(-1, Math.min(1, 2 * turn))], ttl: 0.5 });
  } catch (error) {
    console.error(error.message); // the next one may get through
  }
  if (Date.now() - told > 1000) {
    told = Date.now();
    console.log(`${leader} is ${ahead.toFixed(1)} m ahead`);
  }
}
