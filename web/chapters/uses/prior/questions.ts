import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { State } from '../state';

/** What the lab is asked about. */
export const PRIOR_INPUTS = ['prior_weight', 'head_width', 'start_scale', 'trainings', 'seed'] as const;

export function priorInput(state: Readonly<State>): Input<'attention-prior'> {
  return inputOf('attention-prior', pick(state, PRIOR_INPUTS));
}
