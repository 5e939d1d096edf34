// What becomes of the tokens of a stack.
import type { Fate } from '../../charts/palette';

/** What the fates of a stack are called. */
export const FATE_NAMES: Record<Fate, string> = {
  both: 'both collapses',
  rank: 'rank collapse',
  entropy: 'entropy collapse',
  alive: 'alive',
};

/** The fate of a stack with such a residual and entropy; `threshold` is what both must keep. */
export function fateOf(residual: number, entropy: number, threshold: number): Fate {
  if (residual >= threshold) return entropy >= threshold ? 'alive' : 'entropy';
  return entropy >= threshold ? 'rank' : 'both';
}
