// The tables of the page with the results of the experiments on causes, by the rules of their plan (README.md).
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { table } from '../../../web/results/tables.mjs';
import { analysed, runsOf, shown } from '../tables.mjs';

const file = fileURLToPath(new URL('equal-deviation.results.json', import.meta.url));
/** The results of the experiment at equal deviation; null while it has no run. */
const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;

/** Of the hypotheses by number, and what their intervals are of. */
const PREDICTIONS = [
  'bounded: change of the deviation over the baseline’s',
  'biases: share of the variance below 0.1',
  'cheaper: difference of the costs',
  'positive: cost below 0',
];

const code = (text) => `\`${text}\``;
const interval = ({ low, high }, digits = 3) =>
  (low ?? null) === null ? '' : `${shown(low, digits)} to ${shown(high, digits)}`;
const probability = (p) => ((p ?? null) !== null && p < 0.001 ? '< 0.001' : shown(p, 3));

const costs = () => analysed(results, 'equal_deviation').filter((row) => !('against' in row));
const tests = () => analysed(results, 'equal_deviation').filter((row) => 'against' in row);
const methods = () => analysed(results, 'bias_shares');
const verdicts = () => analysed(results, 'deviation_verdicts');
const measured = (method, measure) => results.summary.find(({ axes }) => axes.method === method)[measure].mean;

/** By the marker of their place in the page: tables in Markdown. */
export function tables() {
  if (!results) return {};
  const known = costs().filter(({ seeds }) => seeds > 0);
  return {
    'equal-deviation state': `${runsOf(results)} of ${runsOf(results) + results.missing.length} planned runs have a result; ${Object.keys(results.columns.failures).length} of them failed.`,
    'equal-deviation verdicts': table(
      ['hypothesis', 'verdict', 'what decides', 'seeds', 'mean', '95% interval'],
      verdicts().flatMap(({ hypothesis, verdict, checks }) =>
        checks.map((check, i) => [
          ...(i === 0 ? [`${hypothesis}. ${PREDICTIONS[hypothesis - 1]}`, verdict] : ['', '']),
          ...[check.what, check.runs, shown(check.value, 3), interval(check)],
        ]),
      ),
    ),
    'equal-deviation costs': table(
      ['path', 'share of the baseline’s deviation', 'seeds', 'reached', 'cost in nats per byte', '95% interval'],
      known.map((row) => [
        ...[code(row.path), row.share, row.seeds, row.reached],
        ...[shown(row.cost, 3), interval(row)],
      ]),
    ),
    'equal-deviation tests': table(
      ['comparison', 'share', 'pairs', 'difference in nats per byte', '95% interval', 'p', 'p (Holm)'],
      tests().map((row) => [
        ...[`${code(row.path)} − ${code(row.against)}`, row.share, row.pairs],
        ...[shown(row.difference, 3), interval(row), probability(row.p), probability(row.holm)],
      ]),
    ),
    'equal-deviation methods': table(
      [
        ...['method', 'runs', 'failed', 'cost in nats per byte', '95% interval', 'deviation over the baseline’s'],
        ...['biases’ share of the variance', 'largest share', 'entropy', 'excess logit on oneself'],
      ],
      methods().map((row) => [
        ...[code(row.method), row.runs, row.failures, shown(row.cost, 3), interval(row), shown(row.deviation, 2)],
        ...[shown(row.share, 3), shown(row.largest_share, 3)],
        ...['entropy', 'self_excess'].map((measure) => shown(measured(row.method, measure), 2)),
      ]),
    ),
  };
}

const methodOf = (method) => methods().find((row) => row.method === method);
const testOf = (path, against) => tests().find((row) => row.path === path && row.against === against);
const costOf = (path, share) => costs().find((row) => row.path === path && row.share === Number(share));

export const numbers = {
  /** Mean loss minus the baseline's of a method, and its interval. */
  'method-cost': (method, digits = 3) => shown(methodOf(method).cost, Number(digits)),
  'method-interval': (method, digits = 3) => interval(methodOf(method), Number(digits)),
  /** A number of a method: `deviation` over the baseline's, `share` or `largest_share` of the biases. */
  'method-number': (method, name, digits = 2) => shown(methodOf(method)[name], Number(digits)),
  /** Cost of a path at a share of the baseline's deviation. */
  'cost-at': (path, share, digits = 3) => shown(costOf(path, share).cost, Number(digits)),
  'cost-interval-at': (path, share, digits = 3) => interval(costOf(path, share), Number(digits)),
  /** Difference of the costs of two paths at the tested share, and its interval. */
  'cost-difference': (path, against, digits = 3) => shown(testOf(path, against).difference, Number(digits)),
  /** Of a hypothesis by its number: confirmed, refuted or open. */
  verdict: (number) => verdicts().find(({ hypothesis }) => hypothesis === Number(number)).verdict,
  'cost-difference-interval': (path, against, digits = 3) => interval(testOf(path, against), Number(digits)),
};
