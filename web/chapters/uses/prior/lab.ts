import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { PriorOutput } from './marks';
import { priorPresets, type PriorMeasured, priorMeasured } from './presets';

/** What the lab is asked about. */
export const PRIOR_INPUTS = ['prior_weight', 'head_width', 'start_scale', 'trainings', 'seed'] as const;

export function priorInput(state: Readonly<State>): Input<'attention-prior'> {
  return inputOf('attention-prior', pick(state, PRIOR_INPUTS));
}

export const priorLab: Lab<PriorOutput, PriorMeasured> = {
  figure: 'attention-prior',
  presets: priorPresets,
  find: (state, ask) => ask('attention-prior', priorInput(state)),
  measured: priorMeasured,
};
