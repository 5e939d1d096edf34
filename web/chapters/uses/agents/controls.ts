import { choiceOf, integers, log, number } from '../../../state/control';

/** The controls of the lab `agent-attention`. */
export const agentControls = {
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
};
