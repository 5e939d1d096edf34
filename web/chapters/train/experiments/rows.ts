import { count } from '../../../charts/format';
import { methodName } from '../method-lines';
import { meanErrorOf, type Comparison, type MeanError, type PublishedResults } from './results';

/** A mean over runs with its difference from the baseline, over the seeds that both have; NaN for none. */
export interface Tested extends MeanError {
  difference: number;
  /** The difference's 95% interval. */
  low: number;
  high: number;
  /** Of the test against the baseline, corrected by Holm's method; null where there is no test. */
  p: number | null;
}

/** The runs of a method of a published comparison, at one learning rate where it has several. */
export interface MethodRow {
  /** As the grid file has it. */
  method: string;
  /** What the page calls it. */
  name: string;
  /** NaN where the learning rate is not an axis. */
  rate: number;
  runs: number;
  failures: number;
  /** Final loss on validation text in bits per byte. */
  loss: Tested;
  entropy: Tested;
}

/** The outcome of a test in a sentence: "Holm's p = 0.03". */
export function testText(p: number | null): string {
  if (p === null) return 'not tested';
  return `Holm’s p ${p < 0.001 ? '< 0.001' : `= ${p.toFixed(p < 0.1 ? 3 : 2)}`}`;
}

/** Whether a test found no difference from the baseline; such means are drawn hollow. */
export const isInsignificant = ({ p }: Pick<Tested, 'p'>) => p !== null && !(p < 0.05);

export function testedOf(comparison: Comparison): Tested {
  const { difference, low, high, holm } = comparison;
  return {
    ...meanErrorOf(comparison),
    difference: difference ?? NaN,
    low: low ?? NaN,
    high: high ?? NaN,
    p: holm ?? null,
  };
}

/** The methods of an experiment with a run that did not fail, in the order of its file; all, or those at one learning rate. */
export function methodsOf({ summary }: PublishedResults, rate?: string): MethodRow[] {
  return summary
    .filter(({ axes }) => rate === undefined || axes.learning_rate === rate)
    .map(({ axes, runs, failures, bits_per_byte, entropy }) => ({
      method: axes.method,
      name: methodName(axes.method),
      rate: Number(axes.learning_rate),
      runs,
      failures,
      loss: testedOf(bits_per_byte),
      entropy: testedOf(entropy),
    }))
    .filter(({ loss }) => Number.isFinite(loss.mean));
}

/** A number of runs, in words. */
export function runsText(runs: number): string {
  return runs === 1 ? '1 run' : `${count(runs)} runs`;
}

/** Of how many runs the points of a figure are means; those that failed are in none. */
export function meansText(points: readonly { runs: number; failures: number }[]): string {
  const counts = points.map(({ runs, failures }) => runs - failures);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `Each point is a mean of ${least === most ? '' : `${least} to `}${runsText(most)}.`;
}

/** A difference as the page writes it: "−0.123". */
export const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;

/** A difference with its interval and test: "−0.123 (95% interval −0.2 to −0.05, Holm's p < 0.001)". */
export function differenceText({ difference, low, high, p }: Tested): string {
  const interval = Number.isFinite(low) ? `95% interval ${signed(low)} to ${signed(high)}, ` : '';
  return `${signed(difference)} (${interval}${testText(p)})`;
}

/** How a method differs from the baseline in the two measures of which the paper has expectations. */
export function claimText(rows: readonly MethodRow[], claimed: string): string {
  const row = rows.find(({ method }) => method === claimed);
  if (!row) return '';
  return (
    `${row.name} against the baseline, ${runsText(row.runs)}: loss ${differenceText(row.loss)} bits per byte, ` +
    `attention entropy ${differenceText(row.entropy)}. The paper expects a lower loss and a higher entropy.`
  );
}
