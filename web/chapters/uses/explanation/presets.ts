import type { Preset } from '../../shared/preset';
import type { State } from '../state';

/** Rank correlations with the change of the output, by `eigenscope attention-explanation`. */
interface Agreement {
  best: number;
  last_layer_norm: number;
  last_layer_bits: number;
  frequency: number;
}
/** Of each preset's state. */
export interface ExplanationMeasured {
  dropped: Agreement;
  masked: Agreement;
  agreement: number;
  /** Over token frequency, with dropped keys. */
  best_gain: number;
  best_gain_error: number;
  last_layer_norm_gain: number;
  last_layer_norm_gain_error: number;
  /** Heads above chance, of all. */
  above: number;
  all: number;
}

export const explanationPresets: readonly Preset<State, Record<string, ExplanationMeasured>>[] = [
  {
    id: 'heads',
    figure: 'attention-explanation',
    name: 'Heads against frequency',
    text:
      'Attention agrees with the loss of a token beyond chance in {heads.above} of {heads.all} heads, but the best ' +
      'head has {heads.dropped.best}, {heads.best_gain} more than token frequency (standard error ' +
      '{heads.best_gain_error}).',
    state: {},
    claim: ({ heads }) => heads.above > heads.all / 4 && Math.abs(heads.best_gain) < 2 * heads.best_gain_error,
  },
  {
    id: 'norm',
    figure: 'attention-explanation',
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
    figure: 'attention-explanation',
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
