/** The words of the page that modules put together; what never changes is in index.html. */
import { count, fixed, plural } from "./format.js";

export const text = {
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
};
