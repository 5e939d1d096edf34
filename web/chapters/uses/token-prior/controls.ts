import { choiceOf, log, number } from '../../../state/control';

/** The controls of the lab `token-prior`, beside the weight of the prior and the number of training runs. */
export const tokenPriorControls = {
  positions: choiceOf('token-prior', 'positions', 'Position embedding', {
    help:
      'How the models know the positions of their tokens: as a bias of the logits by offset, by rotation, or as ' +
      'learned vectors',
  }),
  steps: number('steps', 'Training steps', log(20, 2000, { integer: true }), {
    operation: 'token-prior',
    help: 'Number of training steps of each model',
  }),
};
