// The tables and verdicts of the page with the results of the controls, by the rules of their plan (README.md).
import { code, intervalText, probability, shown, table } from '../tables.mjs';
import { analysisOf, byAxes, meanOver, meanText, resultsOf, rowWith, runsOf } from './tables.mjs';

const LEVEL = 0.05;

/** A family of comparisons; whether all planned runs of each row (`whole`) and of the family have a result. */
function family(results, at) {
  const { rows, ...of } = results.analysis.filter(({ kind }) => kind === 'contrasts')[at];
  const lacks = (labels) =>
    results.missing.some((id) =>
      Object.entries(labels).every(([axis, label]) => id.split(',').includes(`${axis}=${label}`)),
    );
  const whole = of.tests.map((test) => !test.some(([, labels]) => lacks(labels)));
  const familyWhole = whole.every(Boolean);
  return { ...of, rows: rows.map((row, i) => ({ ...row, whole: whole[i], familyWhole })) };
}
const known = (value) => value !== null && value !== undefined;

/**
 * Whether a test passes with the predicted sign after Holm's correction; null while that is open. A test that is not
 * run counts in the family as one with p = 1, so that further runs can only lower the corrected p values of others.
 */
function counts({ whole, familyWhole, holm, difference }, sign) {
  if (!whole) return null;
  if (Math.sign(difference) !== sign) return false;
  return holm < LEVEL || (familyWhole ? false : null);
}
const every = (found) => (found.includes(null) ? null : found.every(Boolean));
const some = (found) => (found.includes(true) ? true : found.includes(null) ? null : false);
const verdict = (found, yes = 'confirmed', no = 'not confirmed') =>
  found === null ? 'open: runs are missing' : found ? yes : no;

/** "`initial-m1` − `none`, learning rate 0.02, 1,600 steps"; a difference of two differences names both. */
function nameOf(test, axis, place) {
  const name = (label) => (axis === 'method' ? code(label) : `${axis} ${label}`);
  const places = [...new Set(test.map(([, labels]) => place(labels)))];
  const differences = places.map((at, i) => {
    const terms = test.filter(([, labels]) => place(labels) === at);
    // The second difference is subtracted: its terms have the opposite weights.
    const ordered = i === 0 ? terms : [...terms].reverse();
    return `${ordered.map(([, labels]) => name(labels[axis])).join(' − ')}${at && `, ${at}`}`;
  });
  return differences.join('; minus ');
}

/** One row for each comparison of a family, with its interval and p value. */
function comparisons({ tests, rows, margin }, unit, axis, place) {
  const titles = ['comparison', 'pairs', `difference in ${unit}`, '95% interval', 'p', 'p (Holm)'];
  return table(
    margin === undefined ? titles : [...titles.slice(0, 4), `within ±${margin}`],
    rows.map((row, i) => [
      nameOf(tests[i], axis, place),
      row.pairs,
      shown(row.difference, 3),
      intervalText(row),
      ...(margin === undefined ? [row.p, row.holm].map(probability) : [INSIDE[row.margin]]),
    ]),
  );
}
const INSIDE = { inside: 'yes', outside: 'no', open: 'open' };

const steps = (label) => `${Number(label).toLocaleString('en')} steps`;

/** How many of the planned runs the tables have, the reference losses, and the error of sampling the text. */
const progress = (results) => {
  const runs = runsOf(results);
  const failed = Object.keys(results.columns.failures).length;
  const { unigram, bigram, trigram } = results.references;
  const { loss, bits_per_byte_error: errors } = results.columns.final;
  const unit = loss ? 'nats' : 'bits';
  const perNat = loss ? Math.LN2 : 1;
  return [
    `${runs} of ${runs + results.missing.length} runs have a result; ${failed} of them failed.`,
    `Tables of unigrams, bigrams and trigrams cost ${shown(unigram, 3)}, ${shown(bigram, 3)} and ` +
      `${shown(trigram, 3)} ${unit} per byte on the same text.`,
    `The standard error of a loss over the text is at most ${shown(Math.max(...errors) * perNat, 4)} ${unit} per byte.`,
  ].join(' ');
};

