import { choiceOf } from '../../../state/control';

/** The controls of the lab `attention-entries`. */
export const entryControls = {
  objective: choiceOf('attention-entries', 'objective', 'Objective', {
    help: 'Prediction of masked tokens with attention to all tokens, or of the next token with causal attention',
  }),
  attention_skip: choiceOf('attention-entries', 'attention_skip', 'Skip connection', {
    help: 'Whether the input of attention is added to its output',
  }),
};
