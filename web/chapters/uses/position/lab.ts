import { inputOf } from '../../../engine/operations';
import type { Input } from '../../../engine/protocol';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { PositionOutput } from './marks';
import { positionPresets, type PositionMeasured, positionMeasured } from './presets';

/** What the lab is asked about. */
export const POSITION_INPUTS = ['teacher_position', 'token_std', 'token_width', 'datasets', 'seed'] as const;

export function positionInput(state: Readonly<State>): Input<'position-meaning'> {
  return inputOf('position-meaning', pick(state, POSITION_INPUTS));
}

export const positionLab: Lab<PositionOutput, PositionMeasured> = {
  figure: 'position-meaning',
  presets: positionPresets,
  find: (state, ask) => ask('position-meaning', positionInput(state)),
  measured: positionMeasured,
};
