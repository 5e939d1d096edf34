import { twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import type { Measured, RetrievalOutput } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
  {
    id: 'peaked',
    name: 'Peaked heads',
    text:
      'Heads in which more than 90% of the rows have a weight above 0.5 lose little: hard attention adds ' +
      '{peaked.peaked_share} times the loss that uniform weights add.',
    claim: ({ peaked }) => peaked.peaked_share < 0.1,
  },
  {
    id: 'diffuse',
    name: 'Other heads',
    text:
      '<b>The claim of Xu et al. fails.</b> In {diffuse.worse} of {diffuse.heads} heads of models trained with ' +
      'softmax, the key with the largest logit is a worse substitute than uniform weights.',
    source: 'fails',
    claim: ({ diffuse }) => diffuse.worse > diffuse.heads / 2,
  },
  {
    id: 'straight',
    name: 'Trained hard',
    text:
      'Training with hard attention lowers the cost: the loss is {straight.trained_hard} bits per byte above that ' +
      'of training with softmax, against {straight.read_hard} with hard attention at evaluation only.',
    claim: ({ straight }) => straight.trained_hard > 0.1 && straight.trained_hard < straight.read_hard / 1.5,
  },
  {
    id: 'division',
    name: 'Permuted costs',
    text:
      'With peaked rows above 0.7, localization has a rank correlation of {division.share} with the cost over that ' +
      'of uniform weights. <b>Most of it comes from the division</b>: with costs permuted over heads it is ' +
      '{division.null}.',
    state: { peak_weight: 0.7 },
    claim: ({ division }) => division.share < division.null_low && division.null < division.share / 2,
  },
];

/** What hard attention costs. */
export function claim(output: RetrievalOutput): string {
  const { heads, worse, trained_hard } = output;
  const single = `In ${worse} of ${heads.length} heads hard attention costs more than uniform weights. `;
  if (trained_hard === null) return single;
  return (
    `${single}In all heads at once it adds ${fieldWithError(output, 'read_hard')} bits per byte to models ` +
    `trained with softmax. Training with hard attention costs ${fieldWithError(output, 'trained_hard')}.`
  );
}

/** Whether localization explains the cost. */
export function correlations(output: RetrievalOutput): string {
  const parts = output.correlations.map(
    ({ localization, share, null: expected, null_low, null_high }) =>
      `${localization} ${twoDigits(share)} (costs permuted over heads ${twoDigits(expected)}, 95% of permutations ` +
      `${twoDigits(null_low)} to ${twoDigits(null_high)})`,
  );
  return (
    `Rank correlation over heads of P(max S > c) with the cost over that of uniform weights: ${parts.join('; ')}. ` +
    `The rank correlation of predicted with measured P(max S > c) is ${fieldWithError(output, 'agreement')}.`
  );
}
