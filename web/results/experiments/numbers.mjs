// The numbers in sentences on experiments, from their results files.
import { intervalText, shown, word } from '../tables.mjs';
import { analysed, analysisOf, labelOf, meanOver, results as experiments, resultsOf, rowWith } from './tables.mjs';

const controls = ['sign-post-norm', 'paper-mean', 'out-of-the-way'];
const results = {
  ...experiments,
  ...Object.fromEntries(controls.map((name) => [name, resultsOf(`controls/${name}`)])),
};

const EXPERIMENTS = {
  rates: { name: 'learning-rate', axes: ['method', 'learning_rate'], outcome: 'bits_per_byte' },
  escape: { name: 'rank-escape', axes: ['depth', 'init_scale', 'alpha'], outcome: 'bits_per_byte' },
  paper: { name: 'paper-setting', axes: ['method', 'query_key_bias'], outcome: 'perplexity' },
  sign: { name: 'sign-post-norm', axes: ['alpha', 'steps'], outcome: 'bits_per_byte' },
  means: { name: 'paper-mean', axes: ['method', 'query_key_bias'], outcome: 'loss' },
  way: { name: 'out-of-the-way', axes: ['method', 'learning_rate', 'steps'], outcome: 'bits_per_byte' },
  tuned: { name: 'regularizers', axes: ['method'], outcome: 'bits_per_byte' },
};

/** A setting, with commas between the thousands of a number. */
const plain = (value) => (typeof value === 'number' && value >= 1000 ? value.toLocaleString('en') : String(value));

/** Labels between slashes, `frobenius-m1/0.02`, by the axes of an experiment. */
const byAxis = ({ axes }, labels) => Object.fromEntries(labels.split('/').map((label, i) => [axes[i], label]));

/** An experiment and a row of its summary. */
function rowOf(experiment, labels) {
  const { name, outcome, ...of } = EXPERIMENTS[experiment];
  const row = rowWith(results[name].summary, byAxis(of, labels));
  if (!row) throw new Error(`${name} has no runs of ${labels}`);
  return { row, outcome };
}

const compared = (experiment, labels, measure) => {
  const { row, outcome } = rowOf(experiment, labels);
  return row[measure ?? outcome];
};

/** The mean of a measure over the runs with these labels. */
const meanOf = (experiment, labels, measure) =>
  meanOver(results[EXPERIMENTS[experiment].name].columns, 'final', measure, byAxis(EXPERIMENTS[experiment], labels));

/** One of the direct comparisons of an experiment, by the labels on which its two groups of runs differ. */
function contrastOf(experiment, first, second) {
  const has = ([, own], labels) => labels.split('/').every((label) => Object.values(own).includes(label));
  for (const { tests, rows } of familiesOf(experiment)) {
    const at = tests.findIndex(([a, b]) => has(a, first) && has(b, second));
    if (at >= 0) return rows[at];
  }
  throw new Error(`${experiment} has no comparison of ${first} with ${second}`);
}

/** The families of direct comparisons of an experiment, in the order of its plan. */
const familiesOf = (experiment) =>
  results[EXPERIMENTS[experiment].name].analysis.filter(({ kind }) => kind === 'contrasts');

/** The smallest and the largest of some numbers. */
const span = (values, digits) => [Math.min(...values), Math.max(...values)].map((it) => shown(it, digits)).join(' to ');

const FORMS = ['locater', 'frobenius', 'effective'];
/** Methods that keep a positive mean in all heads throughout; other means; by the names of groups. */
const METHODS = {
  positive: [...FORMS.flatMap((form) => [`${form}-m0.5`, `${form}-m1`]), 'initial-m1'],
  other: [...FORMS.map((form) => `${form}-m-1`), 'random-m1'],
};

/** Of the runs that leave the unigram level. */
const shares = () => analysed(results['rank-escape'], 'share');

const lowest = (method) =>
  results['learning-rate'].summary
    .filter(({ axes }) => axes.method === method)
    .reduce((a, b) => (b.bits_per_byte.mean < a.bits_per_byte.mean ? b : a));

const plateau = (experiment, driver, depth) =>
  analysed(results[experiment], 'plateau').find((row) => row.driver === driver && (!depth || row.axes.depth === depth));

const predictor = (norm, depth, measure) =>
  analysed(results['trainability-map'], 'predictors').find(
    (row) => row.axes.layer_norm === norm && row.axes.depth === depth && row.predictor === measure,
  );

