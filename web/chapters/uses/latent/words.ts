import { count, short } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { bestRow, type ClassOutput, type LatentOutput, type Measured, type ValueOutput } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
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
      '{linear.fall} from 16 to 1,024 keys. It stays {linear.ratio_first} to {linear.ratio_last} times that of the ' +
      'exact posterior; attention without a softmax has {linear.linear} against {linear.softmax} with 1,024 keys.',
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
      '<b>The claim of Zhang et al. fails</b> for keys of unequal norm, which dot products prefer: with 1,024 keys ' +
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
      'angle, the error with 1,024 keys is {relevant.softmax}; with variance 0 it is {isotropic.softmax}.',
    state: { angles: 4, relevant: 1, spectrum_variance: 3 },
    claim: ({ relevant, isotropic }) => relevant.softmax < 0.2 * isotropic.softmax,
  },
  {
    id: 'isotropic',
    name: 'Four angles, variance 0',
    text:
      'The same values read with equal eigenvalues: attention spreads over keys that differ only in angles without ' +
      'meaning, and the error with 1,024 keys is {isotropic.softmax}.',
    state: { angles: 4, relevant: 1 },
    claim: ({ relevant, isotropic }) => relevant.softmax < 0.2 * isotropic.softmax,
  },
];

/** Where the loss over the variance of W is least. */
function classText(classes: ClassOutput): string {
  const best = bestRow(classes);
  return (
    `Left: the loss is least, ${fieldWithError(best, 'tuned_loss')}, at variance ${short(best.variance)} (exact ` +
    `posterior: ${fieldWithError(classes, 'posterior_loss')}); the same eigenvalues in other directions have ` +
    `${fieldWithError(best, 'shuffled_tuned_loss')}.`
  );
}

/** How the best temperature and its error change with the number of keys, and what is better. */
function valueText(values: ValueOutput): string {
  const { lengths, temperature_slope } = values;
  const last = lengths[lengths.length - 1];
  const ratio = (row: (typeof lengths)[number]) => fieldWithError(row, 'ratio');
  const powers =
    temperature_slope === null
      ? 'Right: no temperature inside the range is best at every number of keys.'
      : 'Right: the best temperature goes as T to the power ' +
        `${fieldWithError(values, 'temperature_slope')}, ` +
        `its error as ${fieldWithError(values, 'error_slope')}.`;
  const linear = (last.linear_error ?? NaN) < (last.best_error ?? NaN);
  return (
    `${powers} The least error is ${ratio(lengths[0])} times that of the exact posterior at T = ` +
    `${lengths[0].length} and ` +
    `${ratio(last)} times at ${count(last.length)}, where linear attention is ${linear ? 'better' : 'worse'} ` +
    `(${short(last.linear_error)} against ${short(last.best_error)}).`
  );
}

export const claim = ({ classes, values }: LatentOutput) => `${classText(classes)} ${valueText(values)}`;
