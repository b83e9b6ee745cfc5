// Reads and writes arrays with zarrita: a line of JSON asks, a line answers.
//
//   {"read": FOLDER}                                        {"shape", VALUES}
//   {"write": FOLDER, "document": {...}, "values": VALUES}  {}
//   {"update": FOLDER, "key": [[START, STOP, STEP], ...], "values": VALUES}  {}
//
// All may answer {"error"} instead. VALUES are in C order: "bytes" of little-endian
// elements in base64, or a "list".
import { createInterface } from "node:readline";
import { FileSystemStore } from "@zarrita/storage";
import * as zarr from "zarrita";

// Places in memory of the elements, in C order.
function places(shape, stride) {
  return shape.reduce(
    (found, n, axis) =>
      found.flatMap((at) => Array.from({ length: n }, (_, i) => at + i * stride[axis])),
    [0],
  );
}

function pack({ data, shape, stride }) {
  const order = places(shape, stride);
  if (Array.isArray(data)) return { shape, list: order.map((at) => data[at]) };
  const size = data.BYTES_PER_ELEMENT;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const parts = order.map((at) => bytes.subarray(at * size, (at + 1) * size));
  return { shape, bytes: Buffer.concat(parts).toString("base64") };
}

async function read(folder) {
  const array = await zarr.open(new FileSystemStore(folder), { kind: "array" });
  // Of an array without axes, get() gives no memory but a value.
  return pack(array.shape.length ? await zarr.get(array) : await array.getChunk([]));
}

async function put(array, key, shape, { bytes, list }) {
  let data = list;
  if (bytes !== undefined) {
    const { buffer } = Uint8Array.from(Buffer.from(bytes, "base64"));
    data = new (await array.getChunk(array.shape.map(() => 0))).data.constructor(buffer);
  }
  const stride = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const value = shape.length ? { data, shape, stride } : data.get ? data.get(0) : data[0];
  await zarr.set(array, key, value);
}

async function write(folder, document, values) {
  if (document.chunk_key_encoding?.name !== "default")
    throw new Error("create() writes version 3 with keys of the default encoding only");
  const array = await zarr.create(new FileSystemStore(folder), {
    shape: document.shape,
    chunkShape: document.chunk_grid.configuration.chunk_shape,
    chunkSeparator: document.chunk_key_encoding.configuration.separator,
    dtype: document.data_type,
    fillValue: document.fill_value,
    codecs: document.codecs,
  });
  await put(array, null, array.shape, values);
  return {};
}

async function update(folder, key, values) {
  const array = await zarr.open(new FileSystemStore(folder), { kind: "array" });
  const shape = key.map(([start, stop, step]) => Math.ceil((stop - start) / step));
  const slices = key.map((part) => zarr.slice(...part));
  await put(array, key.length ? slices : null, shape, values);
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    if (asked.read) answer = await read(asked.read);
    else if (asked.write) answer = await write(asked.write, asked.document, asked.values);
    else answer = await update(asked.update, asked.key, asked.values);
  } catch (error) {
    answer = { error: String(error.cause ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
