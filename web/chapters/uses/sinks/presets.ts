import type { Preset } from '../../shared/preset';
import type { State } from '../state';

/** Of each preset's state, by `eigenscope attention-sinks`. Changes of the output are 1 - cosine. */
export interface SinkMeasured {
  sink: number;
  sinks: number;
  zero_value: number;
  zero_other: number;
  mean_value: number;
  dropped: number;
  direction: number;
  direction_sinks: number;
  random: number;
  /** Means over heads. */
  tag_cosine: number;
  missing_cosine: number;
  tag_share: number;
  other_share: number;
  value_correlation: number;
  /** In the layer with the largest effect of the position, and in the last but one. */
  early: { position: number; token: number };
  late: { position: number; token: number };
}

export const sinkPresets: readonly Preset<State, Record<string, SinkMeasured>>[] = [
  {
    id: 'waiver',
    figure: 'attention-sinks',
    name: 'A waiver',
    text:
      '<b>The claim of Yan et al. holds.</b> A first value of 0 changes the output by {waiver.zero_value}, an ' +
      'average first value by {waiver.mean_value} and a dropped first key by {waiver.dropped}: the sink absorbs ' +
      'attention by its small value.',
    state: {},
    claim: ({ waiver }) =>
      waiver.zero_value < waiver.mean_value / 10 &&
      waiver.zero_value < waiver.dropped / 10 &&
      waiver.value_correlation < -0.5,
  },
  {
    id: 'tag',
    figure: 'attention-sinks',
    name: 'No tag',
    text:
      '<b>The claim of a tag (Zhang et al.) fails.</b> Outputs of the tokens that attend most to the sink differ ' +
      'from others along its value with a cosine of {tag.tag_cosine}, and against the mean value of the content with ' +
      '{tag.missing_cosine}.',
    state: { sink_chart: 'tags' },
    claim: ({ tag }) => tag.tag_cosine < 0.5 * tag.missing_cosine && tag.tag_share < tag.other_share,
  },
  {
    id: 'sinkline',
    figure: 'attention-sinks',
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
    figure: 'attention-sinks',
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
