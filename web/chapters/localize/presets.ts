import type { Preset } from '../shared/preset';
import type { State } from './state';

/**
 * Of each preset's state: localization index and mean of rho by the theory, the entropy of a row of the
 * exact softmax over log T by simulation.
 */
export type Localized = Record<
  string,
  {
    localization: number;
    rho_mean: number;
    entropy: number;
    /** Rank correlation of predicted with measured entropy of the sample's heads, first and last level. */
    first: number;
    last: number;
  }
>;

export const localizePresets: readonly Preset<State, Localized>[] = [
  {
    id: 'small',
    figure: 'lead',
    step: 1,
    name: 'Small variance',
    text:
      'Attention is a band along the diagonal. About half of the positions pass the signal (mean of $\\rho$ ' +
      '{small.rho_mean}), the late ones: <b>$L$ = {small.localization}</b>.',
    state: { variance: 0.001 },
    claim: ({ small }) =>
      small.localization > 0.45 && small.localization < 0.55 && Math.abs(small.rho_mean - 0.5) < 0.05,
  },
  {
    id: 'large',
    figure: 'lead',
    step: 2,
    name: 'Large variance',
    text:
      'The band breaks into vertical stripes: each row attends to one key. <b>$L$ = {large.localization}</b>: positions become alike because each passes the signal ' +
      'rarely (mean of $\\rho$ {large.rho_mean}).',
    state: { variance: 30 },
    claim: ({ small, large }) =>
      large.localization < 0.25 * small.localization && large.rho_mean < 0.5 * small.rho_mean && large.entropy < 0.03,
  },
  {
    id: 'fails',
    figure: 'lead',
    step: 3,
    name: 'Mean near zero',
    text:
      '<b>Without a mean the claim fails.</b> With $\\xi/\\lambda &lt; 2/(T-1)$, $\\xi = md$, no weight is clipped ' +
      'at 0 or 1 at zero variance: all positions pass the signal alike. $L$ starts at 0, and a larger variance ' +
      '<em>raises</em> it.',
    state: { mean: 0.004, variance: 0.0001 },
    claim: ({ fails, limit }) => fails.localization < 0.01 && limit.localization > fails.localization,
  },
  {
    id: 'trained',
    figure: 'lead',
    step: 4,
    name: 'Trained heads',
    text:
      'Predicted from its spectrum alone (level 0) a trained head lies off the diagonal: rank correlation ' +
      '{trained.first}. With statistics of random tokens and one attention sink, level by level, the heads move ' +
      'onto it: {trained.last}.',
    state: { plot: 'heads' },
    free: ['level'],
    claim: ({ trained }) => trained.first < 0.5 && trained.last > 0.95,
  },
  {
    id: 'dead',
    figure: 'lead',
    name: 'Almost no position passes',
    text:
      'Every position is equally unlikely to carry the signal: the mean of $\\rho$ is {dead.rho_mean} and falls as ' +
      '$1/\\sqrt{v}$, while $L$ stays at {dead.localization}, the same on every line.',
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
    text:
      'Averaged over sequences no position is preferred, $L$ is {zero.localization}. A single row does prefer some ' +
      'keys, which differ from sequence to sequence: its entropy is {zero.entropy}, not 1.',
    state: { mean: 0, variance: 0.01 },
    claim: ({ zero }) => zero.localization < 0.05 && zero.entropy > 0.65 && zero.entropy < 0.8,
  },
  {
    id: 'early',
    figure: 'lead',
    name: 'Early',
    text: 'With a negative mean the first tokens carry the signal.',
    state: { mean: -0.25, variance: 0.001 },
    claim: ({ early }) => early.localization > 0.3,
  },
  {
    id: 'late',
    figure: 'lead',
    name: 'Late',
    text: 'With a small positive mean the last tokens carry the signal.',
    state: { mean: 0.1, variance: 0.0001 },
    claim: ({ late }) => late.localization > 0.3,
  },
  {
    id: 'middle',
    figure: 'lead',
    name: 'Middle',
    text: 'With a very large mean the last tokens saturate, so that only the middle tokens pass the signal.',
    state: { mean: 1, variance: 0.01 },
    claim: ({ middle }) => middle.localization > 0.3,
  },
  {
    id: 'four',
    figure: 'lead',
    name: '4 eigenvalues',
    text: 'Four eigenvalues are too few for the normal approximation: the circles leave the line.',
    state: { ensemble: 'two-point', mean: 4, variance: 10, width: 4, length: 24 },
    claim: ({ four, many }) => Math.abs(four.localization - many.localization) < 1e-3,
  },
  {
    id: 'many',
    figure: 'lead',
    name: '256 eigenvalues',
    text: 'With the same traces as the four eigenvalues, the circles lie on the line.',
    state: { ensemble: 'two-point', mean: 0.0625, variance: 0.402, width: 256, length: 24 },
    claim: ({ four, many }) => Math.abs(four.localization - many.localization) < 1e-3,
  },
];
