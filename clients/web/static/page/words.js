import { Emitter } from "../emitter.js";

/**
 * What conditions may name, as /api/words gives it: variables, kinds of
 * readings with their fields, functions, the broker's zones; and what else the broker has. Event: change.
 */
export class Words extends Emitter {
  variables = []; // {name, type, unit, doc}
  kinds = []; // {name, doc, interfaces, fields: likewise}
  functions = []; // {name, args, doc}
  zones = {}; // name → [[x, y], …], m
  extras = []; // what else there is at /api: replay, roam, …

  /** Asks the broker; what it does not tell stays empty. */
  async load() {
    try {
      const url = new URL("api/words", document.baseURI);
      url.username = url.password = ""; // fetch refuses them; the browser knows them by now
      const answer = await fetch(url);
      if (!answer.ok) return;
      const { variables, kinds, functions, zones, extras } = await answer.json();
      Object.assign(this, { variables: variables ?? [], kinds: kinds ?? [], functions: functions ?? [], zones: zones ?? {}, extras: extras ?? [] });
      this.emit("change");
    } catch (error) {
      console.warn("callboard: words of conditions:", error.message);
    }
  }

  /** A field of the readings of one of Player's interfaces; null if it is not known. */
  field(interf, name) {
    for (const kind of this.kinds) {
      if (!kind.interfaces.includes(interf)) continue;
      const field = kind.fields.find((f) => f.name === name);
      if (field) return field;
    }
    return null;
  }

  /** All names, for completion: {name, insert, doc, detail}. */
  get names() {
    const fields = this.kinds.flatMap((k) => k.fields.map((f) => ({ name: `${k.name}.${f.name}`, insert: `${k.name}.${f.name}`, doc: f.doc, detail: [f.type, f.unit].filter(Boolean).join(", ") })));
    const variables = this.variables.map((v) => ({ name: v.name, insert: v.name, doc: v.doc, detail: v.type }));
    const functions = this.functions.map((f) => ({ name: f.name, insert: `${f.name}(`, doc: f.doc, detail: `(${f.args})` }));
    return [...variables, ...fields, ...functions];
  }
}