const OUT_OF_THE_WAY = {
  state: progress,
  methods: ({ summary, references, columns }) =>
    table(
      'learning rate | steps | method | runs | failed | bits per byte | above the bigram table | entropy | ' +
        'self-mass | initial self-mass',
      [...summary]
        .sort((a, b) => byAxes('steps', 'learning_rate')(a, b) || a.bits_per_byte.mean - b.bits_per_byte.mean)
        .map(({ axes, runs, failures, bits_per_byte: loss, entropy, self_mass }) => [
          ...[axes.learning_rate, axes.steps, code(axes.method), runs, failures, meanText(loss, 3)],
          ...[loss.mean - references.bigram, entropy.mean, self_mass.mean].map((it) => shown(it, 3)),
          shown(meanOver(columns, 'initial', 'self_mass', axes), 3),
        ]),
    ),
  family: (results) => comparisons(family(results, 0), 'bits per byte', 'method', AT_RATE),
  equivalence: (results) => comparisons(family(results, 1), 'bits per byte', 'method', AT_RATE),
  verdicts: (results) => {
    const { rows: tests } = family(results, 0);
    const { rows: equal } = family(results, 1);
    const below = every(tests.slice(0, 3).map((row) => counts(row, -1)));
    const margins = equal.map(({ margin, whole }) => (whole ? margin : null));
    const equivalence = margins.includes('outside')
      ? 'refuted'
      : margins.includes(null)
        ? 'open: runs are missing'
        : margins.includes('open')
          ? 'open: an interval crosses the margin'
          : 'confirmed';
    const out =
      below === null || margins.includes(null) ? null : below && margins.every((margin) => margin === 'inside');
    const later = every([counts(tests[3], 1), counts(tests[5], 1)]);
    const falls = counts(tests[5], -1) ? 'not confirmed: the cost falls' : 'not confirmed';
    return verdicts([
      [
        'Prediction 1: `initial-m1`, `initial-m10` and `no-attention` end within 0.02 of each other at 0.02',
        equivalence,
      ],
      ['Prediction 2: all three tests at 0.02 count with a lower loss', verdict(below)],
      ['Out of the way (both)', verdict(out)],
      ['Paid for later: `initial-m1` costs at 0.003, and more after 6,400 steps', verdict(later, 'confirmed', falls)],
      ['`initial-m1-half` costs at 0.003', verdict(counts(tests[4], 1))],
    ]);
  },
};
const AT_RATE = (label) => `learning rate ${label.learning_rate}, ${steps(label.steps)}`;

const SIGN = {
  state: progress,
  shares: (results) =>
    table(
      'steps | alpha | runs | below 4.2 bits per byte | share | 95% interval | bits per byte | ' +
        'residual of the last layer',
      analysisOf(results, 'share')
        .rows.map((row) => ({ ...row, of: rowWith(results.summary, row.axes) }))
        .sort(byAxes('steps', 'alpha'))
        .map(({ axes, of, ...row }) => [
          ...[axes.steps, axes.alpha, row.runs, row.below, shown(row.share, 2), intervalText(row, 2)],
          ...[of.bits_per_byte, of.last_residual].map(({ mean }) => shown(mean, 3)),
        ]),
    ),
  family: (results) => exact(family(results, 0)),
  later: (results) => exact(family(results, 1)),
  bigram: (results) => exact(family(results, 2)),
  mediation: (results) =>
    table(
      'pairs | difference of the residual at step 50 | 95% interval | p | ' +
        'rank correlation of alpha with the loss | 95% interval | partial, given the residual | 95% interval',
      analysisOf(results, 'mediation').rows.map((row) => [
        ...[row.pairs, shown(row.difference, 4), intervalText(row, 4), probability(row.p)],
        ...[shown(row.total, 2), intervalText({ low: row.total_low, high: row.total_high }, 2)],
        ...[shown(row.partial, 2), intervalText({ low: row.partial_low, high: row.partial_high }, 2)],
      ]),
    ),
  verdicts: (results) => {
    const [row] = family(results, 0).rows;
    const more = row.whole ? row.mcnemar_holm < LEVEL && row.only_first > row.only_second : null;
    const [found] = analysisOf(results, 'mediation').rows;
    const without = (low, high) => low > 0 || high < 0;
    const mediated = row.whole
      ? found.p < LEVEL && without(found.total_low, found.total_high) && !without(found.partial_low, found.partial_high)
      : null;
    return verdicts([
      ['More runs with alpha 1 than with alpha -1 leave the unigram level', verdict(more)],
      ['The residual at step 50 mediates it', verdict(mediated)],
    ]);
  },
};

