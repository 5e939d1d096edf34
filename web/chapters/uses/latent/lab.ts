import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { LatentOutput } from './marks';
import { latentPresets, type LatentMeasured, latentMeasured } from './presets';

const CLASS_INPUTS = ['anisotropy', 'norms', 'repeats', 'seed'] as const;
const VALUE_INPUTS = ['norms', 'harmonics', 'angles', 'relevant', 'spectrum_variance', 'repeats', 'seed'] as const;
export const LATENT_INPUTS = [...new Set([...CLASS_INPUTS, ...VALUE_INPUTS])] as const;

export function classInput(state: Readonly<State>): Input<'latent-classes'> {
  return inputOf('latent-classes', pick(state, CLASS_INPUTS));
}

export function valueInput(state: Readonly<State>): Input<'latent-values'> {
  return inputOf('latent-values', pick(state, VALUE_INPUTS));
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
