import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { State } from '../state';

/** What the lab is asked about. */
export const AGENT_INPUTS = [
  'demonstrations',
  'distractor_scale',
  'sparsity',
  'feature_width',
  'trainings',
  'seed',
] as const;

export function agentInput(state: Readonly<State>): Input<'agent-attention'> {
  return inputOf('agent-attention', pick(state, AGENT_INPUTS));
}
