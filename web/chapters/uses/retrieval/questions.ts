import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { State } from '../state';

/** What the lab is asked about. */
export const RETRIEVAL_INPUTS = ['sequences', 'peak_weight', 'seed'] as const;

/** Without the models and their text. */
export function retrievalInput(state: Readonly<State>): Omit<Input<'hard-retrieval'>, 'runs' | 'text'> {
  return inputOf('hard-retrieval', pick(state, RETRIEVAL_INPUTS));
}
