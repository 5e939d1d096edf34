import { meanErrorOf, type Comparison, type MeanError, type PublishedResults } from './published-results';
import { regularizers } from './state';

const FROBENIUS = regularizers['locater-frobenius'];
const SQUARED = `${regularizers.locater}, tr(W²)`;
const EFFECTIVE = regularizers['locater-effective'];

/** What the page calls the methods of the grid files in docs/experiments. */
export const METHOD_NAMES: Readonly<Record<string, string>> = {
  none: regularizers.none,
  locater: SQUARED,
  'locater-frobenius': FROBENIUS,
  'sigma-reparam': regularizers['sigma-reparam'],
  'qk-decay': regularizers['qk-decay'],
  'qk-decay-1': `${regularizers['qk-decay']}, 1`,
  'qk-decay-4': `${regularizers['qk-decay']}, 4`,
  'warmup-clip': 'warm-up and clipping',
  'locater-m-1': `${SQUARED}, m* = −1`,
  'locater-m0': `${SQUARED}, m* = 0`,
  'locater-m0.5': `${SQUARED}, m* = 0.5`,
  'locater-m1': `${SQUARED}, m* = 1`,
  'frobenius-m-1': `${FROBENIUS}, m* = −1`,
  'frobenius-m0': `${FROBENIUS}, m* = 0`,
  'frobenius-m0.5': `${FROBENIUS}, m* = 0.5`,
  'frobenius-m1': `${FROBENIUS}, m* = 1`,
  'effective-m-1': `${EFFECTIVE}, m* = −1`,
  'effective-m0': `${EFFECTIVE}, m* = 0`,
  'effective-m0.5': `${EFFECTIVE}, m* = 0.5`,
  'effective-m1': `${EFFECTIVE}, m* = 1`,
  'random-m1': regularizers['locater-random'],
  'initial-m1': 'initial mean 1',
  'frobenius-m1-half': 'Frobenius, m* = 1, 2 of 4 heads',
  'frobenius-m1-early': 'Frobenius, m* = 1, steps 1–100',
  'initial-m1-half': 'initial mean 1, 2 of 4 heads',
  'warmup-clip-initial-m1-half': 'warm-up, clipping, initial mean 1, 2 of 4 heads',
  'initial-m1-one': 'initial mean 1, 1 of 4 heads',
  'qk-norm': 'QK-norm',
  'qk-clip': 'QK-Clip',
  'capped-growth': 'capped growth',
};

/** A mean over runs with its difference from the baseline, over the seeds that both have; NaN for none. */
export interface Tested extends MeanError {
  difference: number;
  /** The difference's 95% interval. */
  low: number;
  high: number;
  /** Of the test against the baseline, corrected by Holm's method; null where there is no test. */
  p: number | null;
}

/** A method of a published comparison. */
export interface MethodRow {
  method: string;
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

/** The methods of an experiment in the order of its file; where it has several learning rates, at one. */
export function methodsOf({ summary }: PublishedResults, rate?: string): MethodRow[] {
  return summary
    .filter(({ axes }) => axes.learning_rate === rate)
    .map((row) => ({
      method: METHOD_NAMES[row.axes.method!] ?? row.axes.method!,
      runs: row.runs,
      failures: row.failures,
      loss: testedOf(row.bits_per_byte),
      entropy: testedOf(row.entropy),
    }))
    .filter(({ loss }) => Number.isFinite(loss.mean));
}

/** A number of runs, in words. */
export function runsText(runs: number): string {
  return runs === 1 ? '1 run' : `${runs} runs`;
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
  const own = rows.find(({ method }) => method === claimed);
  if (!own) return '';
  return (
    `${claimed} against the baseline, ${runsText(own.runs)}: loss ${differenceText(own.loss)} bits per byte, ` +
    `attention entropy ${differenceText(own.entropy)}. The paper expects a lower loss and a higher entropy.`
  );
}
