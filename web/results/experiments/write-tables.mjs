// Writes the results files of this folder, and the tables and numbers of the pages, from them.
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
import { withNumbers, withTables } from '../tables.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
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
const publisher = `${root}web/results/experiments/publish.py`;
execFileSync('/usr/bin/python3', ['-B', publisher, ...options], { stdio: 'inherit' });

const { computeLongCalls, keepLongCalls } = await import('../long-calls.mjs');
if (long || lacking) computeLongCalls(long ? 'all' : 'lacking');

/** They read the results files. Each has tables, of its results where it reads them only then, or numbers, or both. */
const OF_EXPERIMENTS = ['tables', 'numbers', 'controls', 'causes'].map((name) => `./${name}.mjs`);
const OF_THE_PAGE = [
  ...['computed', 'without-text', 'trained-models', 'token-metric', 'rotary-circuits'],
  ...['use-lite', 'quantization', 'head-surgery', 'bias-rate'],
].map((name) => `../${name}.mjs`);
const [made, numbers] = [{}, {}];
for (const path of [...OF_EXPERIMENTS, ...OF_THE_PAGE]) {
  const of = await import(path);
  Object.assign(made, of.tables?.(...(typeof of.results === 'function' ? [of.results()] : [])));
  Object.assign(numbers, of.numbers);
}
const filesIn = (folder, ending) =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => `${folder}/${path}`);
const PAGES = ['README.md', ...filesIn('docs', '.md'), ...filesIn('web/chapters', 'view.html')];
for (const page of PAGES) {
  const text = readFileSync(root + page, 'utf8');
  if (!/<!--=|<!-- end -->/.test(text)) continue;
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
