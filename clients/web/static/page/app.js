/** The page: makes the parts and connects them. */
import { Client } from "../callboard.js";
import { throttled } from "./dom.js";
import { besidePage, openStore, watchStore } from "./identity.js";
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
import { Draft } from "./draft.js";
import { Drive } from "./drive.js";
import { Fleet } from "./fleet.js";
import { Ghost } from "./ghost.js";
import { Address } from "./address.js";
import { Keys } from "./keys.js";
import { Past } from "./past.js";
import { RobotPanel } from "./panel.js";
import { Sensors } from "./sensors.js";
import { Replay } from "./replay.js";
import { TimeLine } from "./timeline.js";
import { text } from "./text.js";
import { Views } from "./views.js";
import { Words } from "./words.js";
import { Zones } from "./zones.js";
import { Link } from "./link.js";
import { Network } from "./network.js";
import { Diagram } from "./diagram.js";

const listPeriod = 5000; // ms between looks at the list of robots; longer if it is
const many = 100; // robots of which the list is looked at so often
const networkPeriod = 600; // ms between looks at the list of brokers, if there are several

async function start() {
  const brokers = [besidePage(document.baseURI)];
  const config = { brokers, sides: false, backoff: [250, 5000] }; // the broker that the page is from; if that is gone, another of the network
  const client = new Client({ ...config, store: await openStore() }); // the user's subscriptions and commands
  const viewer = new Client({ ...config, anonymous: true }); // what the map shows: no flood of notifications stands before it
  const theme = new Theme();
  const robots = new Robots();
  const layers = new Layers();
  const plans = new FloorPlans(() => map.refit());
  const network = new Network();
  const words = new Words();
  const zones = new Zones({ words });
  const map = new WorldMap({ robots, theme, layers, plans, network, zones });
  const ghost = new Ghost({ map, robots });
  const feed = new Feed({ client: viewer, robots, layers, inView: () => map.inView, changed: () => map.draw() });
  const watches = new Watches({ client, store: watchStore });
  const views = new Views();
  const past = new Past({ watches, robots });
  const draft = new Draft({ client: new Client({ ...config, anonymous: true }) });
  const sensors = new Sensors({ client: viewer });
  const composer = new Composer({ watches, draft, words, robots, connected: () => client.status.name === "attached" });
  const notices = new Notices({ client, watches, robots, map, words, ghost });
  new Cards({ watches, edit: (w) => composer.edit(w), filter: (w) => notices.filter(w) });
  new Roster({ robots, views });
  const watchRobot = (name) => { views.show("conditions"); composer.forRobot(name); };
  const showPast = (entry) => ghost.show(entry);
  const timeline = new TimeLine({ past, theme, show: showPast });
  const replay = new Replay({ watches, theme, words });
  const address = new Address({ views, robots, watches, map, timeline, replay });
  new Keys({ views });
  new RobotPanel({ robots, sensors, views, theme, words, past, watch: watchRobot, show: showPast });
  new Drive({ client, robots });
  new Link({ client, viewer, robots });
  new Fleet({ client: viewer, network, views });
  new Diagram({ network, robots });

  const list = throttled(500, async () => {
    if (viewer.status.name !== "attached") return;
    try {
      robots.listed(await viewer.list("robots"));
      plans.refresh();
      layers.note(feed.crowded ? text.map.crowded : "");
    } catch (error) {
      if (viewer.status.name === "attached") console.warn("callboard: list of robots:", error.message);
    }
  });
  watchNetwork(viewer, network, layers);
  robots.on("select", (name) => network.setFocus(network.guideOf(name)?.name ?? null));
  viewer.on("status", (s) => { if (s.name === "attached") list(); });
  viewer.on("robot", (m) => { robots.told(m); list(); });
  viewer.on("failure", (f) => console.warn("callboard: the map's connection:", f.message));
  client.on("status", (s) => { if (s.name === "attached") viewer.connect(); }); // the broker is there: no need to wait
  let looked = 0;
  setInterval(() => {
    const due = looked + listPeriod * Math.max(1, robots.size / many);
    if (document.hidden || (Date.now() < due && ![...robots.each()].some((r) => r.state === "unknown"))) return;
    looked = Date.now();
    list();
  }, listPeriod);

  watches.restore();
  address.take();
  words.load();
  expose({ client, viewer, robots, watches, notices, map, network, sensors, zones, timeline, ghost, replay });
  viewer.connect();
  client.connect();
}

