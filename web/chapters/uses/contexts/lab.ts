import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { ContextOutput } from './marks';
import { contextPresets, type ContextMeasured, contextMeasured } from './presets';

/** What the lab is asked about. */
export const CONTEXT_INPUTS = ['sequences', 'kept_blocks', 'shared_prefix', 'seed'] as const;

/** Without the models and their text. */
export function contextInput(state: Readonly<State>): Omit<Input<'parallel-contexts'>, 'runs' | 'text'> {
  return inputOf('parallel-contexts', pick(state, CONTEXT_INPUTS));
}

export const contextLab: Lab<ContextOutput, ContextMeasured> = {
  figure: 'parallel-contexts',
  presets: contextPresets,
  find: (state, ask) => ask('parallel-contexts', contextInput(state)),
  measured: contextMeasured,
};
