import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { LatentOutput } from './marks';
import { latentPresets, type LatentMeasured } from './presets';

const CLASS_INPUTS = ['anisotropy', 'norms', 'repeats', 'seed'] as const;
const VALUE_INPUTS = ['norms', 'harmonics', 'angles', 'relevant', 'spectrum_variance', 'repeats', 'seed'] as const;
export const LATENT_INPUTS = [...new Set([...CLASS_INPUTS, ...VALUE_INPUTS])] as const;

export function classInput(state: Readonly<State>): Input<'latent-classes'> {
  return inputOf('latent-classes', pick(state, CLASS_INPUTS));
}

export function valueInput(state: Readonly<State>): Input<'latent-values'> {
  return inputOf('latent-values', pick(state, VALUE_INPUTS));
}

/** The numbers of the sentences of `latent-posterior`. */
function latentMeasured({ classes, values }: LatentOutput): LatentMeasured {
  const { rows } = classes;
  const best = rows.reduce((a, b) => ((b.tuned_loss ?? NaN) < (a.tuned_loss ?? NaN) ? b : a));
  const { lengths, temperature_slope, error_slope, posterior_slope } = values;
  const ratios = lengths.map(({ best_error, posterior_error }) => (best_error ?? NaN) / (posterior_error ?? NaN));
  const last = lengths[lengths.length - 1];
  return {
    flat: rows.find(({ exponent }) => exponent === 0)?.tuned_loss ?? NaN,
    best: best.tuned_loss ?? NaN,
    shuffled: best.shuffled_tuned_loss ?? NaN,
    posterior: classes.posterior_loss ?? NaN,
    best_variance: best.variance,
    temperature_slope,
    error_slope,
    posterior_slope: posterior_slope ?? NaN,
    ratio_first: ratios[0],
    ratio_last: ratios[ratios.length - 1],
    softmax: last.best_error ?? NaN,
    linear: last.linear_error ?? NaN,
  };
}

export const latentLab: Lab<LatentOutput, LatentMeasured> = {
  figure: 'latent-posterior',
  presets: latentPresets,
  find: async (state, ask) => ({
    classes: await ask('latent-classes', classInput(state)),
    values: await ask('latent-values', valueInput(state)),
  }),
  measured: latentMeasured,
};
