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
  'initial-m1-one': 'initial mean 1, 1 of 4 heads',
  'qk-norm': 'QK-norm',
  'qk-clip': 'QK-Clip',
  'capped-growth': 'capped growth',
};

/** A measure of a method, with the paired t test. */
export interface MethodMeasure extends MeanError {
  /** From the baseline, over the seeds that both have; NaN for none. */
  difference: number;
  /** p value against the baseline: "0.03", "< 0.001"; '' for none. */
  p: string;
}

/** A method of a published comparison. */
export interface MethodRow {
  method: string;
  runs: number;
  failures: number;
  /** Final loss on validation text in bits per byte. */
  loss: MethodMeasure;
  entropy: MethodMeasure;
}

/** A p value as the page writes it. */
export function pText(p: number | null | undefined): string {
  if (p === null || p === undefined) return '';
  return p < 0.001 ? '< 0.001' : p.toFixed(p < 0.1 ? 3 : 2);
}

/** The same in a sentence: "p = 0.03"; of '' why there is none. */
export function testText(p: string): string {
  if (p === '') return 'too few runs for a test';
  return `p ${p.startsWith('<') ? p : `= ${p}`}`;
}

function measureOf(comparison: Comparison): MethodMeasure {
  const { difference, p } = comparison;
  return { ...meanErrorOf(comparison), difference: difference ?? NaN, p: pText(p) };
}

/** The methods of an experiment in the order of its file; where it has several learning rates, at one. */
export function methodsOf({ summary }: PublishedResults, rate?: string): MethodRow[] {
  return summary
    .filter(({ axes }) => axes.learning_rate === rate)
    .map((row) => ({
      method: METHOD_NAMES[row.axes.method!] ?? row.axes.method!,
      runs: row.runs,
      failures: row.failures,
      loss: measureOf(row.bits_per_byte),
      entropy: measureOf(row.entropy),
    }))
    .filter(({ loss }) => Number.isFinite(loss.mean));
}

/** The same, the lowest loss first. */
export function byLoss(rows: readonly MethodRow[]): MethodRow[] {
  return [...rows].sort((a, b) => a.loss.mean - b.loss.mean);
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

/**
 * What a comparison says of the paper's two claims, what was not seen first. Seen is a difference on the
 * claimed side with p below 0.05.
 */
export function claimText(rows: readonly MethodRow[], claimed: string): string {
  const own = rows.find(({ method }) => method === claimed);
  if (!own) return '';
  const claim = (name: 'loss' | 'entropy', words: string, unit: string, sign: number) => {
    const { difference, p } = own[name];
    const right = Math.sign(difference) === sign;
    const seen = right && p !== '' && Number(p.replace('<', '')) < 0.05;
    const verdict = seen ? 'is seen' : p === '' ? 'is not tested' : right ? 'is not significant' : 'is not seen';
    return { seen, text: `${words} ${verdict} (${signed(difference)}${unit}, ${testText(p)})` };
  };
  const claims = [
    claim('loss', 'a lower loss', ' bits per byte', -1),
    claim('entropy', 'a higher attention entropy', '', 1),
  ].sort((a, b) => Number(a.seen) - Number(b.seen));
  return `${claimed}, ${runsText(own.runs)}: ${claims.map(({ text }) => text).join('; ')}.`;
}
