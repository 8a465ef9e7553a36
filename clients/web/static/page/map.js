import { Emitter } from "../emitter.js";
import { byId, setText, throttled } from "./dom.js";
import { fixed } from "./format.js";
import { text } from "./text.js";
import { Camera } from "./camera.js";
import { Gestures } from "./gestures.js";
import { Box } from "./floorplan.js";
import { compose } from "./mount.js";
import { leastOfMany, outline, traceOutline } from "./outline.js";
import * as paint from "./paint.js";
import { paintCrowd, paintCrowdMatches } from "./crowd.js";
import { paintCoverage, paintNetwork } from "./coverage.js";
import { paintZones } from "./zones.js";

const few = 60; // robots in view that are painted one by one, with trails and names

/** The canvas: floor plan, robots, what they see. Draws only when something has changed. Event: view (another part is shown). */
export class WorldMap extends Emitter {
  #canvas = byId("map");
  #context = this.#canvas.getContext("2d", { alpha: false });
  #under = document.createElement("canvas"); // grid and floor plan, kept between frames
  #underKey = "";
  #camera = new Camera();
  #robots;
  #theme;
  #layers;
  #plans;
  #network;
  #zones;
  #world = null; // its name
  #touched = false; // the view is the user's now
  #following = false;
  #place = null; // {world, x, y, scale} to be shown once the world is known
  #ghost = null; // a reading of the past: {scan, pose, colour}
  #frame = 0;
  #ratio = 1;
  #inView = []; // names of robots, when it was painted last
  frames = 0;

