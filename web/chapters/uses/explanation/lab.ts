import { inputOf } from '../../../engine/operations';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { explanationRow, type ExplanationOutput } from './marks';
import { explanationPresets, type ExplanationMeasured } from './presets';

/** What the lab is asked about. */
export const EXPLANATION_INPUTS = ['passages', 'length', 'seed'] as const;

/** Without the checkpoint and the text. */
export const explanationInput = (state: Readonly<State>) =>
  inputOf('attention-explanation', pick(state, EXPLANATION_INPUTS));

/** The numbers of the sentences of `attention-explanation`. */
function explanationMeasured(output: ExplanationOutput): ExplanationMeasured {
  const { heads, nulls, agreement } = output;
  const best = explanationRow(output, 'best');
  const layer = explanationRow(output, 'last-layer-norm');
  const at = (removal: 'dropped' | 'masked') => ({
    best: best?.[removal] ?? NaN,
    last_layer_norm: layer?.[removal] ?? NaN,
    last_layer_bits: layer?.[`${removal}_bits`] ?? NaN,
    frequency: explanationRow(output, 'frequency')?.[removal] ?? NaN,
  });
  const own = nulls.find(({ removal, explained_by }) => removal === 'dropped' && explained_by === 'attention');
  return {
    dropped: at('dropped'),
    masked: at('masked'),
    agreement: agreement ?? NaN,
    best_gain: best?.dropped_gain ?? NaN,
    best_gain_error: best?.dropped_gain_error ?? NaN,
    last_layer_norm_gain: layer?.dropped_gain ?? NaN,
    last_layer_norm_gain_error: layer?.dropped_gain_error ?? NaN,
    above: own?.above ?? NaN,
    all: heads.length,
  };
}

export const explanationLab: Lab<ExplanationOutput, ExplanationMeasured> = {
  figure: 'attention-explanation',
  presets: explanationPresets,
  find: (state, ask) => ask('attention-explanation', explanationInput(state)),
  measured: explanationMeasured,
};
