import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { AgentOutput } from './marks';
import { agentPresets, type AgentMeasured, agentMeasured } from './presets';

/** What the lab is asked about. */
export const AGENT_INPUTS = [
  'demonstrations',
  'distractor_scale',
  'sparsity',
  'feature_width',
  'learning',
  'slots',
  'trainings',
  'seed',
] as const;

export function agentInput(state: Readonly<State>): Input<'agent-attention'> {
  return inputOf('agent-attention', pick(state, AGENT_INPUTS));
}

export const agentLab: Lab<AgentOutput, AgentMeasured> = {
  figure: 'agent-attention',
  presets: agentPresets,
  find: (state, ask) => ask('agent-attention', agentInput(state)),
  measured: agentMeasured,
};
