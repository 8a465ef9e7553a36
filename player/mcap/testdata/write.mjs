// Writes a file with the official writer. Chunks are compressed with lz4js if
// that is there and asked for.
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const { McapWriter } = require("@mcap/core");
const parts = [];
let size = 0;
const writable = {
  position: () => BigInt(size),
  write: async (b) => { parts.push(Buffer.from(b)); size += b.length; },
};
const options = { writable, chunkSize: 1000 };
if (process.argv[4] === "lz4") {
  const lz4 = require("lz4js");
  options.compressChunk = (b) => ({ compression: "lz4", compressedData: lz4.compress(b) });
}
const w = new McapWriter(options);
await w.start({ profile: "", library: "official" });
const encode = (s) => new TextEncoder().encode(s);
const schemaId = await w.registerSchema({ name: "S", encoding: "jsonschema", data: encode('{"type":"object"}') });
const a = await w.registerChannel({ topic: "/a", schemaId, messageEncoding: "json", metadata: new Map([["k", "v"]]) });
const b = await w.registerChannel({ topic: "/b", schemaId: 0, messageEncoding: "x", metadata: new Map() });
for (let i = 0; i < 100; i++) {
  await w.addMessage({ channelId: a, sequence: i, logTime: BigInt(1000 + i), publishTime: BigInt(i), data: encode(`{"i":${i}}`) });
  await w.addMessage({ channelId: b, sequence: i, logTime: BigInt(1000 + i), publishTime: BigInt(i), data: encode("ab".repeat(i)) });
}
await w.addAttachment({ name: "file", logTime: 1n, createTime: 2n, mediaType: "text/plain", data: encode("attached") });
await w.addMetadata({ name: "m", metadata: new Map([["a", "1"]]) });
await w.end();
await writeFile(process.argv[3], Buffer.concat(parts));
