import type { Output } from '../../../engine/protocol';
import { choiceOf, integers, log, number } from '../../../state/control';
import { estimates, labOf, rowWith } from '../lab';

export type AgentOutput = Output<'agent-attention'>;
export type AgentRow = AgentOutput['rows'][number];
export type Policy = AgentRow['policy'];

export const lab = labOf(
  'agent-attention',
  ['demonstrations', 'distractor_scale', 'sparsity', 'feature_width', 'learning', 'slots', 'trainings', 'seed'],
  {
    learning: choiceOf('agent-attention', 'learning', 'Learning', {
      help: 'Imitation of the expert’s action, or policy gradient from the reward 1 for this action and 0 for others',
    }),
    slots: choiceOf('agent-attention', 'slots', 'Feature slots', {
      help: 'Whether features keep their places or are shuffled in each observation; only tokens carry their identity',
    }),
    demonstrations: number('demonstrations', 'Demonstrations', log(100, 4000, { integer: true }), {
      sign: '<i>n</i>',
      help: 'Number of observations with the expert’s action that a policy imitates',
    }),
    distractor_scale: number('distractor_scale', 'Distractor scale', log(0.1, 4), {
      sign: '<i>σ</i>',
      help: 'Standard deviation <i>σ</i> of the irrelevant features in training; relevant features have 1',
    }),
    sparsity: number('sparsity', 'L1 penalty', log(1e-4, 0.1), {
      sign: '<i>λ</i>',
      help: 'Weight <i>λ</i> of the sum of the hidden layer’s absolute weights in the training loss',
    }),
    feature_width: number('feature_width', 'Feature width', integers(2, 32), {
      sign: '<i>d</i>',
      help: 'Width <i>d</i> of the tokens of features, their queries, keys and values',
    }),
  },
);

/** The number of distractors that the sentences compare, and their scale where they are loud. */
export const MOST_DISTRACTORS = 32;
export const LOUD = 3;

/** The row of a policy with this many distractors at this multiple of their scale in training. */
export const agentRow = ({ rows }: AgentOutput, policy: Policy, distractors: number, scale = 1) =>
  rowWith(rows, { policy, distractors, scale });

/** The numbers of the sentences. */
export function measured(output: AgentOutput) {
  const of = <P extends Policy>(field: 'accuracy' | 'gain', scale: number, ...policies: P[]) =>
    estimates(policies, (policy) => agentRow(output, policy, MOST_DISTRACTORS, scale), field);
  return {
    // Accuracies with 32 distractors of the scale in training, and of three times this scale.
    most: of('accuracy', 1, 'attention', 'uniform', 'gate', 'sparse', 'plain'),
    loud: of('accuracy', LOUD, 'attention', 'sparse', 'plain'),
    // Accuracy added to the perceptron with 32 distractors.
    gain: of('gain', 1, 'attention', 'sparse'),
  };
}
export type Measured = ReturnType<typeof measured>;
