import type { Preset } from '../../shared/preset';
import type { State } from '../state';

/** Of each preset's state, by `eigenscope attention-entries`: costs in bits per byte with standard errors. */
export interface EntryMeasured {
  /** The diagonal, removed after training and in models trained without it. */
  ablated: number;
  ablated_error: number;
  trained: number;
  trained_error: number;
  /** The same of distance 1. */
  next_ablated: number;
  next_trained: number;
  /** The largest cost at distances from 4 on, removed after training. */
  most_beyond: number;
  /** The smallest and the largest penalty, and the probability that the mask learned with it keeps the diagonal. */
  penalty_low: number;
  penalty_high: number;
  kept_low: number;
  kept_high: number;
}

export const entryPresets: readonly Preset<State, Record<string, EntryMeasured>>[] = [
  {
    id: 'droppable',
    figure: 'attention-entries',
    name: 'The diagonal',
    text:
      'Models of masked tokens lose {droppable.ablated} bits per byte without the diagonal and ' +
      '{droppable.next_ablated} without the two neighbours; trained without them {droppable.trained} and ' +
      '{droppable.next_trained}.',
    state: {},
    claim: ({ droppable: it }) => it.ablated < 0.1 * it.next_ablated && it.trained < 0.1 * it.next_trained,
  },
  {
    id: 'least',
    figure: 'attention-entries',
    name: 'Distances from 4 on',
    text:
      '<b>The diagonal is not the least important.</b> Distances from 4 on cost at most {least.most_beyond} bits ' +
      'each, the diagonal {least.ablated} (standard error {least.ablated_error}).',
    state: {},
    claim: ({ least: it }) => it.most_beyond < it.ablated - 2 * it.ablated_error,
  },
  {
    id: 'learned',
    figure: 'attention-entries',
    name: 'The learned mask',
    text:
      'The learned mask keeps the diagonal with probability {learned.kept_low} at a penalty of {learned.penalty_low} ' +
      'nats for each entry and {learned.kept_high} at {learned.penalty_high}.',
    state: {},
    claim: ({ learned }) => learned.kept_low > 0.5 && learned.kept_high < 0.5,
  },
  {
    id: 'causal',
    figure: 'attention-entries',
    name: 'Next token, no skip',
    text:
      '<b>The claim of Shi et al. fails.</b> Without skip connections a causal model loses {causal.ablated} bits ' +
      'without the diagonal, and {causal.trained} when trained without it; the neighbour costs {causal.next_ablated} ' +
      'and {causal.next_trained}.',
    state: { objective: 'next', attention_skip: 'without' },
    claim: ({ causal: it }) => it.ablated > it.next_ablated && it.trained > it.next_trained,
  },
  {
    id: 'skipped',
    figure: 'attention-entries',
    name: 'Next token, skip',
    text:
      'The skip connection replaces the diagonal: with it causal models that are trained without the diagonal lose ' +
      '{skipped.trained} bits (standard error {skipped.trained_error}), without it {causal.trained}.',
    state: { objective: 'next' },
    claim: ({ skipped, causal }) =>
      Math.abs(skipped.trained) < 2 * skipped.trained_error && causal.trained - 2 * causal.trained_error > 0.1,
  },
];
