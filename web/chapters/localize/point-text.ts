import { count, short } from '../../charts/format';
import { withError } from '../../charts/with-error';
import type { Simulated, Theory } from '../../engine/protocol';
import { meanEntropy, type Point } from './point';

/** Above this ratio of moments the logits are visibly far from normal. */
const NORMAL_BELOW = 0.1;

/** Whether the logits are close to normal, in a sentence. */
function normality({ moments }: Theory): string {
  const ratio = moments.fourth_moment_frobenius;
  if (ratio === null) return 'Every eigenvalue is 0, and so is every logit.';
  const verdict =
    ratio > NORMAL_BELOW
      ? 'too large for the normal approximation: expect the points to leave the line'
      : 'small enough for the normal approximation';
  return `Fourth-moment ratio ${short(ratio)}: ${verdict}.`;
}

/** What theory, simulation and the drawn matrix say of a point, in sentences. */
export function pointText({ theory, attention }: Point, keys: Simulated | null, wanted: number): string {
  const { length, entropy, weights } = attention;
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  const sentences = [
    `Regime: ${theory.regime}, L = ${short(theory.localization)} in theory.`,
    keys && simulated(keys, wanted),
    normality(theory),
    entropy.length > 1 &&
      `Matrix: ${length} by ${length} weights, mean attention entropy ` +
        `${short(meanEntropy(attention))}, largest weight ${short(largest)}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

function simulated(keys: Simulated, wanted: number): string {
  const { localization, localization_error: error, regime } = keys;
  const found =
    localization === null ? 'no token propagates' : `L = ${withError(localization, error)}, regime ${regime}`;
  return `Simulation, ${count(keys.samples)} of ${count(wanted)} sequences: ${found}.`;
}

/** The present point in numbers: the index of the theory, and the rest. */
export function readingOf({ mean, variance, theory, attention }: Point): { index: string; rest: string } {
  const entropy = short(meanEntropy(attention));
  return {
    index: `L = ${short(theory.localization)}`,
    rest: `m = ${short(mean)}, v = ${short(variance)}, attention entropy ${entropy}`,
  };
}
