// `npm run bench:large` writes docs/performance/large-checkpoint.md: scans of a checkpoint in the shape of a 7B LLaMA
// (all columns, which people type; the traces alone; with scores of layers) against reading the bytes of the same query
// and key tensors in pieces of 1 MiB, in turn; and their peak memory. Ends with status 1 where a scan misses its target.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { largeFolder } from './large-folder.mjs';
import { cellOf, writeReport } from './report.mjs';
import { SCANS, scan, writeCheckpoint } from './scans.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LAYERS = process.argv[2] ?? '32';
const folder = largeFolder();

/** Every query and key tensor: its file, first byte and length. */
function ranges() {
  const { weight_map } = JSON.parse(readFileSync(join(folder, 'model.safetensors.index.json')));
  return [...new Set(Object.values(weight_map))].flatMap((name) => {
    const file = openSync(join(folder, name), 'r');
    const length = Buffer.alloc(8);
    readSync(file, length, 0, 8, 0);
    const text = Buffer.alloc(Number(length.readBigUInt64LE()));
    readSync(file, text, 0, text.length, 8);
    closeSync(file);
    return Object.entries(JSON.parse(text))
      .filter(([tensor]) => /[qk]_proj/.test(tensor))
      .map(
        ([
          ,
          {
            data_offsets: [from, to],
          },
        ]) => ({ path: join(folder, name), from: 8 + text.length + from, bytes: to - from }),
      );
  });
}

function forget(paths) {
  for (const path of paths) {
    spawnSync('dd', [`of=${path}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0']);
  }
}

function secondsToRead(list) {
  const start = performance.now();
  const piece = Buffer.alloc(1 << 20);
  for (const { path, from, bytes } of list) {
    const file = openSync(path, 'r');
    for (let at = 0; at < bytes; at += piece.length) {
      readSync(file, piece, 0, Math.min(piece.length, bytes - at), from + at);
    }
    closeSync(file);
  }
  return (performance.now() - start) / 1000;
}

writeCheckpoint(folder, LAYERS);
const list = ranges();
const paths = [...new Set(list.map(({ path }) => path))];
const bytes = list.reduce((sum, range) => sum + range.bytes, 0);
const rows = [];
const missed = [];
let heads = 0;
for (const { name, options, turns: count, most } of SCANS) {
  for (const kind of ['disk', 'cache']) {
    const turns = [];
    for (let turn = 0; turn < count; ++turn) {
      if (kind === 'disk') forget(paths);
      const reading = secondsToRead(list);
      if (kind === 'disk') forget(paths);
      turns.push({ reading, ...(await scan(`${root}build/native/eigenscope`, folder, options)) });
    }
    const cell = (value, digits) => cellOf(turns.map(value), digits);
    rows.push([
      name,
      kind,
      cell(({ reading }) => reading, 1),
      cell(({ seconds }) => seconds, 1),
      cell(({ reading, seconds }) => reading / seconds, 2),
      cell(({ memory }) => memory, 0),
    ]);
    heads = turns[0].heads;
    const median = turns.map(({ seconds }) => seconds).sort((a, b) => a - b)[count >> 1];
    if (kind === 'cache' && median > most) missed.push(`${name}: at most ${most} s, found ${median.toFixed(1)} s`);
  }
}
writeReport('large-checkpoint', {
  title: 'Scan of a checkpoint with the shapes of a 7B LLaMA',
  command: 'npm run bench:large',
  columns: ['scan', 'from', 'plain reading, s', 'scan, s', 'plain reading over scan', 'peak memory, MB'],
  rows,
  notes: [
    `${heads} heads, ${(bytes / 1e9).toFixed(2)} GB of query and key weights in BF16; medians and ranges of ` +
      `${SCANS.map(({ turns }) => turns).join(', ')} turns. Plain reading is of the same bytes in pieces of 1 MiB.`,
  ],
});
for (const message of missed) console.error(message);
process.exitCode = missed.length > 0 ? 1 : 0;
