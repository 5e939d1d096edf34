import { inputOf } from '../../../engine/operations';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import type { SinkOutput } from './marks';
import { sinkPresets, type SinkMeasured, sinkMeasured } from './presets';

/** What the lab is asked about. */
export const SINK_INPUTS = ['passages', 'length', 'sink_threshold', 'seed'] as const;

/** Without the checkpoint and the text. */
export const sinkInput = (state: Readonly<State>) => inputOf('attention-sinks', pick(state, SINK_INPUTS));

export const sinkLab: Lab<SinkOutput, SinkMeasured> = {
  figure: 'attention-sinks',
  presets: sinkPresets,
  find: (state, ask) => ask('attention-sinks', sinkInput(state)),
  measured: sinkMeasured,
};