/** Exact tests of paired shares, and the difference of the losses. */
function exact({ tests, rows, below }) {
  const level = below === 'bigram' ? 'the bigram table' : below;
  return table(
    `comparison | pairs | below ${level} in the first only | in the second only | difference of shares | ` +
      '95% interval | p (McNemar) | p (Holm) | difference in bits per byte | 95% interval',
    rows.map((row, i) => [
      ...[nameOf(tests[i], 'alpha', () => ''), row.pairs, row.only_first ?? '', row.only_second ?? ''],
      ...[shown(row.share_difference, 2), intervalText({ low: row.share_low, high: row.share_high }, 2)],
      ...[probability(row.mcnemar), probability(row.mcnemar_holm), shown(row.difference, 3), intervalText(row)],
    ]),
  );
}

const withBiases = ({ query_key_bias }) => `${query_key_bias} biases`;
const PAPER = {
  state: progress,
  precondition: (results) => comparisons(family(results, 0), 'nats per byte', 'method', withBiases),
  methods: ({ summary, references }) =>
    table(
      'method | biases | runs | failed | nats per byte | above the bigram table | difference from `none` | ' +
        '95% interval | entropy | difference from `none` | p | mean eigenvalue',
      summary.map(({ axes, runs, failures, loss, entropy, mean }) => [
        ...[code(axes.method), axes.query_key_bias, runs, failures],
        ...[loss.mean, loss.mean - references.bigram, loss.difference].map((it) => shown(it, 3)),
        ...[intervalText(loss), shown(entropy.mean, 3), shown(entropy.difference, 3)],
        ...[probability(entropy.p), shown(mean.mean, 3)],
      ]),
    ),
  family: (results) => comparisons(family(results, 1), 'nats per byte', 'method', withBiases),
  verdicts: (results) => {
    const [worth] = family(results, 0).rows;
    const { tests, rows } = family(results, 1);
    const kept = rows
      .map((row, i) => ({ ...row, labels: tests[i][0][1] }))
      .filter(({ labels }) => !labels.method.includes('-m0-'));
    const raises = ({ labels }) => {
      const of = rowWith(results.summary, labels);
      return of !== undefined && of.entropy.p < LEVEL && of.entropy.difference > 0;
    };
    const helped = some(
      kept.map((row) => {
        const found = counts(row, -1);
        return found === null ? null : found && raises(row);
      }),
    );
    const refuted = every(kept.map(({ whole, low }) => (whole ? low > -0.01 : null)));
    return verdicts([
      [
        'Precondition: attention is worth at least 0.2 nats per byte',
        verdict(worth.whole ? worth.difference >= 0.2 : null, 'met', 'not met'),
      ],
      [
        'A method with m\\* of 0.5 or 1 ends below `none` with a higher attention entropy',
        helped ? 'confirmed' : verdict(refuted, 'refuted for this setting', 'not confirmed'),
      ],
    ]);
  },
};

const verdicts = (rows) => table(['hypothesis', 'verdict by the plan'], rows);

const EXPERIMENTS = { 'out-of-the-way': OUT_OF_THE_WAY, 'sign-post-norm': SIGN, 'paper-mean': PAPER };

/** By the names of their markers, such as `out-of-the-way verdicts`: the tables in Markdown. */
export const tables = () =>
  Object.fromEntries(
    Object.entries(EXPERIMENTS).flatMap(([name, parts]) => {
      const results = resultsOf(`controls/${name}`);
      return Object.entries(parts).map(([part, write]) => [`${name} ${part}`, write(results)]);
    }),
  );
