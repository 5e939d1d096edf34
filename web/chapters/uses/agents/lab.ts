import { barred } from '../../../charts/with-error';
import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { agentRow, LOUD, MOST_DISTRACTORS } from './claim';
import type { AgentOutput } from './marks';
import { agentPresets, type AgentMeasured } from './presets';

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

/** The numbers of the sentences of `agent-attention`. */
function agentMeasured(output: AgentOutput): AgentMeasured {
  const at = (scale: number) => {
    const accuracy = (policy: AgentOutput['rows'][number]['policy']) =>
      agentRow(output, policy, MOST_DISTRACTORS, scale).accuracy ?? NaN;
    return {
      attention: accuracy('attention'),
      uniform: accuracy('uniform'),
      gate: accuracy('gate'),
      sparse: accuracy('sparse'),
      plain: accuracy('plain'),
    };
  };
  const gain = (policy: AgentOutput['rows'][number]['policy']) => {
    const { gain, gain_error } = agentRow(output, policy, MOST_DISTRACTORS);
    return barred(gain, gain_error);
  };
  return { most: at(1), loud: at(LOUD), gain: { attention: gain('attention'), sparse: gain('sparse') } };
}

export const agentLab: Lab<AgentOutput, AgentMeasured> = {
  figure: 'agent-attention',
  presets: agentPresets,
  find: (state, ask) => ask('agent-attention', agentInput(state)),
  measured: agentMeasured,
};
