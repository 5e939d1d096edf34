import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { endsOf, rowOf, type TokenPriorOutput } from './marks';
import { tokenPriorPresets, type TokenPriorMeasured } from './presets';

/** What the lab is asked about. */
export const TOKEN_PRIOR_INPUTS = ['positions', 'steps', 'prior_weight', 'trainings', 'seed'] as const;

/** Without the text. */
export function tokenPriorInput(state: Readonly<State>): Omit<Input<'token-prior'>, 'text'> {
  return inputOf('token-prior', pick(state, TOKEN_PRIOR_INPUTS));
}

/** The numbers of the sentences of `token-prior`. */
function tokenPriorMeasured(output: TokenPriorOutput): TokenPriorMeasured {
  const [few, many] = endsOf(output);
  const [first, last, far] = [
    rowOf(output, 'previous', few),
    rowOf(output, 'previous', many),
    rowOf(output, 'far', many),
  ];
  return {
    few: first.added ?? NaN,
    few_error: first.added_error ?? NaN,
    many: last.added ?? NaN,
    many_error: last.added_error ?? NaN,
    far: far.added ?? NaN,
    far_error: far.added_error ?? NaN,
    head: rowOf(output, 'none', many).largest_weight ?? NaN,
    prior: last.mean_weight ?? NaN,
  };
}

export const tokenPriorLab: Lab<TokenPriorOutput, TokenPriorMeasured> = {
  figure: 'token-prior',
  presets: tokenPriorPresets,
  find: (state, ask) => ask('token-prior', tokenPriorInput(state)),
  measured: tokenPriorMeasured,
};
