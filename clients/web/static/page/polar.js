import { text } from "./text.js";

/** A scan around the robot, ahead upwards: an SVG with rings at round ranges. */
const ns = "http://www.w3.org/2000/svg";
const size = 180;

export function polar(reading) {
  const { ranges, angle_min: first, max_range: limit } = reading;
  const step = reading.resolution ?? ((reading.angle_max ?? 0) - first) / Math.max(1, ranges.length - 1);
  const finite = ranges.filter((r) => Number.isFinite(r));
  const most = Math.max(0.1, ...(finite.length ? finite : [limit ?? 1]));
  const scale = size / 2 / most;
  const svg = make("svg", { class: "polar", viewBox: `${-size / 2 - 4} ${-size / 2 - 4} ${size + 8} ${size + 8}`, role: "img", "aria-label": text.robot.scan(ranges.length, most) });
  const ring = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((r) => most / r <= 4) ?? 100;
  for (let r = ring; r <= most; r += ring) svg.append(make("circle", { class: "ring", r: r * scale }));
  const place = (r, i) => {
    const a = first + i * step;
    return [-r * scale * Math.sin(a), -r * scale * Math.cos(a)].map((v) => v.toFixed(1));
  };
  const seen = ranges.flatMap((r, i) => (Number.isFinite(r) ? [place(r, i)] : []));
  svg.append(make("path", { class: "seen", d: `M0 0L${seen.map((p) => p.join(" ")).join("L")}Z` }));
  const hits = ranges.map((r, i) => (Number.isFinite(r) && !(r >= limit) ? `M${place(r, i).join(" ")}h0` : "")).join("");
  svg.append(make("path", { class: "hits", d: hits }));
  svg.append(make("path", { class: "self", d: "M0 -6L4 5L0 3L-4 5Z" }));
  const label = make("text", { x: 3, y: -ring * scale - 2 });
  label.textContent = `${ring} m`;
  svg.append(label);
  return svg;
}

function make(name, attributes) {
  const element = document.createElementNS(ns, name);
  for (const [key, v] of Object.entries(attributes)) element.setAttribute(key, v);
  return element;
}
