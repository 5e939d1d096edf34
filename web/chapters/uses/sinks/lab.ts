import { estimate } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { choice, integers, linear, log, number } from '../../../state/control';
import { labOf } from '../lab';

export type SinkOutput = Output<'attention-sinks'>;
export type Change = SinkOutput['rows'][number]['change'];

/** Number and length of passages are also those of `attention-explanation`. */
export const lab = labOf('attention-sinks', ['passages', 'length', 'sink_threshold', 'seed'], {
  passages: number('passages', 'Passages', log(2, 64, { integer: true }), {
    operation: 'attention-explanation',
    help: 'Number of passages that are measured',
  }),
  length: number('length', 'Passage length', integers(12, 64), {
    sign: '<i>T</i>',
    operation: 'attention-explanation',
    help: 'Number of tokens <i>T</i> of a passage, special tokens included',
  }),
  sink_chart: choice(
    'Left chart',
    { values: 'value norm', tags: 'tag direction', direction: 'direction removed', moved: 'token moved' },
    'Norm of the sink’s value, direction of the tag, sink direction removed, or first token moved, of heads or layers',
  ),
  sink_threshold: number('sink_threshold', 'Sink threshold', linear(0, 1), {
    help: 'Mean attention to the first token above which a head counts as a sink',
  }),
});

export const changeRow = ({ rows }: SinkOutput, change: Change) => rows.find((row) => row.change === change);

/** The numbers of the sentences. Changes of the output are 1 - cosine. */
export function measured(output: SinkOutput) {
  const { heads, layers, value_correlation } = output;
  const changed = <N extends string>(name: N, change: Change) =>
    estimate(name, changeRow(output, change), 'output_change');
  const mean = (of: (head: SinkOutput['heads'][number]) => number | null) =>
    heads.reduce((sum, head) => sum + (of(head) ?? NaN), 0) / heads.length;
  const effects = layers.map((layer) => ({
    ...estimate('position', layer, 'position'),
    ...estimate('token', layer, 'token'),
  }));
  return {
    sinks: changeRow(output, 'none')?.sinks ?? NaN,
    direction_sinks: changeRow(output, 'direction')?.sinks ?? NaN,
    ...changed('zero_value', 'zero-value'),
    ...changed('mean_value', 'mean-value'),
    ...changed('random_value', 'random-value'),
    ...changed('dropped', 'dropped'),
    ...changed('direction', 'direction'),
    ...changed('random', 'random'),
    // Means over heads.
    tag_cosine: mean((head) => head.tag_cosine),
    missing_cosine: mean((head) => head.missing_cosine),
    tag_share: mean((head) => head.tag_share),
    other_share: mean((head) => head.other_share),
    value_correlation: value_correlation ?? NaN,
    // In the layer with the largest effect of the position, and in the last but one.
    early: effects.reduce((a, b) => (b.position > a.position ? b : a)),
    late: effects[effects.length - 2],
  };
}
export type Measured = ReturnType<typeof measured>;
