/** The element with an id; the markup has it, or this page is broken. */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element "${id}"`);
  return element;
}

/** Makes an element: h("li", {class: "slip", onclick}, "text", child). */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((c) => c !== null && c !== undefined));
  return element;
}

/** One of the icons in the page's sprite. */
export function icon(name) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  const use = document.createElementNS(ns, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

/** Sets text only where it differs, so that nothing is laid out anew for it. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls f at most once per period (ms, or what gives it), the last time included. */
export function throttled(period, f) {
  let timer = 0;
  let last = 0;
  return () => {
    if (timer) return;
    const wait = Math.max(0, last + (typeof period === "function" ? period() : period) - Date.now());
    timer = setTimeout(() => {
      timer = 0;
      last = Date.now();
      f();
    }, wait);
  };
}
