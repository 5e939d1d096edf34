import { twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { RetrievalOutput } from './marks';

/** What hard attention costs. */
export function claimText(output: RetrievalOutput): string {
  const { heads, worse, trained_hard } = output;
  const single = `In ${worse} of ${heads.length} heads hard attention costs more than uniform weights. `;
  if (trained_hard === null) return single;
  return (
    `${single}In all heads at once it adds ${fieldWithError(output, 'read_hard')} bits per byte to models ` +
    `trained with softmax. Training with hard attention costs ${fieldWithError(output, 'trained_hard')}.`
  );
}

/** Whether localization explains the cost. */
export function localizationText(output: RetrievalOutput): string {
  const { correlations } = output;
  const parts = correlations.map(
    ({ localization, share, null: expected, null_low, null_high }) =>
      `${localization} ${twoDigits(share)} (costs permuted over heads ${twoDigits(expected)}, 95% of permutations ` +
      `${twoDigits(null_low)} to ${twoDigits(null_high)})`,
  );
  return (
    `Rank correlation over heads of P(max S > c) with the cost over that of uniform weights: ${parts.join('; ')}. ` +
    `The rank correlation of predicted with measured P(max S > c) is ${fieldWithError(output, 'agreement')}.`
  );
}
