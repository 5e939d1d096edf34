// Makes web/results/use-lite.json (a minute): Universal Sentence Encoder-lite predicted without text, and the scores of
// its weights. `npm run experiments` then writes the tables of docs/experiments/prediction.md.
//
//   node web/results/use-lite-checkpoint.mjs && node web/results/use-lite.mjs
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agreement, jsonLines, median, picked, rounded, table, verbatim, written } from './tables.mjs';
import { SOURCES, TEXTS, writeBible, writeSpeeches } from './without-text.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${root}web/results/use-lite.json`;
const MODEL = 'build/use-lite';
/** The text whose measured attention is the null for another one. */
const otherOf = (text) => (text === 'Moby Dick' ? 'State of the Union' : 'Moby Dick');
/** Passages of the measured text other than those that are measured. */
const OWN = 'its other passages';
const WITHOUT_TEXT = ['Zipf', 'Zipf, order of the embeddings', 'uniform'];
const LAYERS = ['heads', MODEL, '--layers', '--fold-gains', 'no'];

const KEPT = /^(level|name|entropy_(rank_correlation|mean_absolute_error)(_low|_high)?)$/;
const PER_HEAD = ['layer', 'bare_components', 'weighted_components', 'measured_logit_components', 'measured_entropy'];

function run(line) {
  const options = { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'inherit'] };
  return JSON.parse(execFileSync(`${root}build/native/eigenscope`, line, options).toString());
}

function predict(source, measured) {
  const options =
    source === OWN ? ['--file', TEXTS[measured]] : [...SOURCES[source], '--measure-file', TEXTS[measured]];
  const transfer = source === 'Zipf' ? ['--transfer-file', TEXTS[otherOf(measured)]] : [];
  const line = ['predict', MODEL, ...options, ...transfer];
  const found = run(line);
  console.log(`${source} -> ${measured}`);
  const heads = found.layer.map((_, head) =>
    Object.fromEntries(PER_HEAD.map((name) => [name, rounded(found[name][head])])),
  );
  const summary = found.summary.map((row) => picked(row, KEPT));
  return { source, measured, command: `eigenscope ${line.join(' ')}`, heads, summary };
}

function compute() {
  if (!existsSync(`${root}${TEXTS['State of the Union']}`)) writeSpeeches();
  if (!existsSync(`${root}${TEXTS['King James Bible']}`)) writeBible();
  const runs = Object.keys(TEXTS).flatMap((text) => [OWN, ...WITHOUT_TEXT].map((source) => predict(source, text)));
  const layers = run(LAYERS).layers.map((row) => picked(row, /^(layer|symmetry|directionality|median_symmetry)$/));
  return { runs, layers };
}

const find = ({ runs }, source, measured) => runs.find((it) => it.source === source && it.measured === measured);
const named = (rows, level) => rows.find(({ name }) => name === level);
const label = ({ level, name }) => (level === null ? name : `${level} ${name}`);

/** Mean absolute error of the entropy, with its interval over the heads. */
function error(row) {
  const [value, low, high] = ['', '_low', '_high'].map((end) => written(row[`entropy_mean_absolute_error${end}`]));
  return `${value} (${low} to ${high})`;
}

/** What the weights and the logits of each layer need for 90% of their squares, and the symmetry of the weights. */
function weights(found) {
  const { heads } = find(found, 'Zipf', 'Moby Dick');
  return found.layers.map((row) => {
    const own = heads.filter(({ layer }) => layer === row.layer);
    const components = ['bare', 'weighted', 'measured_logit'].map((name) =>
      written(median(own.map((it) => it[`${name}_components`])), 1),
    );
    return [
      row.layer,
      ...components,
      ...['symmetry', 'median_symmetry', 'directionality'].map((it) => written(row[it], 2)),
    ];
  });
}

/** By the marker of their place in the page: tables in Markdown. */
export function tables(found) {
  const texts = Object.keys(TEXTS);
  const sources = [OWN, ...WITHOUT_TEXT];
  const columns = sources.map((source) => find(found, source, 'Moby Dick').summary);
  const byText = texts.map((text) => find(found, 'Zipf', text).summary);
  return {
    'entropy of Universal Sentence Encoder-lite': table(
      ['level', ...sources],
      columns[0].map((row) => [label(row), ...columns.map((rows) => agreement(named(rows, row.name), 'entropy'))]),
    ),
    'errors of Universal Sentence Encoder-lite': table(
      ['level', ...texts],
      byText[0].map((row, i) => [label(row), ...byText.map((rows) => error(rows[i]))]),
    ),
    'weights of Universal Sentence Encoder-lite': table(
      ['layer', 'components of W', 'of W C', 'of measured logits', 'symmetry', 'of single heads', 'directionality'],
      weights(found),
    ),
    'commands of Universal Sentence Encoder-lite': verbatim([
      ...found.runs.map(({ command }) => command),
      `eigenscope ${LAYERS.join(' ')}`,
    ]),
  };
}

export const results = () => JSON.parse(readFileSync(RESULTS, 'utf8'));

/** Sources by the names that markers have for them. */
const BRIEF = { zipf: ['Zipf'], uniform: ['uniform'], all: WITHOUT_TEXT };

const rowsWithoutText = (level, sources = 'all') =>
  Object.keys(TEXTS).flatMap((text) =>
    BRIEF[sources].map((source) => named(find(results(), source, text).summary, level)),
  );
const span = (values) => [Math.min(...values), Math.max(...values)].map((it) => written(it)).join(' to ');

/** By name: a text for a sentence. */
export const numbers = {
  /** Over the texts and some sources of statistics without text. */
  'use-lite-errors': (level, sources) =>
    span(rowsWithoutText(level, sources).map((row) => row.entropy_mean_absolute_error)),
  'use-lite-ranks': (level) => span(rowsWithoutText(level).map((row) => row.entropy_rank_correlation)),
  /** The least lower end of the intervals of the rank correlation. */
  'use-lite-least-rank': (level) =>
    written(Math.min(...rowsWithoutText(level).map((row) => row.entropy_rank_correlation_low))),
  'use-lite-symmetry': () =>
    results()
      .layers.map(({ symmetry }) => written(symmetry, 2))
      .join(' and '),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(RESULTS, `${jsonLines(compute())}\n`);
