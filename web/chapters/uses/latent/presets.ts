import type { Preset } from '../../shared/preset';
import type { State } from '../state';

/** Of each preset's state, by `eigenscope latent-classes` and `latent-values`. */
export interface LatentMeasured {
  /** Loss at variance 0, at Sigma^-1 and at Sigma^-1 in other directions; all at the best temperature. */
  flat: number;
  best: number;
  shuffled: number;
  posterior: number;
  best_variance: number;
  temperature_slope: number | null;
  error_slope: number | null;
  posterior_slope: number;
  /** With the fewest and the most keys: error over that of the exact posterior. */
  ratio_first: number;
  ratio_last: number;
  /** With the most keys. */
  softmax: number;
  linear: number;
}

export const latentPresets: readonly Preset<State, Record<string, LatentMeasured>>[] = [
  {
    id: 'posterior',
    figure: 'latent-posterior',
    name: 'Posterior',
    text:
      '$W = \\Sigma^{-1}$ is the exact posterior: the loss is {posterior.flat} at variance 0, {posterior.best} at ' +
      'variance {posterior.best_variance} and {posterior.shuffled} with the same eigenvalues in other directions. ' +
      'For smooth values the best temperature and its error fall as powers of $T$: {posterior.temperature_slope} ' +
      'and {posterior.error_slope}.',
    state: {},
    claim: ({ posterior: { flat, best, shuffled, temperature_slope, error_slope } }) =>
      best < flat && shuffled > flat && (temperature_slope ?? NaN) < -0.2 && (error_slope ?? NaN) < -0.7,
  },
  {
    id: 'linear',
    figure: 'latent-posterior',
    name: 'Linear values',
    text:
      '<b>The claim of Zhang et al. fails.</b> For values linear in the key, attention falls behind the exact ' +
      'posterior: its error is {linear.ratio_first} times as large with 16 keys and {linear.ratio_last} times with ' +
      '1024, where attention without a softmax has {linear.linear} against {linear.softmax}.',
    state: { harmonics: 1 },
    claim: ({ linear: { ratio_first, ratio_last, softmax, linear } }) => ratio_last > ratio_first && linear < softmax,
  },
  {
    id: 'constant',
    figure: 'latent-posterior',
    name: 'Constant',
    text:
      'If the values do not depend on the key, uniform attention is best: the error, {constant.ratio_last} times ' +
      'that of the posterior, falls with the temperature to its end.',
    state: { harmonics: 0 },
    claim: ({ constant: { temperature_slope, ratio_last } }) => temperature_slope === null && ratio_last < 1.05,
  },
  {
    id: 'unequal',
    figure: 'latent-posterior',
    name: 'Unequal norms',
    text:
      '<b>The claim of Zhang et al. fails</b> for keys of unequal norm, which dot products prefer: with 1024 keys ' +
      'the error is {unequal.ratio_last} times that of the posterior. Half the squared norm subtracted from the ' +
      'logits repairs most of it.',
    state: { norms: 'unequal' },
    claim: ({ unequal: { ratio_last }, posterior }) => ratio_last > 5 * posterior.ratio_last,
  },
  {
    id: 'relevant',
    figure: 'latent-posterior',
    name: 'One relevant angle',
    text:
      'Where one of four angles matters, the variance of the spectrum helps: with variance 3, all on the relevant ' +
      'angle, the error with 1024 keys is {relevant.softmax}; with variance 0 it is {isotropic.softmax}.',
    state: { angles: 4, relevant: 1, spectrum_variance: 3 },
    claim: ({ relevant, isotropic }) => relevant.softmax < 0.2 * isotropic.softmax,
  },
  {
    id: 'isotropic',
    figure: 'latent-posterior',
    name: 'Four angles, variance 0',
    text:
      'The same values read with equal eigenvalues: attention spreads over keys that differ only in angles without ' +
      'meaning, and the error with 1024 keys is {isotropic.softmax}.',
    state: { angles: 4, relevant: 1 },
    claim: ({ relevant, isotropic }) => relevant.softmax < 0.2 * isotropic.softmax,
  },
];
