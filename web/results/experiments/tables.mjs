// The tables of the pages on experiments, from their results files.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { code, intervalText, shown, table } from '../tables.mjs';

/** The folder of results files, and that of the plans with their grids. */
const folder = fileURLToPath(new URL('.', import.meta.url));
const plans = fileURLToPath(new URL('../../../docs/experiments/', import.meta.url));
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
/** The results of an experiment with its grid, by its path in these folders. */
export const resultsOf = (path) => ({
  ...read(`${folder}${path}.results.json`),
  grid: read(`${plans}${path}.grid.json`),
});

/** Those of the folder itself, by the names of the experiments. */
export const results = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith('.results.json'))
    .map((name) => name.slice(0, -'.results.json'.length))
    .map((name) => [name, resultsOf(name)]),
);

/** The runs of an experiment that have a result. */
export const runsOf = ({ columns }) => columns.seed.length;

/** The same with three digits after the point, of large ones with two digits in all. */
const brief = (value) => (value < 1e4 ? shown(value, 3) : value.toExponential(1).replace('+', ''));

/** The label of a run on an axis. */
export const labelOf = ({ labels, axes }, axis, run) => labels[axis][axes[axis][run]];
const hasLabels = (columns, wanted, run) =>
  Object.entries(wanted).every(([axis, label]) => labelOf(columns, axis, run) === label);
/** The row of a summary with these labels. */
export const rowWith = (rows, wanted) =>
  rows.find(({ axes }) => Object.entries(wanted).every(([axis, label]) => axes[axis] === label));
/** Mean of a measure before (`initial`) or after (`final`) training over the runs with these labels; null for none. */
export function meanOver(columns, part, measure, wanted) {
  const values = columns[part][measure].filter((value, run) => value !== null && hasLabels(columns, wanted, run));
  return values.length ? values.reduce((sum, it) => sum + it, 0) / values.length : null;
}

/** One of an experiment's analyses, and its rows. */
export const analysisOf = ({ analysis }, kind) => analysis.find((it) => it.kind === kind);
export const analysed = (of, kind) => analysisOf(of, kind).rows;
/** A difference with its interval, and the p value of its test corrected by Holm's method. */
const TESTED = '95% interval | p (Holm)';
const test = (of, digits) => [shown(of.difference, digits), intervalText(of, digits), shown(of.holm, 3)];
/** The mean and the paired test of a measure, and the number of runs. */
const tested = (of, digits) => [of.runs, shown(of.mean, digits), ...test(of, digits)];
/** By the numbers that the labels of axes are. */
export const byAxes =
  (...axes) =>
  (a, b) =>
    axes.map((axis) => a.axes[axis] - b.axes[axis]).find(Boolean) ?? 0;
/** Rows of an analysis of runs of one depth each, which the settings have where no axis has it. */
const byDepth = (results, kind) =>
  analysed(results, kind)
    .map(({ axes = results.grid.settings, ...row }) => ({ axes, ...row }))
    .sort(byAxes('depth'));
const byMean = (measure) => (a, b) => a[measure].mean - b[measure].mean;

/** A mean over runs; the number after ± is two standard errors. */
export const meanText = ({ runs, mean, deviation }, digits) =>
  `${shown(mean, digits)} ± ${shown(deviation === null ? null : (2 * deviation) / Math.sqrt(runs), digits)}`;
const tunedText = (measure, digits) =>
  meanText(measure, digits) + (measure.holm === undefined ? '' : ` (${testText(measure.holm)})`);

/** A p value as prose has it: "p 0.56", "p < 0.001". */
export function testText(p, digits = p < 0.1 ? 3 : 2) {
  return p < 0.001 ? 'p < 0.001' : `p ${p.toFixed(digits)}`;
}

const TUNED_NAMES = {
  none: 'baseline',
  locater: 'LocAteR, tr(W²)',
  'locater-frobenius': 'LocAteR, Frobenius',
  'sigma-reparam': 'sigmaReparam',
  'qk-decay': 'QK weight decay',
};

