import { short } from '../../../charts/format';
import { withError } from '../../../charts/with-error';
import type { RetrievalOutput } from './marks';

const digits = (value: number | null) => short(Number((value ?? NaN).toPrecision(2)));

/** What hard attention costs. */
export function claimText(output: RetrievalOutput): string {
  const { heads, worse, read_hard, read_hard_error, trained_hard, trained_hard_error } = output;
  const single = `In ${worse} of ${heads.length} heads hard attention costs more than uniform weights. `;
  if (trained_hard === null) return single;
  return (
    `${single}In all heads at once it adds ${withError(read_hard, read_hard_error)} bits per byte to models ` +
    `trained with softmax. Training with hard attention costs ${withError(trained_hard, trained_hard_error)}.`
  );
}

/** Whether localization explains the cost. */
export function localizationText({ correlations }: RetrievalOutput): string {
  const parts = correlations.map(
    ({ localization, share, null: expected, null_low, null_high }) =>
      `${localization} ${digits(share)} (costs permuted over heads ${digits(expected)}, 95% of permutations ` +
      `${digits(null_low)} to ${digits(null_high)})`,
  );
  return `Rank correlation over heads of P(max S > c) with the cost over that of uniform weights: ${parts.join('; ')}.`;
}
