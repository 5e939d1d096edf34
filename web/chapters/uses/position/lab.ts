import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { PositionOutput } from './marks';
import { positionPresets, type PositionMeasured } from './presets';

/** What the lab is asked about. */
export const POSITION_INPUTS = ['teacher_position', 'token_std', 'token_width', 'datasets', 'seed'] as const;

export function positionInput(state: Readonly<State>): Input<'position-meaning'> {
  return inputOf('position-meaning', pick(state, POSITION_INPUTS));
}

/** The numbers of the sentences of `position-meaning`. */
function positionMeasured(output: PositionOutput): PositionMeasured {
  const { crossing, crossing_error, theory_crossing, rows } = output;
  const last = rows[rows.length - 1];
  return {
    crossing,
    crossing_error,
    theory_crossing,
    difference: last.difference ?? NaN,
    random_difference: last.random_difference ?? NaN,
    random_share: last.random_semantic_share ?? NaN,
    meaning: last.meaning_meaning_overlap ?? NaN,
  };
}

export const positionLab: Lab<PositionOutput, PositionMeasured> = {
  figure: 'position-meaning',
  presets: positionPresets,
  find: (state, ask) => ask('position-meaning', positionInput(state)),
  measured: positionMeasured,
};