/**
 * A test of one label against another: "`none` - `initial-m1`", "alpha = 1 - alpha = -1", with the labels of `places`,
 * axes on which the tests of its family differ: "`none` - `initial-m1` at 0.02".
 */
function testName([[, first], [, second]], places) {
  const axis = Object.keys(first).find((name) => first[name] !== second[name]);
  const name = (label) => (axis === 'method' ? code(label) : `${axis} = ${label}`);
  const at = places.filter((place) => place !== axis).map((place) => ` at ${first[place]}`);
  return `${name(first[axis])} - ${name(second[axis])}${at.join('')}`;
}

/** A family of direct comparisons of an experiment, with the exact tests of shares where it has them. */
function contrasts(results, family = 0) {
  const { tests, below, rows } = results.analysis.filter(({ kind }) => kind === 'contrasts')[family];
  const shares = below !== undefined;
  const labels = tests.map(([[, first]]) => first);
  const places = Object.keys(labels[0]).filter((axis) => labels.some((it) => it[axis] !== labels[0][axis]));
  const ofShares = `below ${below} in the first only | in the second only | p, McNemar | p (Holm) | p, Fisher`;
  return table(
    `comparison | pairs | difference in bits per byte | ${TESTED}` + (shares ? ` | ${ofShares}` : ''),
    rows.map((row, at) => [
      ...[testName(tests[at], places), row.pairs, ...test(row, 3)],
      ...(shares ? [row.only_first, row.only_second] : []),
      ...(shares ? [row.mcnemar, row.mcnemar_holm, row.fisher].map((p) => shown(p, 3)) : []),
    ]),
  );
}

const TABLES_OF_N_GRAMS = ['unigram', 'bigram', 'trigram'];

