// Measures what a cell of each experiment costs, over cells at even distances in its grid, and writes times.json
// beside it; then `npm run experiments` writes the table of README.md.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Cells that are measured: of models of several sizes one each. */
const measuredOf = (name) => (name === 'trainability-map' ? 4 : 1);

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const names = readdirSync(here)
  .filter((name) => name.endsWith('.grid.json'))
  .map((name) => name.slice(0, -'.grid.json'.length));

/** Seconds of CPU of a cell, as its process counts them, whatever runs beside it. */
function secondsOf(name) {
  const { cells, missing } = JSON.parse(readFileSync(`${here}${name}.results.json`, 'utf8'));
  const planned = cells.length + missing.length;
  const shard = `1/${Math.ceil(planned / measuredOf(name))}`;
  const out = mkdtempSync(join(tmpdir(), 'eigenscope-times-'));
  const run = 'TIMEFORMAT="%U %S"; time "$0" train --grid "$1" --shard "$2" --out "$3"';
  const words = [`${root}build/native/eigenscope`, `${here}${name}.grid.json`, shard, out];
  const ran = spawnSync('bash', ['-c', run, ...words], { cwd: root, encoding: 'utf8' });
  const measured = readdirSync(out).filter((file) => file.endsWith('.json')).length;
  rmSync(out, { recursive: true });
  if (ran.status !== 0 || measured === 0) throw new Error(`${name}: ${ran.stderr}`);
  const [user, system] = ran.stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return { measured, seconds: Number(((user + system) / measured).toFixed(1)) };
}

const times = {
  command: 'node docs/experiments/measure-times.mjs',
  machine: cpus()[0].model,
  experiments: Object.fromEntries(names.map((name) => [name, secondsOf(name)])),
};
writeFileSync(`${here}times.json`, `${JSON.stringify(times, null, 2)}\n`);
