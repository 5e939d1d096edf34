import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { State } from '../state';

/** What the lab is asked about. */
export const POSITION_INPUTS = ['teacher_position', 'token_std', 'token_width', 'datasets', 'seed'] as const;

export function positionInput(state: Readonly<State>): Input<'position-meaning'> {
  return inputOf('position-meaning', pick(state, POSITION_INPUTS));
}
