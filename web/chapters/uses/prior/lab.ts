import type { Output } from '../../../engine/protocol';
import { integers, log, number } from '../../../state/control';
import { estimates, labOf, rowWith } from '../lab';

export type PriorOutput = Output<'attention-prior'>;
export type Prior = PriorOutput['rows'][number]['prior'];

export const lab = labOf('attention-prior', ['prior_weight', 'head_width', 'start_scale', 'trainings', 'seed'], {
  prior_weight: number('prior_weight', 'Prior weight', log(0.01, 100), {
    sign: '<i>c</i>',
    help: 'Weight <i>c</i> of KL(prior ‖ attention) in the training loss',
  }),
  head_width: number('head_width', 'Head width', integers(2, 64), {
    sign: '<i>d<sub>h</sub></i>',
    help: 'Head width <i>d<sub>h</sub></i>, the rank of <i>W</i><sub>QK</sub> over the 24 features',
    operation: 'attention-prior',
  }),
  start_scale: number('start_scale', 'Initial scale', log(0.05, 2), {
    sign: '<i>s</i>',
    help: 'Standard deviation of the initial query, key and value weights',
  }),
  trainings: number('trainings', 'Training runs', integers(2, 16), {
    sign: '<i>N</i>',
    help: 'Number of training runs behind each point, each with examples of its own',
  }),
});

/** Numbers of examples that the sentences compare. */
export const FEW = 200;
export const SOME = 400;
export const MANY = 1600;

/** The row of a prior with this many examples. */
export const rowOf = ({ rows }: PriorOutput, prior: Prior, examples: number) => rowWith(rows, { prior, examples });

/** The numbers of the sentences. */
export function measured(output: PriorOutput) {
  const of = <P extends Prior>(field: 'accuracy' | 'gain' | 'target_weight', examples: number, ...priors: P[]) =>
    estimates(priors, (prior) => rowOf(output, prior, examples), field);
  return {
    // Accuracies with 200, 400 and 1600 examples.
    few: of('accuracy', FEW, 'none', 'random'),
    some: of('accuracy', SOME, 'none', 'correct', 'uniform'),
    many: of('accuracy', MANY, 'none', 'correct', 'half', 'random', 'uniform'),
    // Accuracy added to no prior with 200 and with 400 examples.
    few_gain: of('gain', FEW, 'correct', 'uniform'),
    gain: of('gain', SOME, 'correct', 'uniform'),
    // Weight on the target with 1600 examples.
    weight: of('target_weight', MANY, 'uniform'),
  };
}
export type Measured = ReturnType<typeof measured>;
