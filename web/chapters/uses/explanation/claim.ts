import { twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import { explanationRow, type ExplanationOutput, type Removal } from './marks';

/** What explains the worth of a token to the output. */
export function claimText(output: ExplanationOutput, removal: Removal): string {
  const [best, layer, frequency] = (['best', 'last-layer-norm', 'frequency'] as const).map((name) =>
    explanationRow(output, name),
  );
  if (!best || !layer || !frequency) return 'Running the model…';
  const found = (row: typeof best) => fieldWithError(row, removal);
  return (
    `Attention of the best head has a rank correlation of ${found(best)} (${twoDigits(best[`${removal}_bits`])} bits) ` +
    `with the change of the output without a token, token frequency ${found(frequency)}, attention times norm of ` +
    `the whole last layer ${found(layer)} (${twoDigits(layer[`${removal}_bits`])} bits).`
  );
}

/** How many heads explain more than chance, which ones, and whether both removals agree. */
export function detailText(output: ExplanationOutput, removal: Removal): string {
  const { heads, nulls, traits, agreement } = output;
  const best = explanationRow(output, 'best');
  const own = nulls.find((it) => it.removal === removal && it.explained_by === 'attention');
  if (!own || !best) return '';
  const parts = traits.map(
    ({ trait, correlation, p_holm }) => `${trait} ${twoDigits(correlation)} (p = ${twoDigits(p_holm)})`,
  );
  const agree =
    agreement === null
      ? ''
      : ` Both ways to remove a token agree with a rank correlation of ${fieldWithError(output, 'agreement')}.`;
  return (
    `${own.above} of ${heads.length} heads are above the 95th percentile of the largest correlation by chance ` +
    `(${twoDigits(own.limit)}), ${own.below} below minus that. The best head has ` +
    `${fieldWithError(best, `${removal}_gain`)} more than token frequency, and at a fixed frequency ` +
    `${fieldWithError(best, `${removal}_partial`)}. Rank ` +
    `correlation over heads of the agreement with dropped keys with row properties: ${parts.join(', ')} (p by Holm’s ` +
    `method over ${parts.length}).${agree}`
  );
}
