/** The words of the page that modules put together; what never changes is in index.html. */
import { count, fixed, plural, since } from "./format.js";

const column = (name) => ({ name, number: false });
const number = (name) => ({ name, number: true });

export const text = {
  link: {
    closed: "Not connected",
    connecting: "Connecting…",
    unreached: "Broker not reached",
    gone: (since) => `Broker gone since ${since}`,
    again: (what, seconds) => `${what}; trying again${seconds > 1 ? ` in ${seconds} s` : "…"}`,
    attached: (broker, home, blind) => `Connected to ${broker}${home ? `; ${home}, which this page is from, is gone` : ""}${blind ? "; the map stands still" : ""}`,
    takenOver: "Another window uses this session",
    refused: (why) => `Refused: ${why}`,
    actions: { waiting: "Try now", "taken-over": "Take it back", refused: "Try again" },
  },
  map: { waiting: "Waiting for the broker…", noRobots: "No robots yet", noPosition: "No robot has told its position yet" },
  drive: {
    stopped: "stopped",
    motors: (on) => (on ? "motors on" : "motors off"),
    moves: (speed, turn) => `${fixed(speed, 1)} m/s, ${fixed(turn, 0)}°/s`,
    speed: (v) => `${fixed(v, 1)} m/s`,
    turn: (v) => `${fixed(v, 0)}°/s`,
    detached: "not connected to a broker",
    forbidden: "This token may not send commands.",
  },
  robot: {
    facts: { world: "World", since: "Since", awaySince: "Away since", because: "Because", lost: "Lost", source: "Source" },
    lost: (n) => plural(n, "reading"),
    noReading: "no reading yet",
    silent: "silent",
    ago: (s) => `${fixed(s, s < 10 ? 1 : 0)} s ago`,
    plot: (name, least, most) => `${name} in the last minute: ${least} to ${most}`,
  },
  completion: { label: "Names that fit", robot: "a robot", zone: "a zone of the broker" },
  draft: {
    trying: "The broker tries it…",
    matching: ({ now, known }) => `${count(now)} of ${plural(known, "robot")} match now`,
    nobody: "No robot has been tested yet",
    fired: ({ count: n, seconds }) => `would have fired ${n === 1 ? "once" : `${count(n)} times`} in ${seconds >= 60 ? "the last minute" : `${fixed(seconds, 0)} s`}`,
  },
  words: { reading: "reading", before: "before", prev: "of the reading before; so with all names", functions: "functions", zones: "zones" },
  past: {
    shown: (robot, time, placed) => `${robot} as it was at ${time}${placed ? "" : "; where is not known"}`,
    mark: (robot, condition, time, n) => `${robot}, ${time}: ${condition}${n > 1 ? `, ${count(n)} times` : ""}`,
    gone: "its reading is not kept any more",
    marks: (n, rows) => `${n} in ${rows}`,
    timeline: (rows, from, to) => `Time line from ${from} to ${to}: ${plural(rows, "row")} of what fired`,
  },
  zones: {
    corners: (n, least) => (n < least ? `${plural(n, "corner")}; a zone has at least ${least}. Click, or press Enter for the cross.` : `${plural(n, "corner")}. Click the last one again, or press Z, to end.`),
    copied: "copied",
    selected: "selected; copy it with your keys",
  },
  fleet: {
    columns: {
      subscriptions: [column("Client, conditions"), column("Broker, id"), column("State, options"), number("Rate"), number("Behind"), number("Waiting")],
      queues: [column("Queue"), column("Broker"), column("Kind"), number("Waiting"), number("Oldest"), number("In hand"), number("Servers"), number("Rate"), number("Done")],
      brokers: [column("Broker"), column("Address"), number("Robots up"), number("Clients there"), number("Subscriptions"), number("Waiting"), number("Lost"), number("Memory"), column("Note")],
      links: [column("Neighbour"), column("State"), number("Sends"), number("Gets"), number("Waiting"), number("Cost"), column("What several want")],
      routes: [column("Client"), column("Way of its notifications"), number("Acknowledged")],
      moves: [column("Client"), column("Hand-over"), number("Ago")],
    },
    more: (n) => `and ${count(n)} more; the filter finds them`,
    none: "none",
    behind: (n, perSecond) => (perSecond > 0 ? `${count(n)}, ${fixed(n / perSecond, 1)} s` : count(n)),
    nameless: (remote) => `without id${remote ? `, ${remote}` : ""}`,
    unnamed: "without id",
    attached: "attached",
    away: (s) => (s === null ? "away" : `away for ${since(s)}`),
    matching: (n) => `${plural(n, "robot")} matched at first`,
    failed: "failed: counts as false",
    declared: "declared",
    passing: "ends with its servers",
    servers: (n, away) => (away ? `${count(n)}, ${count(away)} away` : count(n)),
    silent: "does not answer",
    here: "this one",
    registry: "holds the registry",
    gaveWay: (n) => `${plural(n, "inbox", "inboxes")} gave way`,
    up: (s) => (s === null ? "up" : `up for ${since(s)}`),
    down: (why) => (why ? `down: ${why}` : "down"),
    way: (segment, s) => (!segment ? "TCP, no segment is configured" : segment.multicast ? `multicast${s === null ? "" : ` for ${since(s)}`}` : `TCP: ${segment.why}`),
    islands: (n, groups) => `${n} that do not reach each other: ${groups.map((g) => g.join(" ")).join(" | ")}`,
    pair: (p) => [`Side ${p.side} of a pair, ${p.active ? "active" : "standby"} in term ${p.term} (${p.stands})`, p.heard ? (p.in_step ? "the other side is in step" : "the other side catches up") : "the other side is silent",
      p.witness ? `witness ${p.witness} ${p.witness_answers ? "answers" : "does not answer"}` : "no witness", `${plural(p.waiting, "batch", "batches")} ${p.waiting === 1 ? "waits" : "wait"} for the standby`].join("; "),
  },
  replay: {
    play: "Play",
    pause: "Pause",
    speed: (s) => (s === 0 ? "as fast as possible" : `${s} ×`),
    at: (at, length) => `${minutes(at)} of ${minutes(length)}`,
    searching: "is searched for…",
    found: (n, marks, more) => `${n} notifications in the run${more ? `, the first ${count(marks)} marks are shown` : ""}`,
    none: "What conditions found in the run; there are none yet",
  },
};

/** A time of a run: 1:05.3. */
function minutes(s) { return `${fixed(Math.floor(s / 60), 0)}:${fixed(Math.floor(s * 10) / 10 - 60 * Math.floor(s / 60), 1).padStart(4, "0")}`; }
