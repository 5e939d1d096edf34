import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import type { RetrievalOutput } from './marks';

/** Share of peaked rows above which a head is peaked. */
const PEAKED = 0.9;

/** Of each preset's state, by `eigenscope hard-retrieval`. */
export function retrievalMeasured(output: RetrievalOutput) {
  const { heads, worse, correlations } = output;
  const peaked = heads.filter(({ measured }) => measured > PEAKED);
  const sum = (cost: 'hard' | 'uniform') => peaked.reduce((all, head) => all + (head[cost] ?? NaN), 0);
  const measured = correlations.find(({ localization }) => localization === 'measured');
  return {
    // Heads, and those in which hard attention costs more than uniform weights.
    heads: heads.length,
    worse,
    // Cost of hard attention over that of uniform weights in the heads with more than 90% peaked rows.
    peaked_share: sum('hard') / sum('uniform'),
    // Bits per byte, see the operation.
    ...estimate('read_hard', output, 'read_hard'),
    ...estimate('trained_hard', output, 'trained_hard'),
    // Rank correlation of measured localization with that share, and with permuted costs.
    ...estimate('share', measured, 'share'),
    null: measured?.null ?? NaN,
    null_low: measured?.null_low ?? NaN,
  };
}
export type RetrievalMeasured = ReturnType<typeof retrievalMeasured>;

export const retrievalPresets: readonly LabPreset<RetrievalMeasured>[] = [
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
