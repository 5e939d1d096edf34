import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { changeRow, type SinkOutput } from './marks';

/** Of each preset's state, by `eigenscope attention-sinks`. Changes of the output are 1 - cosine. */
export function sinkMeasured(output: SinkOutput) {
  const { heads, layers, value_correlation } = output;
  const changed = <N extends string>(name: N, change: SinkOutput['rows'][number]['change']) =>
    estimate(name, changeRow(output, change), 'output_change');
  const [none, direction] = [changeRow(output, 'none'), changeRow(output, 'direction')];
  const mean = (of: (head: SinkOutput['heads'][number]) => number | null) =>
    heads.reduce((sum, head) => sum + (of(head) ?? NaN), 0) / heads.length;
  const effects = layers.map((layer) => ({
    ...estimate('position', layer, 'position'),
    ...estimate('token', layer, 'token'),
  }));
  return {
    sink: none?.sink ?? NaN,
    sinks: none?.sinks ?? NaN,
    direction_sinks: direction?.sinks ?? NaN,
    ...changed('zero_value', 'zero-value'),
    ...changed('zero_other', 'zero-other'),
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
export type SinkMeasured = ReturnType<typeof sinkMeasured>;

export const sinkPresets: readonly LabPreset<SinkMeasured>[] = [
  {
    id: 'waiver',
    name: 'A waiver',
    text:
      '<b>The claim of Yan et al. holds.</b> A first value of 0 changes the output by {waiver.zero_value}, the mean ' +
      'value of the content by {waiver.mean_value}, a random value of its norm by {waiver.random_value} and a dropped ' +
      'first key by {waiver.dropped}: the size of the value matters more than its content.',
    source: 'holds',
    claim: ({ waiver }) =>
      waiver.zero_value < waiver.mean_value / 10 &&
      waiver.zero_value < waiver.dropped / 10 &&
      waiver.random_value > waiver.mean_value / 2 &&
      waiver.value_correlation < -0.5,
  },
  {
    id: 'tag',
    name: 'No tag',
    text:
      '<b>The claim of a tag (Zhang et al.) fails.</b> Outputs of the tokens that attend most to the sink differ ' +
      'from others along its value with a cosine of {tag.tag_cosine}, and against the mean value of the content with ' +
      '{tag.missing_cosine}.',
    state: { sink_chart: 'tags' },
    source: 'fails',
    claim: ({ tag }) => tag.tag_cosine < 0.5 * tag.missing_cosine && tag.tag_share < tag.other_share,
  },
  {
    id: 'sinkline',
    name: 'Direction removed',
    text:
      'Without one key direction {sinkline.direction_sinks} of {sinkline.sinks} sinks are left, by construction; the ' +
      'output changes by {sinkline.direction}, more than without the key ({sinkline.dropped}). A random direction ' +
      'changes it by {sinkline.random}.',
    state: { sink_chart: 'direction' },
    claim: ({ sinkline }) =>
      sinkline.direction_sinks < sinkline.sinks / 10 &&
      sinkline.direction > sinkline.dropped &&
      sinkline.random < sinkline.direction / 10,
  },
  {
    id: 'moved',
    name: 'First token moved',
    text:
      'In an early layer the start of the passage adds {moved.early.position} of attention, whichever token is ' +
      'there, and [CLS] {moved.early.token}; in a late one both add about as much, {moved.late.position} and ' +
      '{moved.late.token}.',
    state: { sink_chart: 'moved' },
    claim: ({ moved }) =>
      moved.early.token < 0.3 * moved.early.position && moved.late.token > 0.5 * moved.late.position,
  },
];
