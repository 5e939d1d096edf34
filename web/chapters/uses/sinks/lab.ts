import { inputOf } from '../../../engine/operations';
import { pick } from '../../../state/control';
import type { Lab } from '../lab';
import type { State } from '../state';
import { changeRow, type SinkOutput } from './marks';
import { sinkPresets, type SinkMeasured } from './presets';

/** What the lab is asked about. */
export const SINK_INPUTS = ['passages', 'length', 'sink_threshold', 'seed'] as const;

/** Without the checkpoint and the text. */
export const sinkInput = (state: Readonly<State>) => inputOf('attention-sinks', pick(state, SINK_INPUTS));

/** The numbers of the sentences of `attention-sinks`. */
function sinkMeasured(output: SinkOutput): SinkMeasured {
  const { heads, layers, value_correlation } = output;
  const changed = (change: SinkOutput['rows'][number]['change']) => changeRow(output, change)?.output_change ?? NaN;
  const [none, direction] = [changeRow(output, 'none'), changeRow(output, 'direction')];
  const mean = (of: (head: SinkOutput['heads'][number]) => number | null) =>
    heads.reduce((sum, head) => sum + (of(head) ?? NaN), 0) / heads.length;
  const effects = layers.map(({ position, token }) => ({ position: position ?? NaN, token: token ?? NaN }));
  return {
    sink: none?.sink ?? NaN,
    sinks: none?.sinks ?? NaN,
    direction_sinks: direction?.sinks ?? NaN,
    zero_value: changed('zero-value'),
    zero_other: changed('zero-other'),
    mean_value: changed('mean-value'),
    dropped: changed('dropped'),
    direction: changed('direction'),
    random: changed('random'),
    tag_cosine: mean((head) => head.tag_cosine),
    missing_cosine: mean((head) => head.missing_cosine),
    tag_share: mean((head) => head.tag_share),
    other_share: mean((head) => head.other_share),
    value_correlation: value_correlation ?? NaN,
    early: effects.reduce((a, b) => (b.position > a.position ? b : a)),
    late: effects[effects.length - 2],
  };
}

export const sinkLab: Lab<SinkOutput, SinkMeasured> = {
  figure: 'attention-sinks',
  presets: sinkPresets,
  find: (state, ask) => ask('attention-sinks', sinkInput(state)),
  measured: sinkMeasured,
};
