/** Which part of the world the map shows: a centre (m) and a scale (px per m). */
export class Camera {
  x = 0;
  y = 0;
  scale = 40;
  width = 1; // px of the canvas, in CSS pixels
  height = 1;

  static least = 0.5;
  static most = 600;

  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  toScreen(x, y) { return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale]; }
  toWorld(px, py) { return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale]; }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Zooms by a factor about a place on the screen, which stays where it is. */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toWorld(px, py);
    this.scale = Math.min(Camera.most, Math.max(Camera.least, this.scale * factor));
    const [sx, sy] = this.toScreen(x, y);
    this.pan(px - sx, py - sy);
  }

  /** Shows [xmin, ymin, xmax, ymax] whole, with margins above and beside it (px). */
  fit([xmin, ymin, xmax, ymax], margin = 36, side = margin) {
    this.x = (xmin + xmax) / 2;
    this.y = (ymin + ymax) / 2;
    const inner = (size, margin) => Math.max(40, size - 2 * margin);
    const scale = Math.min(inner(this.width, side) / Math.max(xmax - xmin, 1e-3), inner(this.height, margin) / Math.max(ymax - ymin, 1e-3));
    this.scale = Math.min(200, Math.max(Camera.least, scale));
  }

  /** Tells whether a place (m) is on the screen, or nearly (px). */
  sees(x, y, margin = 60) {
    const px = this.width / 2 + (x - this.x) * this.scale;
    const py = this.height / 2 - (y - this.y) * this.scale;
    return px > -margin && py > -margin && px < this.width + margin && py < this.height + margin;
  }

  /** Lets a canvas draw in metres, y up. */
  apply(context, ratio) {
    const s = this.scale * ratio;
    context.setTransform(s, 0, 0, -s, ratio * (this.width / 2 - this.x * this.scale), ratio * (this.height / 2 + this.y * this.scale));
  }

  /** The step (m) of a grid whose lines are at least so many px apart: 1, 2 or 5 times a power of ten. */
  step(pixels) {
    const raw = pixels / this.scale;
    const power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((n) => n * power).find((s) => s >= raw * 0.999) ?? 10 * power;
  }
}
