import { BARS, estimate } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { choiceOf } from '../../../state/control';
import { labOf, rowWith } from '../lab';

export type EntryOutput = Output<'attention-entries'>;
type EntryRow = EntryOutput['rows'][number];

/** The build answers all states: the page has no models of this lab. */
const entries = labOf('attention-entries', ['objective', 'attention_skip'], {
  objective: choiceOf('attention-entries', 'objective', 'Objective', {
    help: 'Prediction of masked tokens with attention to all tokens, or of the next token with causal attention',
  }),
  attention_skip: choiceOf('attention-entries', 'attention_skip', 'Skip connection', {
    help: 'Whether the input of attention is added to its output',
  }),
});
export const lab = { ...entries, states: [{ attention_skip: 'without' }] };

export const rowAt = ({ rows }: EntryOutput, distance: number) => rowWith(rows, { distance });

/** Whether a distance costs less than the diagonal, by two standard errors of their difference. */
export const isCheaper = ({ over_diagonal, over_diagonal_error }: EntryRow) =>
  (over_diagonal ?? NaN) + BARS * (over_diagonal_error ?? NaN) < 0;

/** Penalties of the learned masks, in ascending order. */
export const penaltiesOf = ({ learned }: EntryOutput): number[] =>
  [...new Set(learned.map(({ penalty }) => penalty))].sort((a, b) => a - b);

/** Distances that sentences call far. */
const FAR = 4;

/** The numbers of the sentences: costs in bits per byte. */
export function measured(output: EntryOutput) {
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
export type Measured = ReturnType<typeof measured>;
