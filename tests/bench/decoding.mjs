// `npm run bench:decoding` writes docs/performance/decoding.md: time of decoding a token with softmax over that with
// hard attention, both timed in turn by the same program.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { spread, writeReport } from './report.mjs';

const program = fileURLToPath(new URL('../../build/native/tests/eigenscope-bench', import.meta.url));
const TURNS = 15;

/** name -> seconds. */
function timings() {
  const lines = execFileSync(program, ['decode'], { encoding: 'utf8' }).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ')).map(([name, seconds]) => [name, Number(seconds)]));
}

const turns = Array.from({ length: TURNS }, timings);
const rows = [64, 512].map((length) => {
  const ratios = turns.map((turn) => turn[`decode-softmax-${length}`] / turn[`decode-hard-${length}`]);
  const { median, low, high } = spread(ratios);
  return [`decoding at T = ${length}`, median.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`];
});
writeReport('decoding', {
  title: `Time of decoding with softmax over hard attention, ${TURNS} pairs`,
  command: 'npm run bench:decoding',
  columns: ['ratio', 'median', 'range'],
  rows,
  notes: [
    'A token is decoded by a forward pass of the last T tokens, as `eigenscope generate` does. 2 layers, width 64, ' +
      '4 heads, bytes. Hard attention reads one value for each query and computes no exponentials; it needs all ' +
      'logits.',
  ],
});
