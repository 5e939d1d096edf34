import type { Preset } from '../../shared/preset';
import type { State } from '../state';

type Accuracies = Record<'attention' | 'uniform' | 'sparse' | 'plain', number>;

/** Of each preset's state, by `eigenscope agent-attention`. */
export interface AgentMeasured {
  /** Accuracies with 32 distractors of the scale in training, and of three times this scale. */
  most: Accuracies;
  loud: Accuracies;
}

export const agentPresets: readonly Preset<State, Record<string, AgentMeasured>>[] = [
  {
    id: 'quiet',
    figure: 'agent-attention',
    name: 'Quiet distractors',
    text:
      'With 32 irrelevant features of half the scale of the relevant ones and tokens of width 32 the accuracy is ' +
      '{quiet.most.attention} with self-attention, {quiet.most.uniform} with uniform attention weights and ' +
      '{quiet.most.plain} with a perceptron of as many parameters.',
    state: { distractor_scale: 0.5, feature_width: 32 },
    claim: ({ quiet: { most } }) => most.attention > most.plain + 0.02 && most.attention > most.uniform + 0.005,
  },
  {
    id: 'penalty',
    figure: 'agent-attention',
    name: 'A penalty instead',
    text:
      '<b>Attention is not needed</b> to ignore 32 irrelevant features: the accuracy is {penalty.most.plain} with ' +
      'a perceptron, {penalty.most.attention} with self-attention, and {penalty.most.sparse} with an L1 penalty on ' +
      'the perceptron.',
    state: {},
    claim: ({ penalty: { most } }) => most.attention > most.plain && most.sparse > most.attention + 0.02,
  },
  {
    id: 'loud',
    figure: 'agent-attention',
    name: 'Louder distractors',
    text:
      '<b>The claim of Bramlage and Cortese fails.</b> At three times their scale in training, 32 distractors ' +
      'leave self-attention an accuracy of {loud.loud.attention}, the perceptron {loud.loud.plain}, and the ' +
      'perceptron with an L1 penalty {loud.loud.sparse}.',
    state: {},
    claim: ({ loud: { loud } }) => loud.attention < loud.plain - 0.05 && loud.sparse > loud.plain + 0.1,
  },
];
