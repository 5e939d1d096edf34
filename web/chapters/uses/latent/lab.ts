import { estimate } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { choiceOf, integers, linear, log, number, type Values } from '../../../state/control';
import { questionOf, type Lab } from '../lab';

export type ClassOutput = Output<'latent-classes'>;
export type ValueOutput = Output<'latent-values'>;
export interface LatentOutput {
  classes: ClassOutput;
  values: ValueOutput;
}

const hasSeveral = ({ angles }: Readonly<Values>) => Number(angles) > 1;

const controls = {
  anisotropy: number('anisotropy', 'Anisotropy', log(1, 100), {
    sign: '<i>r</i>',
    help: 'Largest over smallest variance of the noise of a token around its prototype',
  }),
  norms: choiceOf('latent-values', 'norms', 'Key norms', {
    help: 'Norms of the keys, and whether the logits correct for them',
  }),
  harmonics: number('harmonics', 'Harmonics', integers(0, 8), {
    sign: '<i>H</i>',
    help: 'Harmonics of the values in each angle: 0 for a constant, 1 for values linear in the key',
  }),
  angles: number('angles', 'Angles', integers(1, 8), { sign: '<i>D</i>', help: 'Number of angles <i>D</i> of a key' }),
  relevant: number('relevant', 'Relevant angles', integers(1, 8, { within: 'angles' }), {
    help: 'Number of angles on which the values depend; at most all',
    used: hasSeveral,
  }),
  spectrum_variance: number('spectrum_variance', 'Spectrum variance', linear(0, 7), {
    sign: '<i>v</i>',
    help: 'Variance of the eigenvalues of <i>W</i> at mean 1, put on the first angle; at most <i>D</i> − 1',
    used: hasSeveral,
  }),
  repeats: number('repeats', 'Draws', integers(2, 64), {
    sign: '<i>N</i>',
    help: 'Number of independent draws of prototypes and of keys behind each point',
  }),
};

export const lab: Lab<LatentOutput, typeof controls> = {
  figure: 'latent-posterior',
  controls,
  questions: {
    classes: questionOf('latent-classes', ['anisotropy', 'norms', 'repeats', 'seed']),
    values: questionOf('latent-values', [
      'norms',
      'harmonics',
      'angles',
      'relevant',
      'spectrum_variance',
      'repeats',
      'seed',
    ]),
  },
};

/** The row with the least loss. */
export const bestRow = ({ rows }: ClassOutput) =>
  rows.reduce((a, b) => ((b.tuned_loss ?? Infinity) < (a.tuned_loss ?? Infinity) ? b : a));

/** The numbers of the sentences. */
export function measured({ classes, values }: LatentOutput) {
  const best = bestRow(classes);
  const { lengths } = values;
  const last = lengths[lengths.length - 1];
  const flat = classes.rows.find(({ exponent }) => exponent === 0);
  return {
    // Loss at variance 0, at Sigma^-1 and at Sigma^-1 in other directions; all at the best temperature.
    ...estimate('flat', flat, 'tuned_loss'),
    ...estimate('best', best, 'tuned_loss'),
    ...estimate('shuffled', best, 'shuffled_tuned_loss'),
    best_variance: best.variance,
    ...estimate('temperature_slope', values, 'temperature_slope'),
    ...estimate('error_slope', values, 'error_slope'),
    // With the fewest and the most keys: error over that of the exact posterior.
    ...estimate('ratio_first', lengths[0], 'ratio'),
    ...estimate('ratio_last', last, 'ratio'),
    // By what factor the error falls from the fewest to the most keys.
    fall: (lengths[0].best_error ?? NaN) / (last.best_error ?? NaN),
    // With the most keys.
    softmax: last.best_error ?? NaN,
    linear: last.linear_error ?? NaN,
  };
}
export type Measured = ReturnType<typeof measured>;
