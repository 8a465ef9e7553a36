import { byId } from "./dom.js";
import { text } from "./text.js";

/** A mistake in a field of the options, found before the broker sees it. */
class FieldError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** The fields of a subscription's options. */
export class OptionFields {
  #of = (name) => byId(`opt-${name}`);

  set robots(names) { this.#of("robots").value = names.join(" "); }

  /** Takes a subscription's options into the fields. */
  fill(spec) {
    this.robots = spec.robots ?? [];
    this.#of("trigger").value = spec.trigger || "every";
    this.#of("interval").value = spec.min_interval || "";
    this.#of("for").value = spec.for || "";
    this.#of("keep").value = spec.keep || "all";
    this.#of("select").value = Object.entries(spec.select ?? {}).map(([name, e]) => `${name} = ${e}`).join("\n");
  }

  /** What the fields say; defaults are left out. Throws a FieldError. */
  read() {
    const spec = {};
    const robots = this.#of("robots").value.split(/[\s,]+/).filter(Boolean);
    if (robots.length) spec.robots = robots;
    if (this.#of("trigger").value !== "every") spec.trigger = this.#of("trigger").value;
    const interval = this.#seconds("interval", text.options.interval);
    if (interval) spec.min_interval = interval;
    const hold = this.#seconds("for", text.options.hold);
    if (hold) spec.for = hold;
    if (this.#of("keep").value !== "all") spec.keep = this.#of("keep").value;
    const select = this.#select();
    if (select) spec.select = select;
    return spec;
  }

  /** As read, but what is wrong is left out. */
  peek() {
    try {
      return this.read();
    } catch {
      return {};
    }
  }

  #seconds(name, label) {
    const field = this.#of(name);
    if (field.validity.badInput) throw new FieldError(name, text.options.noSeconds(label));
    const value = Number(field.value || 0);
    if (!(value >= 0)) throw new FieldError(name, text.options.below(label, field.value));
    return value;
  }

  #select() {
    const lines = this.#of("select").value.split("\n").filter((l) => l.trim());
    if (!lines.length) return null;
    const select = {};
    for (const line of lines) {
      const m = /^\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*=(?!=)\s*(\S.*)$/u.exec(line);
      if (!m) throw new FieldError("select", text.options.noSelect(line.trim()));
      if (m[1] in select) throw new FieldError("select", text.options.twice(m[1]));
      select[m[1]] = m[2].trim();
    }
    return select;
  }
}

/** A subscription's options in a few words each; defaults say nothing. */
export function summarise(spec) {
  const out = [];
  if (spec.robots?.length) out.push(spec.robots.join(" "));
  if (spec.trigger && spec.trigger !== "every") out.push(spec.trigger === "rising" ? text.options.rising : text.options.change);
  if (spec.for) out.push(text.options.held(spec.for));
  if (spec.min_interval) out.push(text.options.apart(spec.min_interval));
  if (spec.keep === "latest") out.push(text.options.latest);
  const selected = Object.keys(spec.select ?? {});
  if (selected.length) out.push(text.options.selects(selected));
  return out;
}
