/**
 * Where a device sits on its robot, seen from above: {x, y, yaw, length,
 * width, elements: [{x, y, yaw}]}, m and rad. Lists give poses as [x, y, z,
 * roll, pitch, yaw] and sizes as [length, width, height]; what a flat map does
 * not need is not looked at, real servers leave it as it was in memory.
 */
const largest = 100; // m; a longer robot is a number that was never set

export class Mount {
  /** From a device's `geometry`; null if there is none that can be read. */
  static of(geometry) {
    const at = flat(geometry?.pose);
    return at && new Mount(at, geometry);
  }

  constructor(at, { size = [], elements = [] }) {
    Object.assign(this, at);
    [this.length, this.width] = size;
    this.elements = elements.map(flat);
  }

  /** Whether its size is one that a thing can have. */
  get sized() { return [this.length, this.width].every((v) => v > 0.01 && v < largest); }

  /** Where a scanner's beams begin. */
  get scanner() { return this.elements.length === 1 && this.elements[0] ? compose(this, this.elements[0]) : this; }
}

function flat(pose) {
  const [x, y, , , , yaw] = Array.isArray(pose) ? pose : [];
  return [x, y, yaw].every(Number.isFinite) ? { x, y, yaw } : null;
}

/** The pose, in the outer frame, of what is at inner in the frame that is at outer. */
export function compose(outer, inner) {
  const [c, s] = [Math.cos(outer.yaw), Math.sin(outer.yaw)];
  return { x: outer.x + inner.x * c - inner.y * s, y: outer.y + inner.x * s + inner.y * c, yaw: outer.yaw + inner.yaw };
}