/** Of the trainability map: measured over predicted variance of the logits, of the initializations with this alpha. */
function varianceRatios(alpha) {
  const { columns, grid } = results['trainability-map'];
  const label = (axis, run) => labelOf(columns, axis, run);
  const ratios = new Map();
  columns.seed.forEach((_, run) => {
    if (Math.abs(Number(label('alpha', run))) !== Number(alpha)) return;
    const [norm, depth] = ['layer_norm', 'depth'].map((axis) => label(axis, run));
    const { scales } = analysed(results['trainability-map'], 'freezing').find(
      (row) => row.axes.layer_norm === norm && row.axes.depth === depth,
    );
    const at = scales.find((it) => it.alpha === Number(label('alpha', run))).init_scale;
    const predicted = (Number(label('init_scale', run)) / at) ** 4 * 2 * Math.log(grid.settings.length);
    // The first layer of a post-norm model has next to none.
    const layers = norm === 'post' ? (depth - 1) / depth : 1;
    const key = Object.keys(columns.axes)
      .map((axis) => label(axis, run))
      .join();
    const found = ratios.get(key) ?? [];
    ratios.set(key, [...found, columns.initial.logit_variance[run] / (layers * predicted)]);
  });
  return [...ratios.values()].map((own) => own.reduce((a, b) => a + b) / own.length);
}

