// What the figure of the experiment at equal deviation says and draws.
import { analysed, type PublishedResults } from '../experiments/results';
import { regularizers } from '../methods';

/** What the figure calls the forms of the penalty. */
const FORMS: Readonly<Record<string, string>> = {
  metric: regularizers['locater-covariance'],
  frobenius: regularizers['locater-frobenius'],
  effective: regularizers['locater-effective'],
  plain: regularizers.locater,
  random: regularizers['locater-random'],
};

/** A method of the grid, over its runs with a result. */
export interface DeviationPoint {
  path: string;
  method: string;
  runs: number;
  failures: number;
  /** Of the logits over the baseline's. */
  deviation: number;
  /** Loss minus the baseline's in nats per byte, and its 95% interval; NaN for one run. */
  cost: number;
  low: number;
  high: number;
  /** Of the logits' variance, that of the biases. */
  share: number;
}

/** "LocAteR, Frobenius, target 0": a path without its strengths. */
export function pathName(path: string): string {
  const [form, target] = path.split('-k');
  if (target === undefined) return 'softmax temperature';
  return `${FORMS[form]}, ${target === '0' ? 'target 0' : `${target} times the threshold`}`;
}

/** The measured methods of each path, in the order of their strengths; a path begins with the baseline. */
export function deviationPaths(results: PublishedResults): Map<string, DeviationPoint[]> {
  const measured = analysed<Omit<DeviationPoint, 'path'>>(results, 'bias_shares');
  const { paths } = results.analysis.find(({ kind }) => kind === 'equal_deviation') as unknown as {
    paths: Record<string, string[]>;
  };
  const pointOf = (path: string, method: string) =>
    measured
      .filter((row) => row.method === method && row.runs > 0)
      .map((row) => ({ ...row, path, low: row.low ?? NaN, high: row.high ?? NaN }));
  const known = Object.entries(paths).map(([path, methods]) => {
    const points = methods.flatMap((method) => pointOf(path, method));
    return [path, points.length > 0 ? [...pointOf(path, 'none'), ...points] : []] as const;
  });
  return new Map(known.filter(([, points]) => points.length > 0));
}

/** The verdicts of the plan in a sentence. */
export function verdictsText(results: PublishedResults): string {
  const verdicts = analysed<{ hypothesis: number; verdict: string }>(results, 'deviation_verdicts');
  const names = ['bounded', 'biases below 10%', 'cheaper than the other forms', 'a loss below the baseline’s'];
  return `Hypotheses of the plan: ${verdicts.map(({ hypothesis, verdict }) => `${names[hypothesis - 1]}: ${verdict}`).join('; ')}.`;
}