  constructor({ robots, theme, layers, plans, network, zones }) {
    super();
    this.#zones = zones;
    this.#network = network;
    this.#robots = robots;
    this.#theme = theme;
    this.#layers = layers;
    this.#plans = plans;
    new Gestures(this.#canvas, this);
    new ResizeObserver(() => this.#resize()).observe(this.#canvas);
    theme.on("change", () => { this.#underKey = ""; this.draw(); });
    layers.on("change", () => this.draw());
    network.on("change", () => this.draw());
    zones.on("change", () => this.draw());
    robots.on("list", throttled(200, () => this.#listed()));
    robots.on("select", (name) => this.#selected(name));
    byId("zoom-in").addEventListener("click", () => this.zoom(1.4));
    byId("zoom-out").addEventListener("click", () => this.zoom(1 / 1.4));
    byId("zoom-fit").addEventListener("click", () => this.fit());
    byId("follow").addEventListener("click", () => this.follow());
    byId("world-select").addEventListener("change", (e) => this.#enter(e.target.value));
    setInterval(() => this.#describe(), 2000);
    this.#resize();
  }

  /** The view, for tests and the curious. */
  get view() { return { world: this.#world, plan: Boolean(this.#plans.get(this.#world)), x: this.#camera.x, y: this.#camera.y, scale: this.#camera.scale, following: this.#following }; }

  /** Whether somebody has chosen what is shown. */
  get touched() { return this.#touched; }

  /** Shows a part of a world, as soon as that is known. */
  look(world, x, y, scale) {
    this.#place = { world, x, y, scale };
    this.#arrive();
  }

  #arrive() {
    const place = this.#place;
    if (!place || (place.world && place.world !== this.#world && !this.#robots.worlds().includes(place.world))) return;
    this.#place = null;
    if (place.world && place.world !== this.#world) this.#enter(place.world);
    Object.assign(this.#camera, { x: place.x, y: place.y, scale: Math.min(Camera.most, Math.max(Camera.least, place.scale)) });
    this.#touched = true;
    this.draw();
  }

  /** Asks for a frame. */
  draw() {
    if (!this.#frame) this.#frame = requestAnimationFrame((now) => this.#paint(now));
  }

  /** Names of the robots that are to be seen, or nearly. */
  get inView() { return this.#inView; }

  pan(dx, dy) {
    this.#follow(false);
    this.#touched = true;
    this.#camera.pan(dx, dy);
    this.emit("view");
    this.draw();
  }

  zoom(factor, x, y) {
    this.#touched = true;
    if (this.#following) this.#camera.zoom(factor);
    else this.#camera.zoom(factor, x, y);
    this.emit("view");
    this.draw();
  }

  fit() {
    this.#follow(false);
    this.#touched = false;
    this.#autofit();
    this.emit("view");
    this.draw();
  }

  /** Follows the selected robot, or stops following. */
  follow() { this.#follow(!this.#following && this.#robots.selected !== null); }

  pick(x, y) {
    if (this.#zones.drawing) return this.#zones.corner(...this.#camera.toWorld(x, y), this.#camera.scale);
    this.#robots.pick(this.#at(x, y)?.name ?? null);
  }

  double(x, y) {
    if (this.#zones.drawing || this.#zones.drawn) return; // its clicks were corners
    if (this.#at(x, y)) this.#follow(true);
    else this.zoom(1.6, x, y);
  }

  /** A key while the map has the focus. Returns whether it means something here. */
  key(key) {
    const zones = this.#zones;
    if (key === "z") zones.toggle();
    else if (!zones.drawing) return false;
    else if (key === "Enter") zones.corner(this.#camera.x, this.#camera.y, this.#camera.scale);
    else if (key === "Backspace") zones.back();
    else if (key === "Escape") zones.cancel();
    else return false;
    return true;
  }

  hover(x, y) {
    if (x === null) return setText(byId("cursor"), "");
    const [wx, wy] = this.#camera.toWorld(x, y);
    this.#canvas.classList.toggle("over", this.#at(x, y) !== null);
    setText(byId("cursor"), `${fixed(wx, 2)}, ${fixed(wy, 2)} m`);
  }

  /** Shows a reading of the past where it was taken; null shows none. */
  showGhost(ghost) {
    this.#ghost = ghost;
    const robot = ghost && this.#robots.get(ghost.robot);
    if (robot && robot.world !== this.#world) this.#enter(robot.world);
    this.draw();
  }

  #follow(on) {
    this.#following = on;
    byId("follow").setAttribute("aria-pressed", String(on));
    this.draw();
  }

  #selected(name) {
    byId("follow").disabled = name === null;
    if (name === null) this.#follow(false);
    const robot = this.#robots.get(name);
    if (robot && robot.world !== this.#world) this.#enter(robot.world);
    const pose = robot?.pose(performance.now());
    if (pose && !this.#camera.sees(pose.x, pose.y, -20)) {
      Object.assign(this.#camera, { x: pose.x, y: pose.y });
      this.#touched = true;
    }
    this.draw();
  }

  #resize() {
    const { width, height } = this.#canvas.getBoundingClientRect();
    this.#ratio = window.devicePixelRatio || 1;
    this.#canvas.width = Math.round(width * this.#ratio);
    this.#canvas.height = Math.round(height * this.#ratio);
    this.#camera.resize(width, height);
    this.#underKey = "";
    if (!this.#touched) this.#autofit();
    this.#paint(performance.now()); // at once: a resized canvas is blank
  }

  /** The list of robots has changed: which worlds are there to show? */
  #listed() {
    const worlds = this.#robots.worlds();
    if (!worlds.includes(this.#world)) this.#enter(worlds.find((w) => w) ?? worlds[0] ?? null);
    const choice = byId("world-choice");
    const select = byId("world-select");
    choice.hidden = worlds.length < 2;
    byId("world-name").hidden = worlds.length >= 2;
    if (select.dataset.worlds !== JSON.stringify(worlds)) {
      select.dataset.worlds = JSON.stringify(worlds);
      select.replaceChildren(...worlds.map((w) => new Option(w || text.map.noWorld, w)));
    }
    select.value = this.#world ?? "";
    byId("world-name").textContent = this.#world ?? "";
    this.#arrive();
    this.draw();
  }

  #enter(world) {
    this.#world = world;
    this.#touched = false;
    this.#follow(false);
    this.refit();
  }

  /** A floor plan has come. */
  refit() {
    this.#underKey = "";
    if (!this.#touched) this.#autofit();
    this.draw();
  }

  get #shown() { return this.#robots.all.filter((r) => r.world === this.#world); }

  /** What is to be seen: the floor plan, or else where robots are and what they see. */
  #bounds() {
    const plan = this.#plans.get(this.#world);
    if (plan?.bounds) return plan.bounds;
    const box = new Box();
    for (const robot of this.#shown) {
      const pose = robot.pose(performance.now());
      if (!pose) continue;
      for (const d of [-2, 2]) box.add(pose.x + d, pose.y + d);
    }
    return box.bounds ?? [-5, -5, 5, 5];
  }

  #autofit() {
    const narrow = this.#camera.width < 520;
    this.#camera.fit(this.#bounds(), narrow ? 16 : 36, narrow ? 16 : 60); // the tools stand at the side
  }

  /** Without a floor plan the view widens when a robot leaves it. */
  #widen() {
    if (this.#touched || this.#following || this.#plans.get(this.#world)) return;
    const out = this.#shown.some((r) => r.placed && !this.#camera.sees(r.poses.at(-1).x, r.poses.at(-1).y, -24));
    if (out) this.#autofit();
  }

  #at(x, y) {
    const now = performance.now();
    let best = null;
    let least = Infinity;
    for (const robot of this.#shown) {
      const pose = robot.pose(now);
      if (!pose) continue;
      const at = outline(this.#camera, robot.body, pose);
      const d = Math.hypot(at.x - x, at.y - y);
      if (d < least && d < Math.max(16, at.reach + 6)) [best, least] = [robot, d];
    }
    return best;
  }

  #paint(now) {
    this.#frame = 0;
    this.frames++;
    this.#widen();
    if (this.#following) this.#centre(now);
    const c = this.#context;
    this.#paintUnder();
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(this.#under, 0, 0);
    const robots = [];
    for (const r of this.#robots.each()) if (r.world === this.#world && r.placed) robots.push(r);
    this.#paintZones();
    const networked = this.#paintNetwork(robots, now);
    const shown = this.#seen(robots, now);
    const moving = shown.some(({ robot }) => robot.moving(now));
    this.#inView = shown.map(({ robot }) => robot.name);
    const glowing = this.#paintRobots(shown, now);
    if (networked || moving || glowing) this.draw();
  }

  /** Robots in view, or nearly: {robot, pose, o: outline}. */
  #seen(robots, now) {
    const camera = this.#camera;
    const shown = [];
    for (const robot of robots) {
      const pose = robot.pose(now);
      if (!camera.sees(pose.x, pose.y)) continue;
      robot.drawn.pose = pose;
      shown.push(robot.drawn);
    }
    const least = shown.length > few ? leastOfMany : undefined;
    for (const one of shown) outline(camera, one.robot.body, one.pose, least, one.o);
    return shown;
  }

  #centre(now) {
    const pose = this.#robots.get(this.#robots.selected)?.pose(now);
    if (pose) Object.assign(this.#camera, { x: pose.x, y: pose.y });
  }

  /** Grid and floor plan, painted anew only when the view or they have changed. */
  #paintUnder() {
    const { x, y, scale, width, height } = this.#camera;
    const plan = this.#plans.get(this.#world);
    const key = [x, y, scale, width, height, this.#ratio, this.#world, Boolean(plan)].join();
    if (key === this.#underKey) return;
    this.#underKey = key;
    this.#under.width = this.#canvas.width;
    this.#under.height = this.#canvas.height;
    const c = this.#under.getContext("2d");
    c.fillStyle = this.#theme.floor;
    c.fillRect(0, 0, this.#under.width, this.#under.height);
    paint.paintGrid(c, this.#camera, this.#theme, this.#ratio);
    if (plan) paint.paintFloor(c, this.#camera, this.#theme, this.#ratio, plan);
    paint.paintScale(c, this.#camera, this.#theme, this.#ratio);
  }

  /** What brokers cover, below the robots. Returns whether another frame is needed. */
  #paintNetwork(robots, now) {
    if (!this.#layers.shows("network") || this.#network.size < 2) return false;
    const [c, camera, theme, ratio, network, world] = [this.#context, this.#camera, this.#theme, this.#ratio, this.#network, this.#world];
    paintCoverage(c, camera, theme, ratio, network, world);
    return paintNetwork(c, camera, theme, ratio, { network, world, robots, selected: this.#robots.selected, now });
  }

  #paintZones() {
    if (this.#layers.shows("zones") || this.#zones.drawing || this.#zones.drawn) paintZones(this.#context, this.#camera, this.#theme, this.#ratio, this.#zones);
  }

  /** Returns whether a match still glows. */
  #paintRobots(shown, now) {
    const [c, camera, theme, ratio] = [this.#context, this.#camera, this.#theme, this.#ratio];
    const crowded = shown.length > few;
    const selected = shown.find(({ robot }) => robot.name === this.#robots.selected);
    const single = crowded ? (selected ? [selected] : []) : shown;
    if (this.#layers.shows("trails")) for (const { robot } of single) paint.paintTrail(c, camera, theme, ratio, robot);
    const senses = { sonar: this.#layers.shows("sonar"), scans: this.#layers.shows("scans") };
    for (const { robot } of shown) if (robot.sonars.size || robot.scans.size) this.#paintSenses(robot, senses, now);
    this.#paintGhost();
    let glowing = false;
    if (crowded) {
      glowing = paintCrowdMatches(c, theme, ratio, shown, now);
      paintCrowd(c, theme, ratio, shown);
    }
    for (const one of single) {
      if (!crowded) glowing = paint.paintMatches(c, theme, ratio, one.robot, one.o, now) || glowing;
      paint.paintRobot(c, theme, ratio, one.robot, one.o, one === selected);
    }
    const named = this.#layers.shows("names") ? single : selected ? [selected] : [];
    for (const one of named) paint.paintName(c, theme, ratio, one.robot, one.o, one === selected);
    return glowing;
  }

  #paintSenses(robot, senses, now) {
    if (robot.away) return;
    const [c, camera, theme, ratio] = [this.#context, this.#camera, this.#theme, this.#ratio];
    const place = (reading) => {
      if (!reading.anchor || robot.poses.at(-1).time < reading.time) reading.anchor = robot.poseAt(reading.time);
      return reading.anchor;
    };
    if (senses.sonar) {
      for (const [device, sonar] of robot.sonars) {
        const mount = robot.mounts.get(device);
        if (mount && paint.fresh(sonar, now)) paint.paintSonar(c, camera, theme, ratio, sonar, compose(place(sonar), mount), mount.elements);
      }
    }
    if (senses.scans) {
      for (const [device, scan] of robot.scans) if (paint.fresh(scan, now)) paint.paintScan(c, camera, theme, ratio, scan, robot.scannerAt(device, place(scan)));
    }
  }

  #paintGhost() {
    const ghost = this.#ghost;
    const robot = ghost?.pose && this.#robots.get(ghost.robot);
    if (robot?.world !== this.#world) return;
    const [c, camera, theme, ratio] = [this.#context, this.#camera, this.#theme, this.#ratio];
    const colour = theme.colour(ghost.colour);
    if (ghost.scan) paint.paintScan(c, camera, theme, ratio, ghost.scan, robot.scannerAt(ghost.scan.device, ghost.pose), { fill: "transparent", hit: colour });
    const mount = ghost.sonar && robot.mounts.get(ghost.sonar.device);
    if (mount) paint.paintSonar(c, camera, theme, ratio, ghost.sonar, compose(ghost.pose, mount), mount.elements);
    traceOutline(c, outline(camera, robot.body, ghost.pose), ratio);
    c.strokeStyle = colour;
    c.lineWidth = 2;
    c.setLineDash([4, 3]);
    c.stroke();
    c.setLineDash([]);
  }

  /** What a screen reader says of the canvas. */
  #describe() {
    const shown = this.#shown;
    const away = shown.filter((r) => r.away).length;
    const said = text.map.described(this.#world, shown.length, away);
    if (this.#canvas.getAttribute("aria-label") !== said) this.#canvas.setAttribute("aria-label", said);
  }
}
