/**
 * Values of readings with their units, which the broker tells. Angles are in
 * degrees wherever the page shows them; conditions and JSON have rad.
 */
import { fixed, value } from "./format.js";

const toDegrees = 180 / Math.PI;
const shown = { rad: ["°", toDegrees, 1], "rad/s": ["°/s", toDegrees, 1], "rad/s²": ["°/s²", toDegrees, 1], deg: ["°", 1, 6], m: ["m", 1, 2], "m/s": ["m/s", 1, 2], s: ["s", 1, 2], "%": ["%", 1, 1] };

/** How a field is shown: the unit, what a value is multiplied by, digits (null: as many as it has). */
function unitOf(words, interf, name) {
  const unit = words.field(interf, name)?.unit ?? "";
  const [text, factor, digits] = shown[unit] ?? [unit, 1, null];
  return { unit: text, factor, digits };
}

/** A field's value as text, with its unit. */
export function withUnit(words, interf, name, v) {
  const { unit, factor, digits } = unitOf(words, interf, name);
  const gap = unit === "" || unit.startsWith("°") ? "" : " ";
  if (Array.isArray(v)) {
    const few = v.length > 0 && v.length <= 4 && v.every((one) => typeof one === "number");
    return few ? v.map((one) => fixed(one * factor, digits ?? 3)).join(", ") + gap + unit : value(v);
  }
  if (typeof v !== "number") return value(v);
  return (digits === null ? value(v) : fixed(v * factor, digits)) + gap + unit;
}
