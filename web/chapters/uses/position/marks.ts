import type { Markish } from '@observablehq/plot';
import { series } from '../../../charts/palette';
import { dot, line, ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { errorBars } from '../curve-marks';

export type PositionOutput = Output<'position-meaning'>;
type Row = PositionOutput['rows'][number];

export const [BY_POSITION, BY_MEANING, AT_RANDOM] = series;

const x = 'samples_over_width';

/** A line of the theory through the points where its equations hold. */
function theory(rows: readonly Row[], y: keyof Row & string, stroke: string): Markish {
  return line(rows, { x, y, stroke, strokeWidth: 2, ariaDescription: `theory, ${y}` });
}

/** Means over training sets with error bars. */
function sampled(
  rows: readonly Row[],
  y: keyof Row & string,
  stroke: string,
  symbol: 'circle' | 'times' = 'circle',
): Markish[] {
  return [
    errorBars(rows, { x, y, stroke, name: y }),
    dot(rows, { x, y, r: 3.5, symbol, stroke, fill: 'var(--paper)', ariaDescription: y }),
  ];
}

/** Training loss above that of the semantic start. */
export function lossMarks({ rows }: PositionOutput): Markish[] {
  return [
    ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.5 }),
    theory(rows, 'theory_difference', BY_POSITION),
    ...sampled(rows, 'random_difference', AT_RANDOM, 'times'),
    ...sampled(rows, 'difference', BY_POSITION),
  ];
}

/** Overlaps of the two minima with p and q. */
export function overlapMarks({ rows }: PositionOutput): Markish[] {
  return [
    theory(rows, 'theory_position_overlap', BY_POSITION),
    theory(rows, 'theory_meaning_overlap', BY_MEANING),
    ...sampled(rows, 'position_position_overlap', BY_POSITION),
    ...sampled(rows, 'meaning_meaning_overlap', BY_MEANING),
  ];
}