/** By name: a text from the arguments of its place. Labels stand between slashes, digits last. */
export const numbers = {
  /** Mean difference from the baseline, of the outcome or of another measure. */
  difference: (experiment, labels, digits = 3, measure) =>
    shown(compared(experiment, labels, measure).difference, Number(digits)),
  /** By how much the outcome is lower. */
  gain: (experiment, labels, digits = 3) => shown(-compared(experiment, labels).difference, Number(digits)),
  change: (experiment, labels, digits = 3) => {
    const { difference } = compared(experiment, labels);
    return (difference < 0 ? '' : '+') + shown(difference, Number(digits));
  },
  /** 95% interval of the mean difference. */
  interval: (experiment, labels, digits = 3, measure) => intervalText(compared(experiment, labels, measure), digits),
  /** By what factor the gain of the first is that of the second. */
  'gain-ratio': (experiment, first, second) =>
    shown(compared(experiment, first).difference / compared(experiment, second).difference, 1),
  /** By how much the outcome of the first is lower. */
  'contrast-gain': (experiment, first, second) => shown(-contrastOf(experiment, first, second).difference, 3),
  'contrast-cost': (experiment, first, second) => shown(contrastOf(experiment, first, second).difference, 3),
  'contrast-interval': (experiment, first, second) => intervalText(contrastOf(experiment, first, second), 3),
  /** Share of runs of the first that leave the unigram level, minus that of the second, with its 95% interval. */
  'contrast-share': (experiment, first, second) => shown(contrastOf(experiment, first, second).share_difference, 2),
  'contrast-share-interval': (experiment, first, second) => {
    const { share_low: low, share_high: high } = contrastOf(experiment, first, second);
    return intervalText({ low, high }, 2);
  },
  /** Runs of a control that end below the threshold, by its labels. */
  left: (experiment, labels) => {
    const of = EXPERIMENTS[experiment];
    const row = rowWith(analysed(results[of.name], 'share'), byAxis(of, labels));
    return `${row.below} of ${row.runs}`;
  },
  /** Rank correlation of the mean's sign with the loss: `total`, or `partial`, given the residual. */
  mediated: (experiment, kind) => {
    const [row] = analysed(results[EXPERIMENTS[experiment].name], 'mediation');
    return `${shown(row[kind], 2)} (${shown(row[`${kind}_low`], 2)} to ${shown(row[`${kind}_high`], 2)})`;
  },
  /** p of its exact test of shares, by Holm's method. */
  'contrast-mcnemar': (experiment, first, second) => shown(contrastOf(experiment, first, second).mcnemar_holm, 3),
  /** Of alpha 1 against -1: the same for runs below the bigram table. */
  'mcnemar-below-bigrams': () =>
    shown(familiesOf('sign').find(({ below }) => below === 'bigram').rows[0].mcnemar_holm, 3),
  /** Tests of the largest family of an experiment that count: "24 of 24". */
  counted: (experiment) => {
    const families = familiesOf(experiment).map(({ rows }) => rows);
    const rows = families.reduce((a, b) => (b.length > a.length ? b : a));
    return `${rows.filter(({ holm }) => holm < 0.05).length} of ${rows.length}`;
  },
  /** Share of the logits' variance that query and key biases carry. */
  'bias-share': (experiment, labels) => {
    const { row } = rowOf(experiment, labels);
    return `${shown((100 * row.bias_part.mean) / row.logit_variance.mean, 0)}%`;
  },
  mean: (experiment, labels, measure, digits) => shown(meanOf(experiment, labels, measure), Number(digits)),
  /** Of a large one: "4.9 million". */
  millions: (experiment, labels, measure) => `${shown(meanOf(experiment, labels, measure) / 1e6, 1)} million`,
  runs: (experiment, labels) => String(compared(experiment, labels).runs),
  /** What a table of n-grams reaches on the text on which an experiment is scored. */
  reference: (experiment, kind, digits = 3) =>
    shown(results[EXPERIMENTS[experiment]?.name ?? experiment].references[kind], Number(digits)),
  setting: (experiment, name) => plain(results[experiment].grid.settings[name]),
  'setting-word': (experiment, name) => word(results[experiment].grid.settings[name]),
  /** The values of an axis: "4, 8 and 16". */
  labels: (experiment, axis) => {
    const labels = results[experiment].grid.axes[axis];
    return `${labels.slice(0, -1).join(', ')} and ${labels.at(-1)}`;
  },
  /** The loss below which an analysis counts runs. */
  threshold: (experiment, kind) => String(analysisOf(results[experiment], kind).below),
  'method-setting': (experiment, method, name) => String(results[experiment].grid.axes.method[method][name]),

  /** The smallest and the largest difference of methods from the baseline. */
  differences: (methods, rate) =>
    span(
      METHODS[methods].map((method) => compared('rates', `${method}/${rate}`).difference),
      2,
    ),
  /** The smallest and the largest difference from the baseline of the control with means to keep. */
  costs: (part) => {
    const kept = results['paper-mean'].summary.filter(({ axes }) => /-m[\d.]+-/.test(axes.method));
    const differences = kept.map(({ loss }) => loss.difference);
    return part === 'least' ? shown(Math.min(...differences), 3) : span(differences, 3);
  },
  'mean-excess': (method) =>
    shown(analysed(results['learning-rate'], 'sensitivity').find((row) => row.method === method).mean_excess, 3),
  lowest: (method, digits) => shown(lowest(method).bits_per_byte.mean, Number(digits)),
  /** Runs of a depth, of one scale, of one alpha that end below the threshold. */
  escaped: (depth, scale, alpha) => {
    const own = shares().filter(
      ({ axes }) =>
        axes.depth === depth && [undefined, axes.init_scale].includes(scale) && [undefined, axes.alpha].includes(alpha),
    );
    const sum = (of) => own.reduce((total, row) => total + row[of], 0);
    return `${sum('below')} of ${sum('runs')}`;
  },
  /**
   * Runs that end below the bigram table's loss on the same text: all, those with some labels on the first axes,
   * or those of methods with a `positive` mean in all heads.
   */
  'below-bigrams': (experiment, group) => {
    const { columns, references } = results[EXPERIMENTS[experiment]?.name ?? experiment];
    const axes = Object.keys(columns.labels);
    const wanted =
      group === 'positive' ? [[...METHODS.positive, 'frobenius-m1-early']] : (group ?? '').split('/').filter(Boolean);
    const own = columns.final.bits_per_byte.filter((_, run) =>
      wanted.every((labels, i) => [labels].flat().includes(labelOf(columns, axes[i], run))),
    );
    const below = own.filter((loss) => loss !== null && loss < references.bigram);
    return `${below.length} of ${own.length}`;
  },
  /** Rank correlation of a measure of untrained models with the final loss, over all or its mean at equal scale. */
  predicts: (norm, depth, measure) => shown(predictor(norm, depth, measure).rank_correlation, 2),
  'predicts-within': (norm, depth, measure) => shown(predictor(norm, depth, measure).within, 2),
  cells: () => String(analysed(results['trainability-map'], 'predictors')[0].cells),
  'variance-ratios': (alpha) => span(varianceRatios(alpha), 2),

  /** Rank correlation of the steps at the unigram level with a measure. */
  plateau: (experiment, driver, depth) => shown(plateau(experiment, driver, depth).rank_correlation, 2),
  /** The same beside the residual, over the runs that have it. */
  'plateau-rival': (driver) => {
    const { rows } = results['rank-escape'].analysis.findLast(({ kind }) => kind === 'plateau');
    return shown(rows.find((row) => row.driver === driver).rank_correlation, 2);
  },
  'plateau-runs': (depth) => String(plateau('rank-escape', 'sensitivity', depth).runs),
};