/** The tables by the names of their markers; each is made of the results of one experiment or several. */
const TABLES = {
  'high-rate': [
    'learning-rate',
    ({ summary }) =>
      table(
        `method | runs | bits per byte | difference from the baseline | ${TESTED} | entropy`,
        summary
          .filter(({ axes }) => axes.learning_rate === '0.02')
          .sort(byMean('bits_per_byte'))
          .map((row) => [code(row.axes.method), ...tested(row.bits_per_byte, 3), shown(row.entropy.mean, 2)]),
      ),
  ],
  rates: [
    'learning-rate',
    (results) => {
      const rates = results.grid.axes.learning_rate;
      const levels = analysisOf(results, 'sensitivity').reach;
      const rows = analysed(results, 'sensitivity');
      const runsOf = (points) => {
        const all = points.map(({ runs }) => runs);
        const [least, most] = [Math.min(...all), Math.max(...all)];
        return least === most ? most : `${least} to ${most}`;
      };
      const at = ({ points }, rate) => points.find(({ learning_rate }) => learning_rate === rate);
      return table(
        [
          ...['method', ...rates.map((rate) => `at ${rate}`), 'mean excess', 'largest stable rate'],
          'runs at each rate',
          ...levels.map((level) => `steps to ${level} at 0.006`),
        ],
        rows.map((row) => [
          code(row.method),
          ...rates.map((rate) => shown(at(row, rate)?.mean, 3)),
          // Over other learning rates than those of the other methods they would not compare.
          ...(row.values === rates.length ? [shown(row.mean_excess, 3), row.largest_stable ?? 'none'] : ['', '']),
          runsOf(row.points),
          ...levels.map((_, i) => shown(at(row, 0.006)?.reached[i].mean_step, 0)),
        ]),
      );
    },
  ],
  differences: [
    'learning-rate',
    ({ grid, summary }) => {
      const rates = grid.axes.learning_rate.filter((rate) => rate !== 0.02);
      const methods = Object.keys(grid.axes.method).filter((method) => method !== 'none');
      const cell = (method, rate) => {
        const of = summary.find(({ axes }) => axes.method === method && axes.learning_rate === String(rate));
        const { difference, holm, pairs } = of?.bits_per_byte ?? {};
        const tested = pairs > 2 && holm !== null ? ` (${shown(holm, 3)})` : '';
        return shown(difference, 3) + tested;
      };
      return table(
        ['method', ...rates.map((rate) => `at ${rate}`)],
        methods.map((method) => [code(method), ...rates.map((rate) => cell(method, rate))]),
      );
    },
  ],
  escape: [
    'rank-escape',
    (results) =>
      table(
        'depth | s | alpha | runs | below 4.2 | share | 95% interval | ' +
          ['bits per byte', 'residual'].map((name) => `${name} | difference from alpha = 0 | ${TESTED}`).join(' | '),
        analysed(results, 'share')
          .sort(byAxes('depth', 'init_scale', 'alpha'))
          .map(({ axes, runs, below, share, low, high }) => {
            const { bits_per_byte, last_residual } = rowWith(results.summary, axes);
            return [
              ...[
                axes.depth,
                axes.init_scale,
                axes.alpha,
                runs,
                below,
                shown(share, 2),
                intervalText({ low, high }, 2),
              ],
              ...[bits_per_byte, last_residual].flatMap((measure) => tested(measure, 3).slice(1)),
            ];
          }),
      ),
  ],
  references: [
    ['learning-rate', 'rank-escape', 'paper-setting', 'trainability-map', 'regularizers'],
    (...all) =>
      table(
        ['experiment', 'unit', 'unigrams', 'bigrams', 'trigrams'],
        all.map(({ experiment, columns, references }) => {
          const [unit, digits] = 'perplexity' in columns.final ? ['perplexity of words', 1] : ['bits per byte', 3];
          return [code(experiment), unit, ...TABLES_OF_N_GRAMS.map((name) => shown(references[name], digits))];
        }),
      ),
  ],
  'direct-rates': ['learning-rate', (results) => contrasts(results)],
  'added-rates': ['learning-rate', (results) => contrasts(results, 1)],
  'half-rates': ['learning-rate', (results) => contrasts(results, 2)],
  'direct-signs': ['rank-escape', (results) => contrasts(results)],
  predictors: [
    'trainability-map',
    (results) =>
      table(
        'cells of | cells | measure at initialization | rank correlation with the loss | at equal s (mean) | ' +
          'area under the curve',
        analysed(results, 'predictors').map((row) => [
          ...[`${row.axes.layer_norm}-norm, depth ${row.axes.depth}`, row.cells],
          row.predictor === 'init_scale' ? 's' : code(row.predictor),
          ...[row.rank_correlation, row.within, row.area_under_curve].map((it) => shown(it, 2)),
        ]),
      ),
  ],
  freezing: [
    'trainability-map',
    (results) =>
      table(
        'cells of | 1 - p | s at alpha = 0.07 | s at alpha = 1 | cells beyond | mean loss beyond | ' +
          'mean loss before | rank correlation | area under the curve',
        analysed(results, 'freezing').map((row) => [
          ...[`${row.axes.layer_norm}-norm, depth ${row.axes.depth}`, shown(row.unlike, 2)],
          ...[0.0667, 1].map((alpha) => shown(row.scales.find((it) => it.alpha === alpha).init_scale, 2)),
          ...[`${row.beyond} of ${row.cells}`, shown(row.mean_beyond, 3), shown(row.mean_before, 3)],
          ...[row.rank_correlation, row.area_under_curve].map((it) => shown(it, 2)),
        ]),
      ),
  ],
  plateaus: [
    ['learning-rate', 'rank-escape'],
    (...all) =>
      table(
        ['experiment', 'depth', 'at the first logged step', 'runs', 'never below 4.5', 'rank correlation'],
        all.flatMap((results) =>
          byDepth(results, 'plateau').map(({ axes, driver, ...row }) => [
            ...[results.experiment, axes.depth, code(driver), row.runs, row.never, shown(row.rank_correlation, 2)],
          ]),
        ),
      ),
  ],
  residual: [
    'rank-escape',
    ({ analysis }) => {
      const { rows } = analysis.findLast(({ kind }) => kind === 'plateau');
      return table(
        ['at the first logged step', 'runs', 'never below 4.5', 'rank correlation'],
        rows.map(({ driver, runs, never, ...row }) => [code(driver), runs, never, shown(row.rank_correlation, 2)]),
      );
    },
  ],
  relation: [
    ['learning-rate', 'rank-escape'],
    (...all) =>
      table(
        ['experiment', 'depth', 'runs', 'logged rows', 'rank correlation over all rows', 'mean within a run'],
        all.flatMap((results) =>
          byDepth(results, 'relation').map(({ axes, ...row }) => [
            ...[results.experiment, axes.depth, row.runs, row.rows],
            ...[row.rank_correlation, row.mean_within_runs].map((it) => shown(it, 2)),
          ]),
        ),
      ),
  ],
  'paper-setting': [
    'paper-setting',
    ({ summary }) =>
      table(
        `method | biases | runs | perplexity | difference from the baseline | ${TESTED} | entropy | Frobenius variance | ` +
          `share of the biases | entropy minus that of the baseline | ${TESTED}`,
        summary.map((row) => [
          ...[code(row.axes.method), row.axes.query_key_bias, ...tested(row.perplexity, 1)],
          ...[shown(row.entropy.mean, 3), brief(row.variance_frobenius.mean)],
          ...[shown(row.bias_part.mean / row.logit_variance.mean, 2), ...test(row.entropy, 3)],
        ]),
      ),
  ],
  tuned: [
    'regularizers',
    ({ summary }) =>
      table(
        'regularizer | bits per byte | entropy | mean eigenvalue | variance, tr(W²) | variance, Frobenius | ' +
          'rank floor | predicted L | residual',
        summary.map((row) => [
          ...[TUNED_NAMES[row.axes.method], tunedText(row.bits_per_byte, 3), tunedText(row.entropy, 3)],
          ...[tunedText(row.mean, 4), tunedText(row.variance, 3), tunedText(row.variance_frobenius, 3)],
          // The rank floor: m²(d/d_h - 1).
          ...[shown(3 * row.mean.mean ** 2, 4), tunedText(row.localization, 4), tunedText(row.residual, 3)],
        ]),
      ),
  ],
};

