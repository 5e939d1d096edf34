import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { TokenPriorOutput } from './marks';
import { tokenPriorPresets, type TokenPriorMeasured, tokenPriorMeasured } from './presets';

/** What the lab is asked about. */
export const TOKEN_PRIOR_INPUTS = ['positions', 'steps', 'prior_weight', 'trainings', 'seed'] as const;

/** Without the text. */
export function tokenPriorInput(state: Readonly<State>): Omit<Input<'token-prior'>, 'text'> {
  return inputOf('token-prior', pick(state, TOKEN_PRIOR_INPUTS));
}

export const tokenPriorLab: Lab<TokenPriorOutput, TokenPriorMeasured> = {
  figure: 'token-prior',
  presets: tokenPriorPresets,
  find: (state, ask) => ask('token-prior', tokenPriorInput(state)),
  measured: tokenPriorMeasured,
};
