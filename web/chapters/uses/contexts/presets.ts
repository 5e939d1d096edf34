import type { Preset } from '../../shared/preset';
import type { State } from '../state';

/** Of each preset's state, by `eigenscope parallel-contexts`: added loss (bits per byte) and entropy (nats). */
export interface ContextMeasured {
  /** With eight blocks and reset positions. */
  reset: number;
  reset_entropy: number;
  /** The same with four blocks. */
  reset_four: number;
  none: number;
  none_error: number;
  kept: number;
  kept_error: number;
  sharpened: number;
  sharpened_entropy: number;
  /** With the blocks that selection keeps. */
  mass: number;
  mass_entropy: number;
  random: number;
  last: number;
}

export const contextPresets: readonly Preset<State, Record<string, ContextMeasured>>[] = [
  {
    id: 'parallel',
    figure: 'parallel-contexts',
    name: 'Positions reset',
    text:
      'Eight blocks whose positions begin at 0 add {parallel.reset_entropy} nats of entropy to the attention of ' +
      'the last block and {parallel.reset} bits per byte to its loss.',
    state: {},
    claim: ({ parallel }) => parallel.reset_entropy > 0.2 && parallel.reset > 0.1,
  },
  {
    id: 'positions',
    figure: 'parallel-contexts',
    name: 'Positions kept',
    text:
      '<b>The claim of Zhang et al. fails.</b> With the positions of the text the same eight blocks add ' +
      '{positions.kept} bits per byte, less than two standard errors.',
    state: {},
    claim: ({ positions }) => Math.abs(positions.kept) < 2 * positions.kept_error && positions.kept < 0.01,
  },
  {
    id: 'sharpened',
    figure: 'parallel-contexts',
    name: 'Entropy restored',
    text:
      '<b>Restoring the entropy does not restore the loss.</b> Sharpening lowers the added entropy from ' +
      '{sharpened.reset_entropy} to {sharpened.sharpened_entropy} nats; the added loss is {sharpened.sharpened} ' +
      'bits per byte, before {sharpened.reset}.',
    state: {},
    claim: ({ sharpened }) =>
      Math.abs(sharpened.sharpened_entropy) < 0.1 * sharpened.reset_entropy &&
      sharpened.sharpened > 0.9 * sharpened.reset,
  },
  {
    id: 'selection',
    figure: 'parallel-contexts',
    name: 'One block kept',
    text:
      'The block with the most attention adds {selection.mass} bits, a random one {selection.random}, the last one ' +
      '{selection.last}; no context adds {selection.none}.',
    state: { kept_blocks: 1 },
    claim: ({ selection }) => selection.last < selection.mass - 0.05 && selection.mass > selection.none,
  },
];
