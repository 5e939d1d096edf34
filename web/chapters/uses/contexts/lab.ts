import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { contextRow, type ContextOutput, type ContextRow } from './marks';
import { contextPresets, type ContextMeasured } from './presets';

/** What the lab is asked about. */
export const CONTEXT_INPUTS = ['sequences', 'kept_blocks', 'shared_prefix', 'seed'] as const;

/** Without the models and their text. */
export function contextInput(state: Readonly<State>): Omit<Input<'parallel-contexts'>, 'runs' | 'text'> {
  return inputOf('parallel-contexts', pick(state, CONTEXT_INPUTS));
}

/** The numbers of the sentences of `parallel-contexts`. */
function contextMeasured(output: ContextOutput): ContextMeasured {
  const at = (reading: ContextRow['reading'], blocks?: number) => contextRow(output, reading, blocks);
  const added = (row?: ContextRow) => row?.added ?? NaN;
  const error = (row?: ContextRow) => row?.added_error ?? NaN;
  const entropy = (row?: ContextRow) => row?.entropy_added ?? NaN;
  const [reset, none, kept, sharpened, mass] = [at('reset'), at('none', 0), at('kept'), at('sharpened'), at('mass')];
  return {
    reset: added(reset),
    reset_entropy: entropy(reset),
    reset_four: added(at('reset', 4)),
    none: added(none),
    none_error: error(none),
    kept: added(kept),
    kept_error: error(kept),
    sharpened: added(sharpened),
    sharpened_entropy: entropy(sharpened),
    mass: added(mass),
    mass_entropy: entropy(mass),
    random: added(at('random')),
    last: added(at('last')),
  };
}

export const contextLab: Lab<ContextOutput, ContextMeasured> = {
  figure: 'parallel-contexts',
  presets: contextPresets,
  find: (state, ask) => ask('parallel-contexts', contextInput(state)),
  measured: contextMeasured,
};
