import { integers, number } from '../../../state/control';

/** The controls of the lab `parallel-contexts`. */
export const contextControls = {
  kept_blocks: number('kept_blocks', 'Blocks kept', integers(1, 7), {
    sign: '<i>K</i>',
    help: 'Number <i>K</i> of eight blocks that selection keeps',
  }),
  shared_prefix: number('shared_prefix', 'Prefix for all blocks', integers(1, 16), {
    help: 'Number of first bytes of the context that every block sees',
  }),
};
