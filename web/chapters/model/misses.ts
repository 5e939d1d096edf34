import { short } from '../../charts/format';
import type { Predicted, PredictedMeasure } from '../../engine/protocol';
import { isNested, levelCalled, LEVELS } from './predictor-levels';

/** A head that a level predicts badly. */
export interface Miss {
  layer: number;
  head: number;
  predicted: number;
  measured: number;
  /** Which ingredient is missing, in a sentence; "_F" is a subscript. */
  reason: string;
}

const SEQUENCES = levelCalled('sequences');

/**
 * The `most` heads with the largest error of `level`, the largest first; none before a text is measured.
 * The reason is the first of these that halves the error: the source of the statistics is to blame when
 * the head itself, run on that source's sequences, is off by more than half as much; otherwise a nested
 * level of at most half the error; otherwise what no level knows, which tokens stand in one sequence.
 */
export function missesOf<M extends PredictedMeasure>(
  found: Pick<Predicted, 'layer' | 'head' | M | `measured_${M}`>,
  quantity: M,
  level: number,
  most: number,
): Miss[] {
  const predictions = found[quantity];
  const heads = Array.from(found.layer, (layer, i) => {
    const measured = found[`measured_${quantity}`][i];
    const own = predictions.subarray(LEVELS.length * i, LEVELS.length * (i + 1));
    const errors = Array.from(own, (value) => Math.abs(value - measured));
    return { layer, head: found.head[i], measured, predicted: own[level], errors };
  });
  return heads
    .filter(({ errors }) => !Number.isNaN(errors[level]))
    .sort((a, b) => b.errors[level] - a.errors[level])
    .slice(0, most)
    .map(({ errors, ...head }) => ({ ...head, reason: reasonOf(errors, level) }));
}

function reasonOf(errors: number[], level: number): string {
  const half = errors[level] / 2;
  const run = errors[SEQUENCES];
  if (level !== SEQUENCES && !(run > half)) {
    const nested = errors.map((error, i) => ({ error, i })).filter(({ i }) => isNested(i));
    const best = nested.find(({ error }) => error <= half);
    return best
      ? `Level ${best.i}, ${LEVELS[best.i].name}, has an error of ${short(best.error)}: it adds ${LEVELS[best.i].adds}.`
      : 'Run on the sequences that the statistics come from, the head has an error of only ' +
          `${short(run)}: it depends on which tokens share a sequence.`;
  }
  return (
    'Run on the sequences that the statistics come from, the head still has an error of ' +
    `${short(run)}: those sequences differ from the text.`
  );
}
