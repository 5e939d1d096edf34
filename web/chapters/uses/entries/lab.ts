import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { rowAt, type EntryOutput } from './marks';
import { entryPresets, type EntryMeasured } from './presets';

/** What the lab is asked about. */
export const ENTRY_INPUTS = ['objective', 'attention_skip', 'sequences', 'seed'] as const;

/** Without the models and their text. */
export function entryInput(state: Readonly<State>): Omit<Input<'attention-entries'>, 'runs' | 'text'> {
  return inputOf('attention-entries', pick(state, ENTRY_INPUTS));
}

/** The distance that sentences compare with the diagonal, beside the neighbours. */
export const FAR = 4;

/** The numbers of the sentences of `attention-entries`. */
function entryMeasured(output: EntryOutput): EntryMeasured {
  const cost = (distance: number) => {
    const row = rowAt(output, distance);
    return {
      ...{ ablated: row.ablated ?? NaN, ablated_error: row.ablated_error ?? NaN },
      ...{ trained: row.trained ?? NaN, trained_error: row.trained_error ?? NaN },
    };
  };
  const kept = (penalty: number) =>
    output.learned.find((it) => it.distance === 0 && it.penalty === penalty)?.kept ?? NaN;
  const penalties = [...new Set(output.learned.map(({ penalty }) => penalty))].sort((a, b) => a - b);
  const beyond = output.rows.filter(({ distance }) => distance >= FAR);
  return {
    ...{ diagonal: cost(0), neighbours: cost(1), far: cost(FAR) },
    most_beyond: Math.max(...beyond.map(({ ablated }) => ablated ?? NaN)),
    ...{ kept_low: kept(penalties[0]), kept_high: kept(penalties[penalties.length - 1]) },
  };
}

export const entryLab: Lab<EntryOutput, EntryMeasured> = {
  figure: 'attention-entries',
  presets: entryPresets,
  find: (state, ask) => ask('attention-entries', entryInput(state)),
  measured: entryMeasured,
};
