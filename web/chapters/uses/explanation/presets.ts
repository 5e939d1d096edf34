import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { explanationRow, type ExplanationOutput } from './marks';

/** Of each preset's state, by `eigenscope attention-explanation`: rank correlations with the change of the output. */
export function explanationMeasured(output: ExplanationOutput) {
  const { heads, nulls } = output;
  const best = explanationRow(output, 'best');
  const layer = explanationRow(output, 'last-layer-norm');
  const at = (removal: 'dropped' | 'masked') => ({
    ...estimate('best', best, removal),
    ...estimate('last_layer_norm', layer, removal),
    last_layer_bits: layer?.[`${removal}_bits`] ?? NaN,
    ...estimate('frequency', explanationRow(output, 'frequency'), removal),
  });
  const own = nulls.find(({ removal, explained_by }) => removal === 'dropped' && explained_by === 'attention');
  return {
    dropped: at('dropped'),
    masked: at('masked'),
    ...estimate('agreement', output, 'agreement'),
    // Over token frequency, with dropped keys.
    ...estimate('best_gain', best, 'dropped_gain'),
    ...estimate('last_layer_norm_gain', layer, 'dropped_gain'),
    // Heads above chance, of all.
    above: own?.above ?? NaN,
    all: heads.length,
  };
}
export type ExplanationMeasured = ReturnType<typeof explanationMeasured>;

export const explanationPresets: readonly LabPreset<ExplanationMeasured>[] = [
  {
    id: 'heads',
    name: 'Heads against frequency',
    text:
      'Attention agrees with the loss of a token beyond chance in {heads.above} of {heads.all} heads, but the best ' +
      'head has {heads.dropped.best}, {heads.best_gain} more than token frequency.',
    claim: ({ heads }) => heads.above > heads.all / 4 && Math.abs(heads.best_gain) < 2 * heads.best_gain_error,
  },
  {
    id: 'norm',
    name: 'Times the norm',
    text:
      '<b>The claim of Wen et al. holds for the last layer:</b> its attention times the norm of the values has ' +
      '{norm.dropped.last_layer_norm} ({norm.dropped.last_layer_bits} bits), {norm.last_layer_norm_gain} more than ' +
      'token frequency.',
    state: { agreement_scale: 'information' },
    claim: ({ norm }) => norm.last_layer_norm_gain > 3 * norm.last_layer_norm_gain_error,
  },
  {
    id: 'masked',
    name: 'Mask token',
    text:
      '<b>The claim of Wen et al. fails:</b> for a token replaced by [MASK], attention times norm of the last layer ' +
      'has {masked.masked.last_layer_norm} instead of {masked.dropped.last_layer_norm}; both removals agree at ' +
      '{masked.agreement} only.',
    state: { removal: 'masked' },
    claim: ({ masked }) =>
      masked.masked.last_layer_norm < masked.dropped.last_layer_norm - 0.15 && masked.agreement < 0.8,
  },
];
