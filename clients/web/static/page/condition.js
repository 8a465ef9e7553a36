import { text } from "./text.js";

/**
 * Places in a condition: the broker counts lines and columns from 1, columns
 * in characters (code points); JavaScript counts UTF-16 units.
 */

/** The offset of a position in a text, at its end at most. */
export function offsetOf(text, { line, column }) {
  const lines = text.split("\n");
  let offset = 0;
  for (let i = 0; i < line - 1 && i < lines.length - 1; i++) offset += lines[i].length + 1;
  const characters = [...lines[Math.min(line, lines.length) - 1]];
  return offset + characters.slice(0, Math.max(0, column - 1)).join("").length;
}

/** Where the word at an offset ends: a name with its dots, a number, a string, or one character. */
export function wordEnd(text, offset) {
  const rest = text.slice(offset);
  const word = /^(?:[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[<>=!]=|&&|\|\||\*\*)/u.exec(rest);
  if (word) return offset + word[0].length;
  return offset + (rest.length ? String.fromCodePoint(rest.codePointAt(0)).length : 0);
}

const words = /\b(and|or|not|in|true|false|any|all|none|one|count|filter|map|sector|distance|inside|deg|angle_diff|contains|startsWith|endsWith|matches|abs|floor|ceil|round|min|max|len)\b/;
const tokens = new RegExp(`("(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?)|(\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)|([\\p{L}_][\\p{L}\\p{N}_]*(?:\\.[\\p{L}_][\\p{L}\\p{N}_]*)*)|([<>=!&|+*/%?:^-]+)`, "gu");

/** The condition as nodes: strings, numbers, names and operators apart. */
export function coloured(text) {
  const nodes = [];
  let end = 0;
  for (const m of text.matchAll(tokens)) {
    if (m.index > end) nodes.push(text.slice(end, m.index));
    const kind = m[1] ? "string" : m[2] ? "number" : m[3] ? (words.test(m[3]) && !m[3].includes(".") ? "word" : "name") : "operator";
    const span = document.createElement("span");
    span.className = `t-${kind}`;
    span.textContent = m[0];
    nodes.push(span);
    end = m.index + m[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

/** Conditions to begin with. */
export const examples = [
  { condition: "laser.min < 0.6", title: text.examples.near },
  { condition: "position.speed > 0.3 and laser.front < 1", title: text.examples.fast },
  { condition: "sector(laser, -20, 20) < 0.8", title: text.examples.ahead },
  { condition: "position.stall", title: text.examples.stuck },
  { condition: "sonar.min < 0.5", title: text.examples.sonar },
];
