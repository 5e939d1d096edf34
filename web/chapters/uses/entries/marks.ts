import type { Markish, ScaleOptions } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import type { Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, line, ruleX, ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { BARS } from '../with-error';

export type EntryOutput = Output<'attention-entries'>;
export type EntryRow = EntryOutput['rows'][number];
type LearnedRow = EntryOutput['learned'][number];

/** The axis of distances: near ones have more room. */
export const DISTANCES: ScaleOptions = {
  type: 'sqrt',
  label: 'distance between query and key →',
  ticks: [0, 1, 2, 4, 8, 16, 24],
  tickFormat: tick,
  inset: 8,
};

/** Added losses over some decades, below 0 too. */
export const COSTS: ScaleOptions = {
  type: 'symlog',
  constant: 0.01,
  label: 'added loss (bits per byte)',
  ticks: [-0.1, -0.03, -0.01, 0, 0.01, 0.03, 0.1, 0.3, 1, 3],
  tickFormat: tick,
};

/** A loss, its place in the rows and its look. */
const COSTS_OF = { ablated: 'removed after training', trained: 'trained without' } as const;
type Cost = keyof typeof COSTS_OF;

export const COST_LINES: Entry[] = [
  { text: COSTS_OF.ablated, kind: 'line', colours: [series[0]] },
  { text: COSTS_OF.trained, kind: 'ring', colours: [series[1]] },
  { text: 'diagonal', kind: 'line', colours: ['var(--ink)'], dash: '3 3' },
];

function bars<Row extends LearnedRow | EntryRow>(
  rows: readonly Row[],
  value: (row: Row) => [number | null, number | null],
  stroke: string,
  ariaDescription: string,
): Markish {
  const end = (side: number) => (row: Row) => {
    const [at, error] = value(row);
    return (at ?? NaN) + side * BARS * (error ?? NaN);
  };
  return ruleX(
    rows.filter((row) => value(row)[1] !== null),
    { x: 'distance', y1: end(-1), y2: end(1), stroke, strokeWidth: 1.5, ariaDescription },
  );
}

/** What each distance costs: the dashed line is the diagonal's cost after training. */
export function costMarks({ rows }: EntryOutput): Markish[] {
  const x = 'distance';
  const known = (name: Cost) => rows.filter((row) => row[name] !== null);
  return [
    ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.3 }),
    ruleY(
      known('ablated').filter(({ distance }) => distance === 0),
      { y: 'ablated', stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'cost of the diagonal' },
    ),
    line(known('ablated'), { x, y: 'ablated', stroke: series[0], strokeWidth: 2, ariaDescription: 'line, ablated' }),
    bars(rows, (row) => [row.ablated, row.ablated_error], series[0], 'error bars, ablated'),
    dot(known('ablated'), { x, y: 'ablated', r: 3, fill: series[0], ariaDescription: 'cost, ablated' }),
    bars(rows, (row) => [row.trained, row.trained_error], series[1], 'error bars, trained'),
    dot(known('trained'), {
      ...{ x, y: 'trained', r: 4.5, stroke: series[1], strokeWidth: 2, fill: 'var(--paper)' },
      ariaDescription: 'cost, trained',
    }),
  ];
}

export const MASK_LINES: Entry[] = [{ text: 'mean over models', kind: 'line', colours: [series[2]], dash: dashes[2] }];

/** The probability that the learned mask keeps each distance. */
export function maskMarks({ learned }: EntryOutput): Markish[] {
  const x = 'distance';
  return [
    ruleY([0, 0.5, 1], { stroke: 'var(--ink)', strokeOpacity: 0.3 }),
    line(learned, { x, y: 'kept', stroke: series[2], strokeDasharray: dashes[2], ariaDescription: 'line, kept' }),
    bars(learned, (row) => [row.kept, row.kept_error], series[2], 'error bars, kept'),
    dot(learned, { x, y: 'kept', r: 3, fill: series[2], ariaDescription: 'probability, kept' }),
  ];
}
