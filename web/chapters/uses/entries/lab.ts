import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { penaltiesOf, rowAt, type EntryOutput } from './marks';
import { entryPresets, type EntryMeasured } from './presets';

/** What the lab is asked about. */
export const ENTRY_INPUTS = ['objective', 'attention_skip', 'sequences', 'seed'] as const;

/** Without the models and their text. */
export function entryInput(state: Readonly<State>): Omit<Input<'attention-entries'>, 'runs' | 'text'> {
  return inputOf('attention-entries', pick(state, ENTRY_INPUTS));
}

/** Distances that sentences call far. */
const FAR = 4;

/** The numbers of the sentences of `attention-entries`. */
function entryMeasured(output: EntryOutput): EntryMeasured {
  const [diagonal, next] = [rowAt(output, 0), rowAt(output, 1)];
  const penalties = penaltiesOf(output);
  const [low = NaN, high = NaN] = [penalties[0], penalties.at(-1)];
  const kept = (penalty: number) =>
    output.learned.find((row) => row.distance === 0 && row.penalty === penalty)?.kept ?? NaN;
  const far = output.rows.filter(({ distance }) => distance >= FAR);
  return {
    ablated: diagonal.ablated ?? NaN,
    ablated_error: diagonal.ablated_error ?? NaN,
    trained: diagonal.trained ?? NaN,
    trained_error: diagonal.trained_error ?? NaN,
    next_ablated: next.ablated ?? NaN,
    next_trained: next.trained ?? NaN,
    most_beyond: Math.max(...far.map(({ ablated }) => ablated ?? NaN)),
    penalty_low: low,
    penalty_high: high,
    kept_low: kept(low),
    kept_high: kept(high),
  };
}

export const entryLab: Lab<EntryOutput, EntryMeasured> = {
  figure: 'attention-entries',
  presets: entryPresets,
  find: (state, ask) => ask('attention-entries', entryInput(state)),
  measured: entryMeasured,
};
