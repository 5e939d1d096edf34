import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { penaltiesOf, rowAt, type EntryOutput } from './marks';

/** Distances that sentences call far. */
const FAR = 4;

/** Of each preset's state, by `eigenscope attention-entries`: costs in bits per byte with standard errors. */
export function entryMeasured(output: EntryOutput) {
  const [diagonal, next] = [rowAt(output, 0), rowAt(output, 1)];
  const penalties = penaltiesOf(output);
  const [low = NaN, high = NaN] = [penalties[0], penalties.at(-1)];
  const kept = (penalty: number) => output.learned.find((row) => row.distance === 0 && row.penalty === penalty);
  const far = output.rows.filter(({ distance }) => distance >= FAR);
  return {
    // The diagonal, removed after training and in models trained without it.
    ...estimate('ablated', diagonal, 'ablated'),
    ...estimate('trained', diagonal, 'trained'),
    // The same of distance 1.
    ...estimate('next_ablated', next, 'ablated'),
    ...estimate('next_trained', next, 'trained'),
    // The largest cost at distances from 4 on, removed after training.
    most_beyond: Math.max(...far.map(({ ablated }) => ablated ?? NaN)),
    // The smallest and the largest penalty, and the probability that the mask learned with it keeps the diagonal.
    penalty_low: low,
    penalty_high: high,
    ...estimate('kept_low', kept(low), 'kept'),
    ...estimate('kept_high', kept(high), 'kept'),
  };
}
export type EntryMeasured = ReturnType<typeof entryMeasured>;

export const entryPresets: readonly LabPreset<EntryMeasured>[] = [
  {
    id: 'droppable',
    name: 'The diagonal',
    text:
      'Models of masked tokens lose {droppable.ablated} bits per byte without the diagonal and ' +
      '{droppable.next_ablated} without the two neighbours; trained without them {droppable.trained} and ' +
      '{droppable.next_trained}.',
    source: 'holds',
    claim: ({ droppable: it }) => it.ablated < 0.1 * it.next_ablated && it.trained < 0.1 * it.next_trained,
  },
  {
    id: 'least',
    name: 'Distances from 4 on',
    text:
      '<b>The claim of Shi et al. fails: the diagonal is not the least important.</b> Distances from 4 on cost at most {least.most_beyond} bits ' +
      'each, the diagonal {least.ablated}.',
    source: 'fails',
    claim: ({ least: it }) => it.most_beyond < it.ablated - 2 * it.ablated_error,
  },
  {
    id: 'learned',
    name: 'The learned mask',
    text:
      'The learned mask keeps the diagonal with probability {learned.kept_low} at a penalty of {learned.penalty_low} ' +
      'nats for each entry and {learned.kept_high} at {learned.penalty_high}.',
    claim: ({ learned }) => learned.kept_low > 0.5 && learned.kept_high < 0.5,
  },
  {
    id: 'causal',
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
    name: 'Next token, skip',
    text:
      'The skip connection replaces the diagonal: with it causal models that are trained without the diagonal lose ' +
      '{skipped.trained} bits, without it {causal.trained}.',
    state: { objective: 'next' },
    claim: ({ skipped, causal }) =>
      Math.abs(skipped.trained) < 2 * skipped.trained_error && causal.trained - 2 * causal.trained_error > 0.1,
  },
];
