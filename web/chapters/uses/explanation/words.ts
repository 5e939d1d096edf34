import { count, twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { explanationRow, type ExplanationOutput, type Measured, type Removal } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
  {
    id: 'heads',
    name: 'Heads against frequency',
    text:
      'Attention agrees with the loss of a token beyond chance in {heads.above} of {heads.all} heads, but the best ' +
      'head has {heads.dropped.best}, {heads.gain.best} more than token frequency.',
    source: 'open',
    claim: ({ heads }) => heads.above > heads.all / 4 && Math.abs(heads.gain.best) < 2 * heads.gain.best_error,
  },
  {
    id: 'norm',
    name: 'Times the norm',
    text:
      'For a dropped key attention of the last layer times the norm of the values has {norm.dropped.last_layer_norm} ' +
      '({norm.dropped.last_layer_bits} bits), {norm.gain.last_layer_norm} more than token frequency. To first order ' +
      'this is arithmetic: dropping a key takes its weight times its value from the output.',
    state: { agreement_scale: 'information' },
    claim: ({ norm }) => norm.gain.last_layer_norm > 3 * norm.gain.last_layer_norm_error,
  },
  {
    id: 'masked',
    name: 'Mask token',
    text:
      '<b>The claim of Wen et al. holds for a token replaced by [MASK]:</b> mean attention of all heads, without ' +
      'norms, has {masked.gain.all_masked} more than token frequency. Both removals agree at {masked.agreement} only.',
    state: { removal: 'masked' },
    source: 'holds',
    claim: ({ masked }) => masked.gain.all_masked > 2 * masked.gain.all_masked_error && masked.agreement < 0.8,
  },
];

/** What explains the worth of a token to the output. */
export function claim(output: ExplanationOutput, removal: Removal): string {
  const [best, layer, frequency] = (['best', 'last-layer-norm', 'frequency'] as const).map((name) =>
    explanationRow(output, name),
  );
  if (!best || !layer || !frequency) return '';
  const correlation = (row: typeof best) => fieldWithError(row, removal);
  return (
    `Attention of the best head has a rank correlation of ${correlation(best)} (${twoDigits(best[`${removal}_bits`])} bits) ` +
    `with the change of the output without a token, token frequency ${correlation(frequency)}, attention times norm of ` +
    `the whole last layer ${correlation(layer)} (${twoDigits(layer[`${removal}_bits`])} bits).`
  );
}

/** How many heads explain more than chance, which ones, and whether both removals agree. */
export function details(output: ExplanationOutput, removal: Removal): string {
  const { heads, nulls, traits, agreement } = output;
  const best = explanationRow(output, 'best');
  const chance = nulls.find((it) => it.removal === removal && it.explained_by === 'attention');
  if (!chance || !best) return '';
  const parts = traits.map((row) => `${row.trait} ${twoDigits(row.correlation)} (p = ${twoDigits(row.p_holm)})`);
  const agree =
    agreement === null
      ? ''
      : ` Both ways to remove a token agree with a rank correlation of ${fieldWithError(output, 'agreement')}.`;
  return (
    `${count(chance.above)} of ${count(heads.length)} heads are above the 95th percentile of the largest correlation by chance ` +
    `(${twoDigits(chance.limit)}), ${chance.below} below minus that. The best head has ` +
    `${fieldWithError(best, `${removal}_gain`)} more than token frequency, and at a fixed frequency ` +
    `${fieldWithError(best, `${removal}_partial`)}. Rank ` +
    `correlation over heads of the agreement with dropped keys with row properties: ${parts.join(', ')} (p by Holm’s ` +
    `method over ${parts.length}).${agree}`
  );
}
