import { short, twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { isCheaper, penaltiesOf, rowAt, type EntryOutput, type Measured } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
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
    source: 'fails',
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

/** What the diagonal costs beside the adjacent keys, and how many distances cost less. */
export function claim(output: EntryOutput): string {
  const [diagonal, neighbours] = [rowAt(output, 0), rowAt(output, 1)];
  const cost = (row: typeof diagonal, name: 'ablated' | 'trained') => fieldWithError(row, name);
  const others = output.rows.length - 1;
  const ablated =
    `Without the diagonal trained models lose ${cost(diagonal, 'ablated')} bits per byte, without the adjacent ` +
    `keys ${cost(neighbours, 'ablated')}; ${output.rows.filter(isCheaper).length} of ${others} other distances ` +
    'cost less than the diagonal.';
  if (diagonal.trained === null) return ablated;
  const next = neighbours.trained === null ? '' : `, without the adjacent keys ${cost(neighbours, 'trained')}`;
  return `${ablated} Trained without the diagonal they lose ${cost(diagonal, 'trained')}${next}.`;
}

/** What trained models lose under the learned mask of the smallest penalty, and its controls. */
export function masks(output: EntryOutput): string {
  const [penalty] = penaltiesOf(output);
  const of = (kept: EntryOutput['masks'][number]['kept']) =>
    output.masks.find((row) => row.penalty === penalty && row.kept === kept);
  const learned = of('learned');
  if (!learned || learned.added === null) return '';
  const added = (row = learned) => fieldWithError(row, 'added');
  return (
    `The mask of penalty ${short(penalty)} keeps ${twoDigits(learned.entries)} entries of a row: trained models lose ` +
    `${added()} bits, ${added(of('nearest'))} with the nearest keys, ${added(of('random'))} with random distances.`
  );
}

/** How far position bias and trace explain the weight on the diagonal. */
export function diagonalWeight({ correlations }: EntryOutput): string {
  const predicted = correlations.find(({ property }) => property === 'predicted');
  if (!predicted || predicted.correlation === null) return '';
  return (
    `Rank correlation over heads of the predicted weight on the diagonal with the measured one: ` +
    `${twoDigits(predicted.correlation)} (95% of permutations ${twoDigits(predicted.null_low)} to ` +
    `${twoDigits(predicted.null_high)}).`
  );
}
