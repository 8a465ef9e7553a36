/**
 * The objects of the protocol in CBOR (RFC 8949): maps with text keys, lists, texts,
 * numbers, true, false, null. Numbers that are not finite go as themselves.
 */

const maxDepth = 64;
const indefinite = 31;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @returns {Uint8Array} */
export function encode(value) {
  const out = [];
  append(out, value);
  return Uint8Array.from(out);
}

function append(out, v) {
  if (v === null || v === undefined) out.push(0xf6);
  else if (typeof v === "boolean") out.push(v ? 0xf5 : 0xf4);
  else if (typeof v === "number") number(out, v);
  else if (typeof v === "string") {
    const bytes = new TextEncoder().encode(v);
    head(out, 3, bytes.length);
    for (const b of bytes) out.push(b);
  } else if (Array.isArray(v)) {
    head(out, 4, v.length);
    for (const one of v) append(out, one);
  } else {
    const entries = Object.entries(v).filter(([, one]) => one !== undefined);
    head(out, 5, entries.length);
    for (const [key, one] of entries) {
      append(out, key);
      append(out, one);
    }
  }
}

function number(out, v) {
  if (Number.isSafeInteger(v) && !Object.is(v, -0)) return v < 0 ? head(out, 1, -1 - v) : head(out, 0, v);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, v);
  out.push(0xfb, ...bytes);
}

function head(out, major, n) {
  const info = [24, 25, 26, 27].findIndex((_, i) => n < 2 ** (8 << i));
  if (n < 24) return void out.push((major << 5) | n);
  out.push((major << 5) | (24 + info));
  for (let shift = (1 << info) - 1; shift >= 0; shift--) out.push(Math.floor(n / 2 ** (8 * shift)) % 256);
}

/** Reads one item that is all of data; what is none throws. */
export function decode(data) {
  const reader = new Reader(data);
  const value = reader.item(0);
  if (reader.at !== data.byteLength) throw new RangeError("more than one item");
  return value;
}

class Reader {
  at = 0;
  #view;
  #bytes;

  constructor(data) {
    this.#view = new DataView(data);
    this.#bytes = new Uint8Array(data);
  }

  /** An item's first byte and its number. */
  #head() {
    const first = this.#view.getUint8(this.at++);
    const [major, info] = [first >> 5, first & 31];
    if (info < 24 || info === indefinite) return { major, info, n: info };
    if (info > 27) throw new RangeError("a reserved length");
    const size = 1 << (info - 24);
    const { at } = this;
    this.at += size;
    const n = [() => this.#view.getUint8(at), () => this.#view.getUint16(at), () => this.#view.getUint32(at), () => Number(this.#view.getBigUint64(at))][info - 24]();
    return { major, info, n };
  }

  item(depth) {
    if (depth > maxDepth) throw new RangeError("nested too deep");
    const at = this.at;
    const { major, info, n } = this.#head();
    if (info === indefinite && ![3, 4, 5].includes(major)) throw new RangeError("a value without a length");
    switch (major) {
      case 0: return n;
      case 1: return -1 - n;
      case 3: return this.#text(info, n);
      case 4: return [...this.#list(info, n, () => this.item(depth + 1))];
      case 5: return Object.fromEntries(this.#list(info, n, () => [this.#key(), this.item(depth + 1)]));
      case 6: return this.item(depth + 1); // a tag
      case 7: return this.#simple(info, n, at);
    }
    throw new RangeError("a byte string");
  }

  #key() {
    const { major, info, n } = this.#head();
    if (major !== 3) throw new RangeError("a key that is no text");
    return this.#text(info, n);
  }

  #text(info, n) {
    if (info === indefinite) {
      return [...this.#list(info, n, () => {
        const piece = this.#head();
        if (piece.major !== 3 || piece.info === indefinite) throw new RangeError("a piece of a text that is none");
        return this.#text(piece.info, piece.n);
      })].join("");
    }
    if (n > this.#bytes.length - this.at) throw new RangeError("it ends too early");
    this.at += n;
    return utf8.decode(this.#bytes.subarray(this.at - n, this.at));
  }

  *#list(info, n, next) {
    for (let i = 0; info === indefinite ? this.#view.getUint8(this.at) !== 0xff : i < n; i++) yield next();
    if (info === indefinite) this.at++;
  }

  #simple(info, n, at) {
    switch (info) {
      case 20: return false;
      case 21: return true;
      case 22:
      case 23: return null; // and undefined
      case 25: return half(n);
      case 26: return this.#view.getFloat32(at + 1);
      case 27: return this.#view.getFloat64(at + 1);
    }
    throw new RangeError("a value that JSON does not have");
  }
}

/** The value of an IEEE 754 half. */
function half(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent === 31 ? (fraction ? NaN : Infinity) : exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
  return bits >> 15 ? -size : size;
}