/** Looks at the list of brokers: often if there are several, and then at what a demo counts, too. */
async function watchNetwork(viewer, network, layers) {
  let counts = true; // there may be something at /api/roam, or at /api/adhoc
  const look = async () => {
    network.listed(await viewer.list("brokers"));
    const covers = network.brokers.some((b) => b.coverage);
    layers.offerNetwork(covers || network.tally?.carriers !== undefined);
    if (!counts || network.size < 2) return;
    const url = new URL(covers ? "api/roam" : "api/adhoc", document.baseURI);
    url.username = url.password = ""; // fetch refuses them; the browser knows them by now
    if (covers || network.moving) {
      const answer = await fetch(url);
      counts = answer.ok;
      if (answer.ok) network.counted(await answer.json());
    }
  };
  for (;;) {
    if (viewer.status.name === "attached" && !document.hidden) {
      try {
        await look();
      } catch (error) {
        if (viewer.status.name === "attached" && network.size > 1) console.warn("callboard: list of brokers:", error.message);
      }
    }
    const crowd = Math.max(1, network.size / 12); // a large network is asked less often
    await new Promise((done) => setTimeout(done, network.size > 1 ? networkPeriod * crowd : listPeriod / 5));
  }
}

/** window.callboard: what the page knows, to read, for tests and the curious. */
function expose({ client, viewer, robots, watches, notices, map, network, sensors, zones, timeline, ghost, replay }) {
  const view = {
    get connection() { return client.status.name; },
    get viewing() { return viewer.status.name; },
    get known() { return client.known.map((b) => b.id); },
    get client() { return { id: client.id, session: client.session, attachment: client.attachment }; },
    get robots() {
      return robots.all.map((r) => ({ name: r.name, world: r.world, state: r.state, x: r.position?.x, y: r.position?.y, yaw: r.position?.yaw, scans: r.scans.size, sonars: r.sonars.size, body: r.body, matching: r.matches.size }));
    },
    get selected() { return robots.selected; },
    get subscriptions() { return watches.all.map((w) => ({ id: w.id, condition: w.spec.condition, colour: w.colour, count: w.meter.total, live: w.subscription !== null })); },
    get notifications() { return { listed: notices.length, total: watches.meter.total, newest: notices.newest }; },
    get network() {
      return {
        brokers: network.brokers.map((b) => ({ id: b.id, here: b.here, error: b.error, links: b.links, robots: b.robots, covers: b.coverage !== null })),
        clients: network.clients.map((c) => ({ name: c.name, broker: c.broker, attached: c.attached, paths: network.paths(c.name) })),
        links: network.links(), moves: network.moves, tally: network.tally, focus: network.shownClient?.name ?? null,
      };
    },
    get sensors() { return [...sensors.devices.values()].map((d) => ({ name: d.name, rate: d.meter.rate(), fields: [...d.series.keys()] })); },
    get zones() { return { drawing: zones.drawing, drawn: zones.drawn, configured: zones.configured.map(([name]) => name) }; },
    get timeline() { return timeline.window; },
    get replay() { return replay.view; },
    get past() { return ghost.entry && { robot: ghost.entry.robot, time: ghost.entry.time }; },
    get map() { return { ...map.view, frames: map.frames }; },
  };
  Object.defineProperty(window, "callboard", { value: Object.freeze(view) });
}

start();
