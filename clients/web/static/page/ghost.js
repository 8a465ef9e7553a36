import { byId, setText } from "./dom.js";
import { clock } from "./format.js";
import { text } from "./text.js";

/** A notification of the past on the map: the robot, and its scan, as they were, until somebody goes back to now. */
export class Ghost {
  #map;
  #robots;
  #let = null; // called when it goes
  entry = null;

  constructor({ map, robots }) {
    this.#map = map;
    this.#robots = robots;
    byId("ghost-end").addEventListener("click", () => this.show(null));
    document.addEventListener("keydown", (e) => { if (e.key === "Escape" && this.entry && !e.defaultPrevented) this.show(null); });
  }

  /** Shows an entry of Past or of the notifications' list; null shows none. gone is called when it is not shown any more. */
  show(entry, gone = null) {
    const before = this.#let;
    [this.entry, this.#let] = [entry, gone];
    if (entry && this.#robots.get(entry.robot)) this.#robots.select(entry.robot);
    this.#map.showGhost(entry && as(entry));
    byId("ghost").hidden = !entry;
    if (entry) setText(byId("ghost-text"), text.past.shown(entry.robot, clock(entry.at), entry.pose !== null));
    if (before !== gone) before?.();
  }
}

/** What the map paints of an entry. */
function as({ robot, pose, notification, matches }) {
  const { reading } = notification;
  const device = `${notification.interface}:${notification.index}`;
  const ranges = Array.isArray(reading?.ranges);
  return {
    robot, pose, colour: matches[0].watch.colour,
    scan: ranges && reading.angle_min !== undefined ? { reading, device } : null,
    sonar: ranges && reading.angle_min === undefined ? { reading, device } : null,
  };
}
