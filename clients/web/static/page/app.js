/** The page: makes the parts and connects them. */
import { Client, brokerURL } from "../callboard.js";
import { throttled } from "./dom.js";
import { openStore, watchStore } from "./identity.js";
import { Theme } from "./theme.js";
import { Robots } from "./robots.js";
import { Layers } from "./layers.js";
import { FloorPlans } from "./floorplan.js";
import { Feed } from "./feed.js";
import { WorldMap } from "./map.js";
import { Watches } from "./watches.js";
import { Composer } from "./composer.js";
import { Cards } from "./cards.js";
import { Notices } from "./notices.js";
import { Roster } from "./roster.js";
import { Drive } from "./drive.js";
import { Link } from "./link.js";

const listPeriod = 5000; // ms between looks at the list of robots

async function start() {
  const brokers = [brokerURL(document.baseURI)];
  const client = new Client({ brokers, store: await openStore() }); // the user's subscriptions and commands
  const viewer = new Client({ brokers, anonymous: true }); // what the map shows: no flood of notifications stands before it
  const theme = new Theme();
  const robots = new Robots();
  const layers = new Layers();
  const plans = new FloorPlans(() => map.refit());
  const map = new WorldMap({ robots, theme, layers, plans });
  const feed = new Feed({ client: viewer, robots, layers, changed: () => map.drawSoon() });
  const watches = new Watches({ client, store: watchStore });
  const composer = new Composer({ watches, connected: () => client.state.name === "attached" });
  const notices = new Notices({ client, watches, robots, map });
  new Cards({ watches, edit: (w) => composer.edit(w), filter: (w) => notices.filter(w) });
  new Roster({ robots, watch: (name) => composer.forRobot(name) });
  new Drive({ client, robots });
  new Link({ client, viewer, robots });

  const list = throttled(500, async () => {
    if (viewer.state.name !== "attached") return;
    try {
      robots.listed(await viewer.list("robots"));
      plans.refresh();
      layers.note(feed.crowded ? "Many robots: scans of the selected one only." : "");
    } catch (error) {
      if (viewer.state.name === "attached") console.warn("callboard: list of robots:", error.message);
    }
  });
  viewer.on("state", (s) => { if (s.name === "attached") list(); });
  viewer.on("robot", (m) => { robots.told(m); list(); });
  viewer.on("error", (error) => console.warn("callboard: the map's connection:", error.message));
  client.on("state", (s) => { if (s.name === "attached") viewer.connect(); }); // the broker is there: no need to wait
  setInterval(() => { if (!document.hidden) list(); }, listPeriod);

  watches.restore();
  expose({ client, viewer, robots, watches, notices, map });
  viewer.connect();
  client.connect();
}

/** window.callboard: what the page knows, to read, for tests and the curious. */
function expose({ client, viewer, robots, watches, notices, map }) {
  const view = {
    get connection() { return client.state.name; },
    get viewing() { return viewer.state.name; },
    get client() { return { id: client.id, session: client.session, attachment: client.attachment }; },
    get robots() {
      return robots.all.map((r) => ({ name: r.name, world: r.world, state: r.state, x: r.position?.x, y: r.position?.y, yaw: r.position?.yaw, scans: r.scans.size, sonars: r.sonars.size, body: r.body, matching: r.matches.size }));
    },
    get selected() { return robots.selected; },
    get subscriptions() { return watches.all.map((w) => ({ id: w.id, condition: w.spec.condition, colour: w.colour, count: w.meter.total, live: w.subscription !== null })); },
    get notifications() { return { listed: notices.length, total: watches.meter.total, newest: notices.newest }; },
    get map() { return { ...map.view, frames: map.frames }; },
  };
  Object.defineProperty(window, "callboard", { value: Object.freeze(view) });
}

start();
