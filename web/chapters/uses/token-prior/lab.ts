import { estimate } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { choiceOf, log, number } from '../../../state/control';
import { labOf, rowWith } from '../lab';

export type TokenPriorOutput = Output<'token-prior'>;
export type Prior = TokenPriorOutput['rows'][number]['prior'];

/** The weight of the prior and the number of training runs are controls of `attention-prior`. */
export const lab = labOf('token-prior', ['positions', 'steps', 'prior_weight', 'trainings', 'seed'], {
  positions: choiceOf('token-prior', 'positions', 'Position embedding', {
    help:
      'How the models know the positions of their tokens: as a bias of the logits by offset, by rotation, or as ' +
      'learned vectors',
  }),
  steps: number('steps', 'Training steps', log(20, 2000, { integer: true }), {
    operation: 'token-prior',
    help: 'Number of training steps of each model',
  }),
});

export const rowOf = ({ rows }: TokenPriorOutput, prior: Prior, bytes: number) => rowWith(rows, { prior, bytes });

/** Numbers of training bytes, in ascending order. */
export const bytesOf = ({ rows }: TokenPriorOutput): number[] =>
  [...new Set(rows.map(({ bytes }) => bytes))].sort((a, b) => a - b);

/** The smallest and the largest number of training bytes. */
export const endsOf = (output: TokenPriorOutput) => [bytesOf(output)[0], bytesOf(output).at(-1)!] as const;

/** The numbers of the sentences: bits per byte that a prior adds to the loss, and weights. */
export function measured(output: TokenPriorOutput) {
  const [few, many] = endsOf(output);
  const last = rowOf(output, 'previous', many);
  return {
    // The prior on the previous token, with the fewest and the most training bytes.
    ...estimate('few', rowOf(output, 'previous', few), 'added'),
    ...estimate('many', last, 'added'),
    // The prior on the token 16 before, with the most.
    ...estimate('far', rowOf(output, 'far', many), 'added'),
    // Weight on the previous token in the head that has most of it, with the most bytes and no prior.
    ...estimate('head', rowOf(output, 'none', many), 'largest_weight'),
    // The mean over all heads, with the prior on this token.
    ...estimate('prior', last, 'mean_weight'),
  };
}
export type Measured = ReturnType<typeof measured>;
