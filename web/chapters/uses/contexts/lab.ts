import type { Output } from '../../../engine/protocol';
import { integers, number } from '../../../state/control';
import { estimates, labOf } from '../lab';

export type ContextOutput = Output<'parallel-contexts'>;
export type ContextRow = ContextOutput['rows'][number];
type Reading = ContextRow['reading'];

/** The number of sequences is a control of `hard-retrieval`. */
export const lab = labOf('parallel-contexts', ['sequences', 'kept_blocks', 'shared_prefix', 'seed'], {
  kept_blocks: number('kept_blocks', 'Blocks kept', integers(1, 7), {
    sign: '<i>K</i>',
    help: 'Number <i>K</i> of eight blocks that selection keeps',
  }),
  shared_prefix: number('shared_prefix', 'Prefix for all blocks', integers(1, 16), {
    help: 'Number of first bytes of the context that every block sees',
  }),
});

/** Blocks of the readings that keep some of them. */
export const MOST = 8;

/** The row of a reading; with the blocks that it reads in parallel. */
export const contextRow = ({ rows }: ContextOutput, reading: Reading, blocks = reading === 'none' ? 0 : MOST) =>
  rows.find((row) => row.reading === reading && row.blocks === blocks);

/** The numbers of the sentences with eight blocks: added loss in bits per byte, and entropy in nats. */
export function measured(output: ContextOutput) {
  const of = <R extends Reading>(field: 'added' | 'entropy_added', ...readings: R[]) =>
    estimates(readings, (reading) => contextRow(output, reading), field);
  const entropy = of('entropy_added', 'reset', 'sharpened');
  return {
    ...of('added', 'reset', 'none', 'kept', 'sharpened', 'mass', 'random', 'last'),
    reset_entropy: entropy.reset,
    reset_entropy_error: entropy.reset_error,
    sharpened_entropy: entropy.sharpened,
    sharpened_entropy_error: entropy.sharpened_error,
  };
}
export type Measured = ReturnType<typeof measured>;
