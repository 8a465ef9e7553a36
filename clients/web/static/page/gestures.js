/**
 * Pan, zoom and pick on the map's canvas: drag, wheel, two fingers, keys.
 * The target gets pan(dx, dy), zoom(factor, x, y), pick(x, y), double(x, y),
 * hover(x, y) (or hover(null)), fit(), follow(), and key(name) first of a key.
 */
const slack = 5; // px that a click may move

export class Gestures {
  #canvas;
  #target;
  #pointers = new Map(); // id → {x, y}
  #dragged = 0;

  constructor(canvas, target) {
    this.#canvas = canvas;
    this.#target = target;
    canvas.addEventListener("pointerdown", (e) => this.#down(e));
    canvas.addEventListener("pointermove", (e) => this.#move(e));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => this.#up(e));
    canvas.addEventListener("pointerleave", () => target.hover(null));
    canvas.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    canvas.addEventListener("dblclick", (e) => target.double(e.offsetX, e.offsetY));
    canvas.addEventListener("keydown", (e) => this.#key(e));
  }

  #down(e) {
    if (e.pointerType === "mouse" && e.button !== 0) return;
    this.#canvas.setPointerCapture(e.pointerId);
    this.#pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (this.#pointers.size === 1) this.#dragged = 0;
  }

  #move(e) {
    const pointer = this.#pointers.get(e.pointerId);
    if (!pointer) {
      this.#target.hover(e.offsetX, e.offsetY);
      return;
    }
    const before = this.#grip();
    const dx = e.offsetX - pointer.x;
    const dy = e.offsetY - pointer.y;
    this.#dragged += Math.hypot(dx, dy);
    Object.assign(pointer, { x: e.offsetX, y: e.offsetY });
    if (this.#dragged < slack) return;
    const after = this.#grip();
    this.#target.pan(after.x - before.x, after.y - before.y);
    if (before.span && after.span) this.#target.zoom(after.span / before.span, after.x, after.y);
    this.#canvas.classList.add("dragged");
  }

  /** The middle of what holds the map, and for two fingers how far apart they are. */
  #grip() {
    const [a, b] = [...this.#pointers.values()];
    if (!b) return { x: a.x, y: a.y, span: 0 };
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, span: Math.hypot(a.x - b.x, a.y - b.y) };
  }

  #up(e) {
    if (!this.#pointers.delete(e.pointerId)) return;
    this.#canvas.classList.remove("dragged");
    if (e.type === "pointerup" && this.#dragged < slack && !this.#pointers.size) this.#target.pick(e.offsetX, e.offsetY);
  }

  #wheel(e) {
    e.preventDefault();
    const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const delta = Math.max(-240, Math.min(240, e.deltaY * lines));
    this.#target.zoom(Math.exp(-delta * (e.ctrlKey ? 0.008 : 0.002)), e.offsetX, e.offsetY);
  }

  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step = e.shiftKey ? 160 : 40;
    const actions = {
      ArrowLeft: () => this.#target.pan(step, 0),
      ArrowRight: () => this.#target.pan(-step, 0),
      ArrowUp: () => this.#target.pan(0, step),
      ArrowDown: () => this.#target.pan(0, -step),
      "+": () => this.#target.zoom(1.25),
      "=": () => this.#target.zoom(1.25),
      "-": () => this.#target.zoom(0.8),
      0: () => this.#target.fit(),
      f: () => this.#target.follow(),
    };
    if (this.#target.key(e.key.length === 1 ? e.key.toLowerCase() : e.key)) return e.preventDefault();
    const action = actions[e.key] ?? actions[e.key.toLowerCase()];
    if (!action) return;
    e.preventDefault();
    action();
  }
}
