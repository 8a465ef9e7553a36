import { byId } from "./dom.js";

/** Keys that work wherever nobody types: to the search, to the condition, to the tabs, and help on all keys. */
export class Keys {
  constructor({ views }) {
    const dialog = byId("keys");
    const actions = {
      "/": () => byId("robots-filter").focus(),
      c: () => { views.show("conditions"); byId("condition").focus(); },
      m: () => byId("map").focus(),
      t: () => byId("time").focus(),
      1: () => views.show("conditions"),
      2: () => views.show("robot"),
      3: () => views.show("fleet"),
      "?": () => dialog.showModal(),
    };
    document.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || dialog.open) return;
      if (e.target.matches("input, textarea, select, [contenteditable]")) return;
      const action = actions[e.key];
      if (!action) return;
      e.preventDefault();
      action();
    });
    byId("keys-open").addEventListener("click", () => dialog.showModal());
    byId("keys-close").addEventListener("click", () => dialog.close());
  }
}
