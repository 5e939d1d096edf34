import { inputOf } from '../../../engine/operations';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { ExplanationOutput } from './marks';
import { explanationPresets, type ExplanationMeasured, explanationMeasured } from './presets';

/** What the lab is asked about. */
export const EXPLANATION_INPUTS = ['passages', 'length', 'seed'] as const;

/** Without the checkpoint and the text. */
export const explanationInput = (state: Readonly<State>) =>
  inputOf('attention-explanation', pick(state, EXPLANATION_INPUTS));

export const explanationLab: Lab<ExplanationOutput, ExplanationMeasured> = {
  figure: 'attention-explanation',
  presets: explanationPresets,
  find: (state, ask) => ask('attention-explanation', explanationInput(state)),
  measured: explanationMeasured,
};
