import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { State } from '../state';

const CLASS_INPUTS = ['anisotropy', 'norms', 'repeats', 'seed'] as const;
const VALUE_INPUTS = ['norms', 'harmonics', 'angles', 'relevant', 'spectrum_variance', 'repeats', 'seed'] as const;
export const LATENT_INPUTS = [...new Set([...CLASS_INPUTS, ...VALUE_INPUTS])] as const;

export function classInput(state: Readonly<State>): Input<'latent-classes'> {
  return inputOf('latent-classes', pick(state, CLASS_INPUTS));
}

export function valueInput(state: Readonly<State>): Input<'latent-values'> {
  return inputOf('latent-values', pick(state, VALUE_INPUTS));
}
