// Makes web/results/bias-rate.json: trains models of masked bytes with relative positions at two learning rates of the
// position bias (five minutes). `npm run experiments` then writes the numbers in docs/uses.md.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rounded, written } from './tables.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${root}web/results/bias-rate.json`;
/** Ratios to the learning rate of the other parameters. */
const RATES = [1, 10];
const TRAIN =
  'train --objective masked --width 32 --length 32 --batch 16 --positions relative --steps 3000 --log-every 3000 ' +
  '--eval-batches 32 --seeds 3';
const MEASURES = ['entropy', 'bits_per_byte'];

function compute(rate) {
  const line = `${TRAIN} --bias-rate ${rate}`;
  const options = { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'inherit'] };
  const { table } = JSON.parse(execFileSync(`${root}build/native/eigenscope`, line.split(' '), options).toString());
  const kept = table.filter(({ measure }) => MEASURES.includes(measure));
  const measures = kept.map(({ measure, runs, mean, deviation }) => [
    measure,
    { mean: rounded(mean), error: rounded(deviation / Math.sqrt(runs)) },
  ]);
  return { rate, command: `eigenscope ${line}`, ...Object.fromEntries(measures) };
}

export const numbers = {
  /** A measure of the models of a rate, the mean over seeds or its standard error. */
  'bias-rate': (rate, measure, statistic, digits) => {
    const rows = JSON.parse(readFileSync(RESULTS, 'utf8'));
    const row = rows.find((it) => it.rate === Number(rate));
    return written(row[measure][statistic], Number(digits));
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(RESULTS, `${JSON.stringify(RATES.map(compute), null, 1)}\n`);
}
