import type { Preset } from '../shared/preset';

/**
 * Of each preset's state: localization index and mean of rho by the theory, the entropy of a row of the
 * exact softmax over log T by simulation.
 */
export type Localized = Record<string, { localization: number; rho_mean: number; entropy: number }>;

export const localizePresets: readonly Preset<Localized>[] = [
  {
    id: 'small',
    figure: 'lead',
    name: 'Small variance',
    text: 'The attention localizes: with mean 0.25 about half of the positions carry the signal (mean of $\\rho$ {small.rho_mean}), and $L$ is {small.localization}.',
    state: { variance: 0.001 },
    claim: ({ small }) =>
      small.localization > 0.45 &&
      small.localization < 0.55 &&
      Math.abs(small.rho_mean - 0.5) < 0.05,
  },
  {
    id: 'fails',
    figure: 'lead',
    name: 'Here the claim fails',
    text: 'The mean is so small, $\\xi/\\lambda &lt; 2/(T-1)$ with $\\xi = md$, that at zero variance no attention weight is cut off at 0 or 1: the signal passes at all positions alike. $L$ starts at 0, and more variance brings <em>more</em> localization.',
    state: { mean: 0.004, variance: 0.0001 },
    claim: ({ fails, limit }) =>
      fails.localization < 0.01 && limit.localization > fails.localization,
  },
  {
    id: 'large',
    figure: 'lead',
    name: 'Large variance',
    text: 'With mean 0.25 too, $L$ is {large.localization}: positions become alike, but not because all of them pass the signal. The mean of $\\rho$ falls from {small.rho_mean} to {large.rho_mean}, and each single row is nearly one-hot: its entropy falls from {small.entropy} to {large.entropy}.',
    state: { variance: 30 },
    claim: ({ small, large }) =>
      large.localization < 0.25 * small.localization &&
      large.rho_mean < 0.5 * small.rho_mean &&
      large.entropy < 0.03,
  },
  {
    id: 'dead',
    figure: 'lead',
    name: 'Uniform and dead',
    text: 'Every position is equally unlikely to carry the signal: the mean of $\\rho$ is {dead.rho_mean} and falls as $1/\\sqrt{v}$, while $L$ stays at {dead.localization}, the same on every line.',
    state: { variance: 10000, measure: 'rho_mean' },
    claim: ({ dead, large, limit }) =>
      dead.rho_mean < 0.1 * large.rho_mean &&
      Math.abs((limit.rho_mean / dead.rho_mean) * Math.sqrt(100 / 10000) - 1) < 0.1 &&
      Math.abs(dead.localization - limit.localization) < 0.01,
  },
  {
    id: 'zero',
    figure: 'lead',
    name: 'Zero mean',
    text: 'Averaged over sequences no position is preferred, $L$ is {zero.localization}. A single row does prefer some keys, which differ from sequence to sequence: its entropy is {zero.entropy}, not 1.',
    state: { mean: 0, variance: 0.01 },
    claim: ({ zero }) => zero.localization < 0.05 && zero.entropy > 0.65 && zero.entropy < 0.8,
  },
  {
    id: 'early',
    figure: 'profile',
    name: 'Early tokens',
    text: 'With a negative mean the first tokens carry the signal.',
    state: { mean: -0.25, variance: 0.001 },
    claim: ({ early }) => early.localization > 0.3,
  },
  {
    id: 'late',
    figure: 'profile',
    name: 'Late tokens',
    text: 'With a small positive mean the last tokens carry the signal.',
    state: { mean: 0.1, variance: 0.0001 },
    claim: ({ late }) => late.localization > 0.3,
  },
  {
    id: 'middle',
    figure: 'profile',
    name: 'Middle tokens',
    text: 'With a very large mean the last tokens saturate, and only the middle is left.',
    state: { mean: 1, variance: 0.01 },
    claim: ({ middle }) => middle.localization > 0.3,
  },
  {
    id: 'four',
    figure: 'profile',
    name: 'Four eigenvalues',
    text: 'They are too few for the normal approximation: the points leave the line.',
    state: {
      ...{ ensemble: 'two-point', mean: 4, variance: 10, width: 4, length: 24 },
    },
    claim: ({ four, many }) => Math.abs(four.localization - many.localization) < 1e-3,
  },
  {
    id: 'many',
    figure: 'profile',
    name: '256 eigenvalues',
    text: 'With the same traces as the four eigenvalues the points lie on the line.',
    state: {
      ...{ ensemble: 'two-point', mean: 0.0625, variance: 0.402, width: 256, length: 24 },
    },
    claim: ({ four, many }) => Math.abs(four.localization - many.localization) < 1e-3,
  },
];
