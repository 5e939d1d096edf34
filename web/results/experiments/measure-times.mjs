// Measures what a cell of each experiment costs, over cells at even distances in its grid, and writes
// times.json; then `npm run experiments` writes the first table of docs/experiments/tables.md. With names of experiments
// as arguments it measures those alone, and keeps the times of the others.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Cells that are measured: more than one of experiments with models of several sizes, whose mean size they have. */
const MEASURED = { 'trainability-map': 4, 'rank-escape': 7 };
const measuredOf = (name) => MEASURED[name] ?? 1;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = `${root}docs/experiments/`;
const results = `${root}web/results/experiments/`;
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.grid.json'))
  .map((name) => name.slice(0, -'.grid.json'.length));

/** Seconds of CPU of a cell, as its process counts them, whatever runs beside it. */
function secondsOf(name) {
  const { columns, missing } = JSON.parse(readFileSync(`${results}${name}.results.json`, 'utf8'));
  const planned = columns.seed.length + missing.length;
  const shard = `1/${Math.ceil(planned / measuredOf(name))}`;
  const out = mkdtempSync(join(tmpdir(), 'eigenscope-times-'));
  const run = 'TIMEFORMAT="%U %S"; time "$0" train --grid "$1" --shard "$2" --out "$3"';
  const words = [`${root}build/native/eigenscope`, `${folder}${name}.grid.json`, shard, out];
  const ran = spawnSync('bash', ['-c', run, ...words], { cwd: root, encoding: 'utf8' });
  const measured = readdirSync(out).filter((file) => file.endsWith('.json')).length;
  rmSync(out, { recursive: true });
  if (ran.status !== 0 || measured === 0) throw new Error(`${name}: ${ran.stderr}`);
  const [user, system] = ran.stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return { measured, seconds: Number(((user + system) / measured).toFixed(1)) };
}

const file = `${results}times.json`;
const machine = cpus()[0].model;
const asked = process.argv.slice(2);
const known = asked.length > 0 ? JSON.parse(readFileSync(file, 'utf8')) : null;
if (known && known.machine !== machine)
  throw new Error(`times.json was measured on ${known.machine}; measure all experiments on ${machine}`);
const times = {
  command: 'node web/results/experiments/measure-times.mjs',
  machine,
  experiments: Object.fromEntries(
    names.map((name) => [name, known && !asked.includes(name) ? known.experiments[name] : secondsOf(name)]),
  ),
};
writeFileSync(file, `${JSON.stringify(times, null, 2)}\n`);
