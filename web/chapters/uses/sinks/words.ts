import { count, twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { changeRow, type Measured, type SinkOutput } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
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

/** Whether the sink writes something. */
export function claim(output: SinkOutput): string {
  const [none, zero, mean, dropped] = (['none', 'zero-value', 'mean-value', 'dropped'] as const).map((change) =>
    changeRow(output, change),
  );
  if (!none || !zero || !mean || !dropped) return '';
  const change = (row: typeof zero) => fieldWithError(row, 'output_change');
  return (
    `The first token gets ${twoDigits(none.sink)} of the attention; ${count(none.sinks)} of ${count(output.heads.length)} heads are ` +
    `sinks. Setting its value to 0 changes the output by ${change(zero)} (1 − cosine), setting it to the average of ` +
    `the other tokens’ values by ${change(mean)}, dropping its key by ${change(dropped)}.`
  );
}

/** What goes with a sink, and what makes it. */
export function details(output: SinkOutput): string {
  const { value_correlation, value_in_layers, value_p, layers, between_passages } = output;
  const direction = changeRow(output, 'direction');
  const none = changeRow(output, 'none');
  if (!direction || !none) return '';
  const [first, last] = [layers[0], layers[layers.length - 1]];
  return (
    `Two passages differ by ${twoDigits(between_passages)}. Removing one key direction leaves ${direction.sinks} of ` +
    `${none.sinks} sinks and changes the output by ${twoDigits(direction.output_change)}. Rank correlation of the ` +
    `value’s norm with attention over heads: ${twoDigits(value_correlation)}; within layers ` +
    `${twoDigits(value_in_layers)} (p = ${twoDigits(value_p)} of permuted heads). Position adds ` +
    `${twoDigits(first.position)} of attention in the first layer and ${twoDigits(last.position)} in the last, the token ` +
    `${twoDigits(first.token)} and ${twoDigits(last.token)}.`
  );
}
