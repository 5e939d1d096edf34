// Writes the results files beside it, and the tables and numbers of the pages, from them.
//
//   npm run experiments                     from the runs that the results files have
//   npm run experiments -- --cells cells    from those in cells/EXPERIMENT, of the experiments that are there
//   npm run experiments -- --long           computes the numbers of web/results/long-calls.json anew too (3 minutes);
//                                           with --check it compares them with the file
//   npm run experiments -- --lacking        computes those of them that the file does not have
//   npm run experiments -- --check          writes nothing; fails where a file is not as it would be written
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withNumbers, withTables } from '../../web/results/tables.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { cells, check, long, lacking } = parseArgs({
  options: {
    cells: { type: 'string' },
    check: { type: 'boolean' },
    long: { type: 'boolean' },
    lacking: { type: 'boolean' },
  },
}).values;
if (cells && check) throw new Error('--check is not allowed beside --cells');
const options = [...(cells ? ['--cells', cells] : []), ...(check ? ['--check'] : [])];
const publisher = `${root}docs/experiments/publish.py`;
execFileSync('/usr/bin/python3', ['-B', publisher, ...options], { stdio: 'inherit' });

// They read the results files.
const experiments = { ...(await import('./tables.mjs')), ...(await import('./numbers.mjs')) };
const controls = await import('./controls/tables.mjs');
const causes = await import('./causes/tables.mjs');
const withoutText = await import('../../web/results/without-text.mjs');
const trainedModels = await import('../../web/results/trained-models.mjs');
const tokenMetric = await import('../../web/results/token-metric.mjs');
const rotaryCircuits = await import('../../web/results/rotary-circuits.mjs');
const useLite = await import('../../web/results/use-lite.mjs');
const quantization = await import('../../web/results/quantization.mjs');
const headSurgery = await import('../../web/results/head-surgery.mjs');
const biasRate = await import('../../web/results/bias-rate.mjs');
const computed = await import('../../web/results/computed.mjs');
const { computeLongCalls, keepLongCalls } = await import('../../web/results/long-calls.mjs');
if (long || lacking) computeLongCalls(long ? 'all' : 'lacking');

const made = {
  ...experiments.tables(),
  ...controls.tables(),
  ...causes.tables(),
  ...computed.tables(),
  ...withoutText.tables(withoutText.results()),
  ...trainedModels.tables(trainedModels.results()),
  ...tokenMetric.tables(tokenMetric.results()),
  ...quantization.tables(quantization.results()),
  ...useLite.tables(useLite.results()),
  ...headSurgery.tables(headSurgery.results()),
};
const numbers = {
  ...experiments.numbers,
  ...causes.numbers,
  ...computed.numbers,
  ...withoutText.numbers,
  ...trainedModels.numbers,
  ...tokenMetric.numbers,
  ...biasRate.numbers,
  ...rotaryCircuits.numbers,
  ...useLite.numbers,
  ...headSurgery.numbers,
};
const PAGES = [
  'README.md',
  'docs/checkpoints.md',
  'docs/experiments/causes/results.md',
  'docs/experiments/controls/results.md',
  'docs/experiments/prediction.md',
  'docs/experiments/tables.md',
  'docs/experiments/token-metric.md',
  'docs/findings.md',
  'docs/performance.md',
  'docs/prediction.md',
  'docs/theory.md',
  'docs/uses.md',
  ...readdirSync(`${root}web/chapters`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('view.html'))
    .map((path) => `web/chapters/${path}`),
];
for (const page of PAGES) {
  const text = readFileSync(root + page, 'utf8');
  const next = withNumbers(withTables(text, made), numbers);
  if (next === text) continue;
  if (!check) writeFileSync(root + page, next);
  else {
    console.error(`${page} is not as npm run experiments writes it`);
    process.exitCode = 1;
  }
}
if (!keepLongCalls(check)) {
  console.error('web/results/long-calls.json is not as npm run experiments -- --long writes it');
  process.exitCode = 1;
}
