import { integers, log, number } from '../../state/control';

/** The controls of labs that run a checkpoint on passages of text. */
export const textControls = {
  passages: number('passages', 'Passages', log(2, 64, { integer: true }), {
    operation: 'attention-explanation',
    help: 'Number of passages that are measured',
  }),
  length: number('length', 'Passage length', integers(12, 64), {
    sign: '<i>T</i>',
    operation: 'attention-explanation',
    help: 'Number of tokens <i>T</i> of a passage, special tokens included',
  }),
};
