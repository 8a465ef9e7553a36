/**
 * A world's floor plan, as /api/worlds/NAME gives it: {name, bounds: [xmin,
 * ymin, xmax, ymax], outlines: [{points: [[x, y], …], closed, color}, …]}.
 * Outlines of one colour make one path; inside is filled by the even-odd rule,
 * so that holes in solid regions stay open.
 */
export class FloorPlan {
  /** @param {object} plan as served; throws a TypeError if it is no floor plan */
  constructor(plan) {
    if (!Array.isArray(plan?.outlines)) throw new TypeError("no floor plan: outlines are missing");
    this.name = plan.name ?? "";
    this.layers = []; // {colour: {grey, css, light}, walls: Path2D, lines: Path2D}
    const byColour = new Map();
    const box = new Box();
    for (const outline of plan.outlines) {
      const points = (outline.points ?? []).filter((p) => Number.isFinite(p?.[0]) && Number.isFinite(p?.[1]));
      if (points.length < 2) continue;
      const key = outline.color ?? "";
      if (!byColour.has(key)) byColour.set(key, { colour: parseColour(key), walls: new Path2D(), lines: new Path2D() });
      const layer = byColour.get(key);
      trace(outline.closed ? layer.walls : layer.lines, points, outline.closed);
      for (const [x, y] of points) box.add(x, y);
    }
    this.layers = [...byColour.values()];
    const given = Array.isArray(plan.bounds) && plan.bounds.length === 4 && plan.bounds.every(Number.isFinite);
    this.bounds = given ? plan.bounds : box.bounds;
  }
}

/** Grows to hold what is added. */
export class Box {
  bounds = null;

  add(x, y) {
    if (!this.bounds) this.bounds = [x, y, x, y];
    const b = this.bounds;
    b[0] = Math.min(b[0], x);
    b[1] = Math.min(b[1], y);
    b[2] = Math.max(b[2], x);
    b[3] = Math.max(b[3], y);
  }
}

function trace(path, points, closed) {
  path.moveTo(points[0][0], points[0][1]);
  for (let i = 1; i < points.length; i++) path.lineTo(points[i][0], points[i][1]);
  if (closed) path.closePath();
}

/** A colour of the world; greys take the theme's wall colour, others keep their hue. */
function parseColour(text) {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(text);
  if (!match) return { grey: true };
  const [r, g, b] = match.slice(1).map((v) => parseInt(v, 16) / 255);
  const most = Math.max(r, g, b);
  const least = Math.min(r, g, b);
  if (most - least < 0.12) return { grey: true };
  const hue = hueOf(r, g, b, most, most - least);
  return { grey: false, hue: Math.round(hue), saturation: Math.round(40 + 30 * (most - least)) };
}

function hueOf(r, g, b, most, span) {
  if (most === r) return (60 * ((g - b) / span) + 360) % 360;
  if (most === g) return 60 * ((b - r) / span) + 120;
  return 60 * ((r - g) / span) + 240;
}

/** The floor plans of a broker's worlds, fetched once each. */
export class FloorPlans {
  #plans = new Map(); // name → FloorPlan, null: there is none, undefined while it is fetched
  #changed;

  constructor(changed) { this.#changed = changed; }

  /** The plan, or null if there is none, or undefined while that is not known. */
  get(name) {
    if (!name) return null;
    if (!this.#plans.has(name)) {
      this.#plans.set(name, undefined);
      this.#fetch(name);
    }
    return this.#plans.get(name);
  }

  /** Asks again, at the next get, for what was not there. */
  refresh() {
    for (const [name, plan] of this.#plans) if (plan === null) this.#plans.delete(name);
  }

  async #fetch(name) {
    try {
      const url = new URL(`api/worlds/${encodeURIComponent(name)}`, document.baseURI);
      url.username = url.password = ""; // fetch refuses them; the browser knows them by now
      const answer = await fetch(url);
      this.#plans.set(name, answer.ok ? new FloorPlan(await answer.json()) : null);
    } catch (error) {
      console.warn(`callboard: floor plan of ${name}:`, error.message);
      this.#plans.set(name, null);
    }
    this.#changed();
  }
}
