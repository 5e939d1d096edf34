import type { Preset } from '../../shared/preset';
import type { State } from '../state';

/** Of each preset's state, by `eigenscope hard-retrieval`. */
export interface RetrievalMeasured {
  /** Heads, and those in which hard attention costs more than uniform weights. */
  heads: number;
  worse: number;
  /** Cost of hard attention over that of uniform weights in the heads with more than 90% peaked rows. */
  peaked_share: number;
  /** Bits per byte, see the operation. */
  read_hard: number;
  trained_hard: number;
  /** Rank correlation of measured localization with that share, and with permuted costs. */
  share: number;
  null: number;
  null_low: number;
}

export const retrievalPresets: readonly Preset<State, Record<string, RetrievalMeasured>>[] = [
  {
    id: 'peaked',
    figure: 'hard-retrieval',
    name: 'Peaked heads',
    text:
      'Heads in which more than 90% of the rows have a weight above 0.5 lose little: hard attention adds ' +
      '{peaked.peaked_share} times the loss that uniform weights add.',
    state: {},
    claim: ({ peaked }) => peaked.peaked_share < 0.1,
  },
  {
    id: 'diffuse',
    figure: 'hard-retrieval',
    name: 'Other heads',
    text:
      '<b>The claim of Xu et al. fails.</b> In {diffuse.worse} of {diffuse.heads} heads of models trained with ' +
      'softmax, the key with the largest logit is a worse substitute than uniform weights.',
    state: {},
    claim: ({ diffuse }) => diffuse.worse > diffuse.heads / 2,
  },
  {
    id: 'straight',
    figure: 'hard-retrieval',
    name: 'Trained hard',
    text:
      'Training with hard attention lowers the cost: the loss is {straight.trained_hard} bits per byte above that ' +
      'of training with softmax, against {straight.read_hard} with hard attention at evaluation only.',
    state: {},
    claim: ({ straight }) => straight.trained_hard > 0.1 && straight.trained_hard < straight.read_hard / 1.5,
  },
  {
    id: 'division',
    figure: 'hard-retrieval',
    name: 'Permuted costs',
    text:
      'With peaked rows above 0.7, localization has a rank correlation of {division.share} with the cost over that ' +
      'of uniform weights. <b>Most of it comes from the division</b>: with costs permuted over heads it is ' +
      '{division.null}.',
    state: { peak_weight: 0.7 },
    claim: ({ division }) => division.share < division.null_low && division.null < division.share / 2,
  },
];
