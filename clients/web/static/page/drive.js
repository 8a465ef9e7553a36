import { byId, setText } from "./dom.js";
import { Stick } from "./stick.js";
import { text } from "./text.js";

const period = 200; // ms between commands while a key, a button or the stick is held
const lasts = 1; // s that a velocity holds: a page that is gone drives nothing

const moves = {
  forward: { drive: 1, keys: ["ArrowUp", "w"] },
  back: { drive: -1, keys: ["ArrowDown", "s"] },
  left: { turn: 1, keys: ["ArrowLeft", "a"] },
  right: { turn: -1, keys: ["ArrowRight", "d"] },
};

/** Velocity commands for the selected robot: sent while a button or key is held, zero when all are let go. */
export class Drive {
  #client;
  #robots;
  #panel = byId("drive");
  #pad = byId("drive-pad");
  #held = new Set(); // of moves
  #stick = null; // {drive, turn} from -1 to 1, while it is held
  #timer = 0;
  #forbidden = false;

  constructor({ client, robots }) {
    this.#client = client;
    this.#robots = robots;
    robots.on("select", (name) => this.#select(name));
    robots.on("list", () => this.#equipped());
    client.on("status", () => { this.#forbidden = false; this.#allow(); });
    for (const name of Object.keys(moves)) {
      const button = byId(`drive-${name}`);
      button.addEventListener("pointerdown", (e) => { button.setPointerCapture(e.pointerId); this.#hold(name); });
      for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, () => this.#let(name));
      button.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); if (!e.repeat) this.#hold(name); } });
      button.addEventListener("keyup", (e) => { if (e.key === "Enter" || e.key === " ") this.#let(name); });
      button.addEventListener("contextmenu", (e) => e.preventDefault());
    }
    byId("drive-stop").addEventListener("click", () => this.#stop());
    new Stick(byId("drive-stick"), (at) => this.#pushed(at));
    for (const on of [true, false]) byId(`motors-${on ? "on" : "off"}`).addEventListener("click", () => this.#command("motor_power", [on ? "on" : "off"], text.drive.motors(on)));
    this.#pad.addEventListener("keydown", (e) => this.#key(e, true));
    this.#pad.addEventListener("keyup", (e) => this.#key(e, false));
    this.#pad.addEventListener("focusout", (e) => { if (!this.#pad.contains(e.relatedTarget)) this.#letAll(); });
    window.addEventListener("blur", () => this.#letAll());
    for (const name of ["speed", "turn"]) byId(`drive-${name}`).addEventListener("input", () => this.#dials());
    this.#dials();
  }

  #select(name) {
    this.#letAll();
    this.#equipped();
    setText(byId("drive-robot"), name ?? "");
    setText(byId("drive-answer"), "");
    this.#allow();
  }

  /** Offers to drive what has wheels, as far as that is known. */
  #equipped() {
    const robot = this.#robots.get(this.#robots.selected);
    this.#panel.hidden = !robot || (robot.devices.length > 0 && !robot.devices.some((d) => d.interface === "position2d"));
  }

  #allow() {
    const allowed = !this.#forbidden && this.#client.status.name === "attached";
    for (const b of this.#panel.querySelectorAll("button")) b.disabled = !allowed;
  }

  #dials() {
    setText(byId("drive-speed-text"), text.drive.speed(Number(byId("drive-speed").value)));
    setText(byId("drive-turn-text"), text.drive.turn(Number(byId("drive-turn").value)));
  }

  #key(e, down) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === " " && e.target === this.#pad) {
      e.preventDefault();
      if (down && !e.repeat) this.#stop();
      return;
    }
    const name = Object.keys(moves).find((m) => moves[m].keys.includes(e.key.length === 1 ? e.key.toLowerCase() : e.key));
    if (!name) return;
    e.preventDefault();
    if (!down) this.#let(name);
    else if (!e.repeat) this.#hold(name);
  }

  #hold(name) {
    if (byId("drive-stop").disabled) return;
    this.#held.add(name);
    byId(`drive-${name}`).classList.add("held");
    this.#go();
  }

  /** The stick was moved; null: let go. */
  #pushed(at) {
    if (byId("drive-stop").disabled) return;
    this.#stick = at;
    if (at) this.#go();
    else this.#rest();
  }

  /** Sends now if nothing is being sent, and goes on. */
  #go() {
    if (this.#timer) {
      if (this.#held.size) this.#send();
      return;
    }
    this.#send();
    this.#timer = setInterval(() => this.#send(), period);
  }

  #rest() {
    if (this.#held.size || this.#stick) return this.#send();
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#stop();
  }

  #let(name) {
    if (!this.#held.delete(name)) return;
    byId(`drive-${name}`).classList.remove("held");
    this.#rest();
  }

  #letAll() {
    if (this.#stick) this.#pushed(null);
    for (const name of [...this.#held]) this.#let(name);
  }

  #send() {
    let { drive, turn } = this.#stick ?? { drive: 0, turn: 0 };
    for (const name of this.#held) {
      drive += moves[name].drive ?? 0;
      turn += moves[name].turn ?? 0;
    }
    const vx = drive * Number(byId("drive-speed").value);
    const vyaw = (turn * Number(byId("drive-turn").value) * Math.PI) / 180;
    this.#command("velocity", [vx, 0, vyaw, lasts], text.drive.moves(vx, (vyaw * 180) / Math.PI));
  }

  #stop() { this.#command("stop", [], text.drive.stopped); }

  async #command(name, args, done) {
    const robot = byId("drive-robot").textContent;
    if (!robot) return;
    const answer = byId("drive-answer");
    try {
      if (this.#client.status.name !== "attached") throw new Error(text.drive.detached); // what waits for one would come late
      await this.#client.command({ robot, name, args, ttl: 1 });
      answer.classList.remove("bad");
      setText(answer, done);
    } catch (error) {
      answer.classList.add("bad");
      setText(answer, error.code === "forbidden" ? text.drive.forbidden : error.message);
      this.#forbidden ||= error.code === "forbidden";
      this.#allow();
      if (this.#forbidden) this.#held.clear();
      this.#stick = null;
      clearInterval(this.#timer);
      this.#timer = 0;
    }
  }
}
