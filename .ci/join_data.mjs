// Makes one data segment of all of a WASM module: join_data.mjs MODULE.wasm. The optimizer leaves out zeros by dividing
// data into thousands of segments, whose headers compress worse than the zeros (docs/design.md, "The engine").
import { readFileSync, writeFileSync } from 'node:fs';

const DATA = 11;
const DATA_COUNT = 12;

const path = process.argv[2];
const bytes = readFileSync(path);
let at = 8; // behind the magic number and the version

/** The unsigned LEB128 number at `at`. */
function unsigned() {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
}

/** A number below 2^31 as signed LEB128, of which an unsigned reader reads the same. */
function encoded(value) {
  const out = [];
  for (; value >= 64; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  return [...out, value];
}

/** The segments of the data section that begins at `at`, each active at a constant offset. */
function segments() {
  return Array.from({ length: unsigned() }, () => {
    const [kind, constant] = [unsigned(), bytes[at++]];
    const offset = unsigned(); // below 2^31, and so not negative as signed
    const end = bytes[at++];
    if (kind !== 0 || constant !== 0x41 || end !== 0x0b) {
      throw new Error(`${path}: segments must be active at a constant offset: found ${kind}, ${constant}, ${end}`);
    }
    const size = unsigned();
    at += size;
    return { offset, data: bytes.subarray(at - size, at) };
  });
}

/** All of them as one, with zeros between. */
function joined(all) {
  const first = Math.min(...all.map(({ offset }) => offset));
  const data = Buffer.alloc(Math.max(...all.map(({ offset, data }) => offset + data.length)) - first);
  for (const segment of all) segment.data.copy(data, segment.offset - first);
  return Buffer.concat([Buffer.from([1, 0, 0x41, ...encoded(first), 0x0b, ...encoded(data.length)]), data]);
}

const parts = [bytes.subarray(0, at)];
while (at < bytes.length) {
  const begin = at;
  const id = bytes[at++];
  const size = unsigned();
  const end = at + size;
  if (id === DATA) {
    const section = joined(segments());
    parts.push(Buffer.from([DATA, ...encoded(section.length)]), section);
  } else if (id === DATA_COUNT) {
    parts.push(Buffer.from([DATA_COUNT, 1, 1]));
  } else {
    parts.push(bytes.subarray(begin, end));
  }
  at = end;
}
writeFileSync(path, Buffer.concat(parts));