/** Experiments in the order of the page of their plans. */
const ORDER = ['learning-rate', 'rank-escape', 'paper-setting', 'trainability-map', 'regularizers'];
const times = read(`${folder}times.json`);

/** How much of each experiment is there, and what it costs. */
function state() {
  const plans = ORDER.map((name) => {
    const runs = runsOf(results[name]);
    const missing = results[name].missing.length;
    const { seconds } = times.experiments[name];
    const hours = (count) => (count * seconds) / 3600;
    return { name, runs, seconds, planned: runs + missing, rest: hours(missing), hours };
  });
  const total = plans.reduce((sum, { hours, planned }) => sum + hours(planned), 0);
  const rows = table(
    ['experiment', 'finished runs', 'CPU seconds per run', 'CPU hours for the rest', 'for all'],
    plans.map(({ name, runs, planned, seconds, rest, hours }) => [
      ...[code(name), `${runs} of ${planned}`, shown(seconds, 0), shown(rest, 1)],
      shown(hours(planned), 1),
    ]),
  );
  const measured =
    `Seconds are measured on one core of an ${times.machine} by ${code(times.command)}, on one run of each grid, ` +
    `${times.experiments['rank-escape'].measured} of ${code('rank-escape')} and one per norm and depth of ` +
    `${code('trainability-map')}. All runs take ${shown(total, 1)} hours of CPU, ${shown(total / 2, 1)} on two ` +
    'cores; 8 on two cores were planned.';
  return `${rows}\n\n${measured}`;
}

/** By the names of their markers: the tables in Markdown. */
export const tables = () => ({
  state: state(),
  ...Object.fromEntries(
    Object.entries(TABLES).map(([name, [of, write]]) => [name, write(...[of].flat().map((source) => results[source]))]),
  ),
});
