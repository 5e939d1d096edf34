import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import type { LatentOutput } from './marks';

/** Of each preset's state, by `eigenscope latent-classes` and `latent-values`. */
export function latentMeasured({ classes, values }: LatentOutput) {
  const { rows } = classes;
  const best = rows.reduce((a, b) => ((b.tuned_loss ?? NaN) < (a.tuned_loss ?? NaN) ? b : a));
  const { lengths } = values;
  const last = lengths[lengths.length - 1];
  return {
    // Loss at variance 0, at Sigma^-1 and at Sigma^-1 in other directions; all at the best temperature.
    ...estimate(
      'flat',
      rows.find(({ exponent }) => exponent === 0),
      'tuned_loss',
    ),
    ...estimate('best', best, 'tuned_loss'),
    ...estimate('shuffled', best, 'shuffled_tuned_loss'),
    ...estimate('posterior', classes, 'posterior_loss'),
    best_variance: best.variance,
    ...estimate('temperature_slope', values, 'temperature_slope'),
    ...estimate('error_slope', values, 'error_slope'),
    ...estimate('posterior_slope', values, 'posterior_slope'),
    // With the fewest and the most keys: error over that of the exact posterior.
    ...estimate('ratio_first', lengths[0], 'ratio'),
    ...estimate('ratio_last', last, 'ratio'),
    // Growth of this ratio: its power of T.
    ...estimate('ratio_slope', values, 'ratio_slope'),
    // By what factor the error falls from the fewest to the most keys.
    fall: (lengths[0].best_error ?? NaN) / (last.best_error ?? NaN),
    // With the most keys.
    softmax: last.best_error ?? NaN,
    linear: last.linear_error ?? NaN,
  };
}
export type LatentMeasured = ReturnType<typeof latentMeasured>;

export const latentPresets: readonly LabPreset<LatentMeasured>[] = [
  {
    id: 'posterior',
    name: 'Posterior',
    text:
      '$W = \\Sigma^{-1}$ is the exact posterior: the loss is {posterior.flat} at variance 0, {posterior.best} at ' +
      'variance {posterior.best_variance} and {posterior.shuffled} with the same eigenvalues in other directions. ' +
      'For smooth values the best temperature and its error fall as powers of $T$: {posterior.temperature_slope} ' +
      'and {posterior.error_slope}.',
    claim: ({ posterior: { flat, best, shuffled, temperature_slope, error_slope } }) =>
      best < flat && shuffled > flat && temperature_slope < -0.2 && error_slope < -0.7,
  },
  {
    id: 'linear',
    name: 'Linear values',
    text:
      '<b>The claim of Zhang et al. holds:</b> for values linear in the key the error falls by a factor of ' +
      '{linear.fall} from 16 to 1024 keys. It stays {linear.ratio_first} to {linear.ratio_last} times that of the ' +
      'exact posterior; attention without a softmax has {linear.linear} against {linear.softmax} with 1024 keys.',
    state: { harmonics: 1 },
    source: 'holds',
    claim: ({ linear: { fall, ratio_first, ratio_last, softmax, linear } }) =>
      fall > 10 && ratio_first > 2 && ratio_last > 2 && linear < softmax,
  },
  {
    id: 'constant',
    name: 'Constant',
    text:
      'If the values do not depend on the key, uniform attention is best: the error, {constant.ratio_last} times ' +
      'that of the posterior, falls with the temperature to its end.',
    state: { harmonics: 0 },
    claim: ({ constant: { temperature_slope, ratio_last } }) =>
      !Number.isFinite(temperature_slope) && ratio_last < 1.05,
  },
  {
    id: 'unequal',
    name: 'Unequal norms',
    text:
      '<b>The claim of Zhang et al. fails</b> for keys of unequal norm, which dot products prefer: with 1024 keys ' +
      'the error is {unequal.ratio_last} times that of the posterior. Half the squared norm subtracted from the ' +
      'logits repairs most of it.',
    state: { norms: 'unequal' },
    source: 'fails',
    claim: ({ unequal: { ratio_last }, posterior }) => ratio_last > 5 * posterior.ratio_last,
  },
  {
    id: 'relevant',
    name: 'One relevant angle',
    text:
      'Where one of four angles matters, the variance of the spectrum helps: with variance 3, all on the relevant ' +
      'angle, the error with 1024 keys is {relevant.softmax}; with variance 0 it is {isotropic.softmax}.',
    state: { angles: 4, relevant: 1, spectrum_variance: 3 },
    claim: ({ relevant, isotropic }) => relevant.softmax < 0.2 * isotropic.softmax,
  },
  {
    id: 'isotropic',
    name: 'Four angles, variance 0',
    text:
      'The same values read with equal eigenvalues: attention spreads over keys that differ only in angles without ' +
      'meaning, and the error with 1024 keys is {isotropic.softmax}.',
    state: { angles: 4, relevant: 1 },
    claim: ({ relevant, isotropic }) => relevant.softmax < 0.2 * isotropic.softmax,
  },
];
