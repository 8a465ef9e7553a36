/** Numbers and times for people. A real minus sign, so that columns align. */
const minus = "\u2212";

export function fixed(value, digits) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : minus + "∞";
  const text = value.toFixed(digits);
  if (Number(text) === 0) return text.replace("-", "");
  return text.replace("-", minus);
}

/** An angle in rad, in whole degrees. */
export function degrees(rad) { return fixed((rad * 180) / Math.PI, 0) + "°"; }

export function count(n) { return n?.toLocaleString("en") ?? "–"; }

/** A rate: 12/s, 1.4/s, 0/s. */
export function rate(perSecond) {
  if (perSecond === 0) return "0/s";
  return (perSecond >= 10 ? fixed(perSecond, 0) : fixed(perSecond, 1)) + "/s";
}

/** Player's time: seconds of a simulation, or of the day where the clock is Unix time. */
export function playerTime(seconds) {
  if (seconds > 1e9) return new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
  return fixed(seconds, 2) + " s";
}

/** A time of the day; with its date if that is another day. */
export function clock(ms) {
  const date = new Date(ms);
  const time = date.toLocaleTimeString([], { hour12: false });
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

/** Any value of a reading. */
export function value(v) {
  if (typeof v === "number") return Number.isInteger(v) ? fixed(v, 0) : fixed(v, Math.abs(v) >= 100 ? 1 : 3);
  if (v === null || v === undefined) return "–";
  if (typeof v === "string") return v;
  if (Array.isArray(v)) return v.length === 0 ? "none" : v.length > 4 ? `${v.length} values` : v.map(value).join(", ");
  if (typeof v === "object") return JSON.stringify(v);
  return String(v);
}

export function plural(n, one, many = one + "s") { return `${count(n)} ${n === 1 ? one : many}`; }

/** A number of bytes: 1.2 MB. */
export function size(n) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1000;
  return `${fixed(n, i === 0 || n >= 100 ? 0 : 1)} ${units[i]}`;
}

/** How long, in the unit that fits: 3 s, 5 min, 2 h, 4 d. */
export function since(seconds) {
  const [unit, of] = seconds < 60 ? ["s", 1] : seconds < 3600 ? ["min", 60] : seconds < 48 * 3600 ? ["h", 3600] : ["d", 86400];
  return `${fixed(Math.floor(seconds / of), 0)} ${unit}`;
}
