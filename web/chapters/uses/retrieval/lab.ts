import { estimate } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { linear, log, number } from '../../../state/control';
import { labOf } from '../lab';

export type RetrievalOutput = Output<'hard-retrieval'>;

export const lab = labOf('hard-retrieval', ['sequences', 'peak_weight', 'seed'], {
  sequences: number('sequences', 'Sequences', log(16, 512, { integer: true }), {
    help: 'Number of validation sequences on which every model is evaluated',
  }),
  peak_weight: number('peak_weight', 'Peak weight', linear(0.3, 0.95), {
    sign: '<i>c</i>',
    help: 'Attention weight <i>c</i> above which a row counts as peaked',
  }),
});

/** Share of peaked rows above which a head is peaked. */
const PEAKED = 0.9;

/** The numbers of the sentences. */
export function measured(output: RetrievalOutput) {
  const { heads, worse, correlations } = output;
  const peaked = heads.filter((head) => head.measured > PEAKED);
  const sum = (cost: 'hard' | 'uniform') => peaked.reduce((all, head) => all + (head[cost] ?? NaN), 0);
  const localization = correlations.find((row) => row.localization === 'measured');
  return {
    // Heads, and those in which hard attention costs more than uniform weights.
    heads: heads.length,
    worse,
    // Cost of hard attention over that of uniform weights in the heads with more than 90% peaked rows.
    peaked_share: sum('hard') / sum('uniform'),
    // Bits per byte, see the operation.
    ...estimate('read_hard', output, 'read_hard'),
    ...estimate('trained_hard', output, 'trained_hard'),
    // Rank correlation of measured localization with that share, and with permuted costs.
    ...estimate('share', localization, 'share'),
    null: localization?.null ?? NaN,
    null_low: localization?.null_low ?? NaN,
  };
}
export type Measured = ReturnType<typeof measured>;
