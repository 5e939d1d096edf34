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
    // Over token frequency, with dropped keys and with the mask token.
    gain: {
      ...estimate('best', best, 'dropped_gain'),
      ...estimate('last_layer_norm', layer, 'dropped_gain'),
      ...estimate('best_masked', best, 'masked_gain'),
      ...estimate('all_masked', explanationRow(output, 'all'), 'masked_gain'),
      ...estimate('last_layer_norm_masked', layer, 'masked_gain'),
    },
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
      'head has {heads.dropped.best}, {heads.gain.best} more than token frequency.',
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
