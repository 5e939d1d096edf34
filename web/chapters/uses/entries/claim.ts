import { short, twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import { isCheaper, penaltiesOf, rowAt, type EntryOutput } from './marks';

/** What the diagonal costs beside the adjacent keys, and how many distances cost less. */
export function claimText(output: EntryOutput): string {
  const [diagonal, neighbours] = [rowAt(output, 0), rowAt(output, 1)];
  if (diagonal.ablated === null) return 'Evaluating the models…';
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
export function maskText(output: EntryOutput): string {
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
export function diagonalText({ correlations }: EntryOutput): string {
  const predicted = correlations.find(({ property }) => property === 'predicted');
  if (!predicted || predicted.correlation === null) return '';
  return (
    `Rank correlation over heads of the predicted weight on the diagonal with the measured one: ` +
    `${twoDigits(predicted.correlation)} (95% of permutations ${twoDigits(predicted.null_low)} to ` +
    `${twoDigits(predicted.null_high)}).`
  );
}
