/**
 * Watches a fleet: which robots move or stand, are blocked, away or back.
 *
 *     node fleet.js ws://127.0.0.1:8800/ws 'r*'
 */
import { Client } from "../callboard.js";

const [broker, robots] = process.argv.slice(2);
const client = new Client({ brokers: [broker] });
client.on("attached", ({ broker }) => console.log(`attached to ${broker}`));
client.on("robot", ({ robot, device, state }) => console.log(`${device ? `${robot} ${device}` : robot} is ${state}`));
client.on("gap", ({ why }) => console.log(`something was missed: ${why}`));
client.on("status", ({ name, error }) => { if (name === "refused") throw error; });
client.connect();

// With trigger change a robot's state comes once, and when it is another.
const words = { moves: ["stands", "moves"], blocked: ["is free", "is blocked"] };
for (const [id, condition] of [["moves", "position.speed > 0.01"], ["blocked", "position.stall"]]) {
  client.subscribe({ id, condition, robots: [robots], trigger: "change", select: { x: "position.x", y: "position.y" } }, {
    notify: ({ robot }, { state, values: { x, y } }) => console.log(`${robot} ${words[id][Number(state)]} at ${x.toFixed(2)} ${y.toFixed(2)}`),
  });
}
