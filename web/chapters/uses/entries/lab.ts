import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { EntryOutput } from './marks';
import { entryPresets, type EntryMeasured, entryMeasured } from './presets';

/** What the lab is asked about. */
export const ENTRY_INPUTS = ['objective', 'attention_skip', 'sequences', 'seed'] as const;

/** Without the models and their text. */
export function entryInput(state: Readonly<State>): Omit<Input<'attention-entries'>, 'runs' | 'text'> {
  return inputOf('attention-entries', pick(state, ENTRY_INPUTS));
}

export const entryLab: Lab<EntryOutput, EntryMeasured> = {
  figure: 'attention-entries',
  presets: entryPresets,
  find: (state, ask) => ask('attention-entries', entryInput(state)),
  measured: entryMeasured,
};
