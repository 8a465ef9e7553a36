/**
 * A stick to drive by: dragged from the middle of its plate, forward is up. The
 * pad's buttons and keys do the same, so that nobody needs it.
 */
export class Stick {
  #plate;
  #knob;
  #moved;
  #pointer = null;

  /** @param {function} moved moved({drive, turn}), from -1 to 1, left and ahead positive; moved(null) when it is let go */
  constructor(plate, moved) {
    this.#plate = plate;
    this.#knob = plate.firstElementChild;
    this.#moved = moved;
    plate.addEventListener("pointerdown", (e) => {
      if (this.#pointer !== null || (e.pointerType === "mouse" && e.button !== 0)) return;
      this.#pointer = e.pointerId;
      plate.setPointerCapture(e.pointerId);
      this.#move(e);
    });
    plate.addEventListener("pointermove", (e) => this.#move(e));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) plate.addEventListener(end, (e) => this.#let(e));
  }

  #move(e) {
    if (e.pointerId !== this.#pointer) return;
    const box = this.#plate.getBoundingClientRect();
    const radius = box.width / 2;
    let x = (e.clientX - box.left - radius) / radius;
    let y = (e.clientY - box.top - radius) / radius;
    const far = Math.max(1, Math.hypot(x, y));
    x /= far;
    y /= far;
    this.#knob.style.transform = `translate(${(x * radius * 0.6).toFixed(1)}px, ${(y * radius * 0.6).toFixed(1)}px)`;
    this.#moved({ drive: -y, turn: -x });
  }

  #let(e) {
    if (e.pointerId !== this.#pointer) return;
    this.#pointer = null;
    this.#knob.style.transform = "";
    this.#moved(null);
  }
}
