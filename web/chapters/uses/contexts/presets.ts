import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { contextRow, type ContextOutput, type ContextRow } from './marks';

/** Of each preset's state, by `eigenscope parallel-contexts`: added loss (bits per byte) and entropy (nats). */
export function contextMeasured(output: ContextOutput) {
  const at = (reading: ContextRow['reading'], blocks?: number) => contextRow(output, reading, blocks);
  const added = <N extends string>(name: N, row?: ContextRow) => estimate(name, row, 'added');
  const entropy = <N extends string>(name: N, row?: ContextRow) => estimate(name, row, 'entropy_added');
  const [reset, none, kept, sharpened, mass] = [at('reset'), at('none', 0), at('kept'), at('sharpened'), at('mass')];
  return {
    // With eight blocks and reset positions.
    ...added('reset', reset),
    ...entropy('reset_entropy', reset),
    // The same with four blocks.
    ...added('reset_four', at('reset', 4)),
    ...added('none', none),
    ...added('kept', kept),
    ...added('sharpened', sharpened),
    ...entropy('sharpened_entropy', sharpened),
    // With the blocks that selection keeps.
    ...added('mass', mass),
    ...entropy('mass_entropy', mass),
    ...added('random', at('random')),
    ...added('last', at('last')),
  };
}
export type ContextMeasured = ReturnType<typeof contextMeasured>;

export const contextPresets: readonly LabPreset<ContextMeasured>[] = [
  {
    id: 'parallel',
    name: 'Positions reset',
    text:
      '<b>The claim of Zhang et al. holds with reset positions:</b> eight blocks add {parallel.reset_entropy} nats of entropy to the attention of ' +
      'the last block and {parallel.reset} bits per byte to its loss.',
    source: 'holds',
    claim: ({ parallel }) => parallel.reset_entropy > 0.2 && parallel.reset > 0.1,
  },
  {
    id: 'positions',
    name: 'Positions kept',
    text:
      '<b>The claim of Zhang et al. fails.</b> With the positions of the text the same eight blocks add ' +
      '{positions.kept} bits per byte.',
    source: 'fails',
    claim: ({ positions }) => Math.abs(positions.kept) < 2 * positions.kept_error && positions.kept < 0.01,
  },
  {
    id: 'sharpened',
    name: 'Entropy restored',
    text:
      '<b>Restoring the entropy does not restore the loss.</b> Sharpening lowers the added entropy from ' +
      '{sharpened.reset_entropy} to {sharpened.sharpened_entropy} nats; the added loss is {sharpened.sharpened} ' +
      'bits per byte, before {sharpened.reset}.',
    claim: ({ sharpened }) =>
      Math.abs(sharpened.sharpened_entropy) < 0.1 * sharpened.reset_entropy &&
      sharpened.sharpened > 0.9 * sharpened.reset,
  },
  {
    id: 'selection',
    name: 'One block kept',
    text:
      'The block with the most attention adds {selection.mass} bits, a random one {selection.random}, the last one ' +
      '{selection.last}; no context adds {selection.none}.',
    state: { kept_blocks: 1 },
    claim: ({ selection }) => selection.last < selection.mass - 0.05 && selection.mass > selection.none,
  },
];
