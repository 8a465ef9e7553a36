import { byId, setText, throttled } from "./dom.js";
import { count, rate } from "./format.js";
import { text } from "./text.js";
import { Slip } from "./slip.js";

const most = 250; // kept
const period = 120; // ms between changes of the list, at least
const share = 8; // times as long as a change took, the page does other things
const faultPeriod = 5000; // ms between faults that are told

/**
 * The notifications as they come, newest first; gaps and robots' comings and
 * goings stand among them. The list holds still while somebody reads in it:
 * scrolled down, a slip open, the pointer or the focus inside, or held by its button.
 */
export class Notices {
  #watches;
  #robots;
  #map;
  #words;
  #ghost;
  #list = byId("notices");
  #waiting = []; // newest first, not in the list yet
  #missed = 0; // of those that waited, dropped for the bound
  #slips = []; // in the list, newest first
  #filter = null; // a Watch
  #paused = false;
  #pointed = false;
  #open = null; // a Slip
  #cost = 0; // ms that the last change of the list took
  #faults = { at: 0, untold: 0 };
  #spoken = { at: 0, news: 0 };
  #flush = throttled(() => Math.max(period, share * this.#cost), () => this.#show());

  constructor({ client, watches, robots, map, words, ghost }) {
    this.#watches = watches;
    this.#robots = robots;
    this.#map = map;
    this.#words = words;
    this.#ghost = ghost;
    watches.on("notified", (n) => this.#notified(n));
    client.on("gap", (m) => this.#add({ kind: "gap", at: Date.now(), text: text.notices.gap(m), source: m.source }));
    client.on("fault", (f) => this.#fault(f));
    robots.on("told", (m) => this.#robot(m));
    client.on("failure", (f) => this.#failed(f));
    watches.on("list", () => { if (this.#filter && !watches.get(this.#filter.id)) this.filter(null); });
    byId("notices-pause").addEventListener("click", () => this.#pause(!this.#paused));
    byId("notices-clear").addEventListener("click", () => this.#clear());
    byId("notices-filter").addEventListener("click", () => this.filter(null));
    byId("notices-search").addEventListener("input", () => this.#arrange());
    byId("notices-more").addEventListener("click", () => this.#release());
    this.#list.addEventListener("pointerenter", (e) => { this.#pointed = e.pointerType === "mouse"; });
    this.#list.addEventListener("pointerleave", () => { this.#pointed = false; this.#flush(); });
    this.#list.addEventListener("focusout", () => this.#flush());
    this.#list.addEventListener("scroll", () => { if (this.#list.scrollTop < 4) this.#flush(); }, { passive: true });
    setInterval(() => this.#count(), 500);
    this.#count();
  }

  /** How many are in the list. */
  get length() { return this.#slips.length; }
  /** Of the newest: {robot, time, kind}. */
  get newest() {
    const e = this.#slips[0]?.entry;
    return e ? { kind: e.kind, robot: e.robot ?? "", time: e.time ?? 0 } : null;
  }

  /** Shows only one subscription's; null shows all. */
  filter(watch) {
    this.#filter = watch;
    const button = byId("notices-filter");
    button.hidden = !watch;
    if (watch) {
      button.dataset.colour = watch.colour;
      button.textContent = text.notices.only(watch.spec.condition);
      button.title = text.notices.all;
    }
    this.#arrange();
  }

  #arrange() {
    for (const slip of this.#slips) slip.item.hidden = !this.#passes(slip);
    this.#empty();
  }

  #notified({ notification, matches }) {
    const now = performance.now();
    const robot = this.#robots.know(notification.robot);
    for (const { watch, state } of matches) if (state !== false) robot.matched(watch.id, watch.colour, now);
    this.#map.draw();
    const pose = robot.poseAt(notification.time);
    this.#add({ kind: "notification", at: Date.now(), robot: notification.robot, time: notification.time, notification, matches, pose });
  }

  /** What is about a subscription is shown at its card. */
  #failed(f) {
    if (!this.#watches.get(f.id)) this.#add({ kind: "gap", at: Date.now(), text: f.message, source: "" });
  }

  /** Faults may come with every message: one is told every few seconds, the others are counted. */
  #fault(f) {
    const at = Date.now();
    if (at - this.#faults.at < faultPeriod) {
      this.#faults.untold++;
      return;
    }
    this.#add({ kind: "gap", at, text: text.notices.fault(f.reason, this.#faults.untold), source: f.source });
    this.#faults = { at, untold: 0 };
  }

  #robot(m) {
    this.#add({ kind: m.state === "up" ? "up" : "away", at: Date.now(), robot: m.robot, text: text.notices.robot(m), source: m.source });
  }

  #add(entry) {
    this.#waiting.unshift(entry);
    if (this.#waiting.length > most) {
      this.#waiting.pop();
      this.#missed++;
    }
    this.#flush();
  }

  get #held() {
    const focused = this.#list.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
    return this.#paused || this.#pointed || this.#open !== null || focused || this.#list.scrollTop > 4;
  }

  #show() {
    this.#count();
    if (!this.#waiting.length) return this.#more(0);
    if (this.#held) return this.#more(this.#waiting.length + this.#missed);
    this.#insert();
  }

  #insert() {
    const begun = performance.now();
    const fresh = this.#waiting.map((entry) => new Slip(entry, this.#words, (slip) => this.#toggle(slip)));
    for (const slip of fresh) slip.item.hidden = !this.#passes(slip);
    this.#list.prepend(...fresh.map((s) => s.item));
    this.#slips = [...fresh, ...this.#slips];
    for (const old of this.#slips.splice(most)) old.item.remove();
    this.#waiting = [];
    this.#missed = 0;
    this.#more(0);
    this.#empty();
    this.#speak(fresh.length);
    this.#cost = performance.now() - begun;
  }

  #passes({ entry, text: all }) {
    if (this.#filter && !entry.matches?.some((m) => m.watch === this.#filter)) return false;
    const low = all.toLowerCase();
    return byId("notices-search").value.toLowerCase().split(/\s+/).every((w) => low.includes(w));
  }

  #more(n) {
    const button = byId("notices-more");
    button.hidden = n === 0;
    if (n) setText(button, text.notices.fresh(n));
  }

  /** Lets in what waits. */
  #release() {
    this.#close();
    this.#pointed = false;
    this.#pause(false);
    this.#list.scrollTop = 0;
    this.#insert();
  }

  #toggle(slip) {
    const again = this.#open === slip;
    this.#close();
    if (again) return;
    this.#open = slip;
    slip.open();
    this.#ghost.show(slip.entry, () => this.#close());
  }

  #close() {
    const slip = this.#open;
    this.#open = null;
    slip?.close();
    if (slip && this.#ghost.entry === slip.entry) this.#ghost.show(null);
    this.#flush();
  }

  #pause(on) {
    this.#paused = on;
    const button = byId("notices-pause");
    button.setAttribute("aria-pressed", String(on));
    button.querySelector("use").setAttribute("href", on ? "#i-play" : "#i-pause");
    this.#flush();
  }

  #clear() {
    this.#close();
    this.#slips = [];
    this.#waiting = [];
    this.#missed = 0;
    this.#list.replaceChildren();
    this.#more(0);
    this.#empty();
  }

  #count() {
    const { total } = this.#watches.meter;
    setText(byId("notices-count"), total ? `${count(total)} · ${rate(this.#watches.meter.rate())}` : "");
  }

  #empty() {
    const any = this.#slips.some((s) => !s.item.hidden);
    byId("notices-empty").hidden = any;
    const some = this.#watches.all.length > 0;
    setText(byId("notices-empty"), text.notices.empty(some));
  }

  /** Tells a screen reader now and then how many have come, not each. */
  #speak(n) {
    this.#spoken.news += n;
    if (Date.now() - this.#spoken.at < 10_000) return;
    const newest = this.#slips[0];
    setText(byId("notices-spoken"), text.notices.spoken(this.#spoken.news, newest.text));
    this.#spoken = { at: Date.now(), news: 0 };
  }
}
