// Prints what the official reader reads in a file, a JSON object a line: from
// the beginning (stream) and by the index (indexed).
import { open } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const { McapIndexedReader, McapStreamReader } = require("@mcap/core");
const { decompress } = require("fzstd");
const decompressHandlers = { zstd: (b) => decompress(b) };
const name = process.argv[3];
const text = new TextDecoder();

function print(mode, message, channel, schema) {
  if (channel.messageEncoding === "json") JSON.parse(text.decode(message.data));
  if (schema?.encoding === "jsonschema") JSON.parse(text.decode(schema.data));
  console.log(JSON.stringify({
    mode, topic: channel.topic, schema: schema?.name ?? "", sequence: message.sequence, log: String(message.logTime),
    publish: String(message.publishTime), data: Buffer.from(message.data).toString("base64"),
  }));
}

const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true });
const channels = new Map(), schemas = new Map();
const take = () => {
  for (let r; (r = stream.nextRecord()) != undefined; ) {
    if (r.type === "Schema") schemas.set(r.id, r);
    if (r.type === "Channel") channels.set(r.id, r);
    if (r.type === "Message") {
      const c = channels.get(r.channelId);
      print("stream", r, c, schemas.get(c.schemaId));
    }
    if (r.type === "Attachment") console.log(JSON.stringify({ mode: "attachment", topic: r.name, data: Buffer.from(r.data).toString("base64") }));
    if (r.type === "Metadata") console.log(JSON.stringify({ mode: "metadata", topic: r.name, data: Buffer.from(JSON.stringify([...r.metadata])).toString("base64") }));
  }
};
for await (const part of createReadStream(name)) {
  stream.append(part);
  take();
}
if (!stream.done()) throw new Error("the stream is not at its end");

const file = await open(name);
const readable = {
  size: async () => BigInt((await file.stat()).size),
  read: async (offset, size) => {
    const b = new Uint8Array(Number(size));
    await file.read(b, 0, Number(size), Number(offset));
    return b;
  },
};
const indexed = await McapIndexedReader.Initialize({ readable, decompressHandlers });
for await (const m of indexed.readMessages({ validateCrcs: true })) {
  const c = indexed.channelsById.get(m.channelId);
  print("indexed", m, c, indexed.schemasById.get(c.schemaId));
}
const s = indexed.statistics;
console.log(JSON.stringify({ mode: "statistics", sequence: Number(s.messageCount), log: String(s.messageStartTime), publish: String(s.messageEndTime) }));
await file.close();
