import type { Markish, ScaleOptions } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { dashedEntry, ringEntry, type Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, ruleY } from '../../../charts/plot';
import { BARS } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { curveMarks, errorBars } from '../curve-marks';

export type EntryOutput = Output<'attention-entries'>;
type EntryRow = EntryOutput['rows'][number];

export function rowAt({ rows }: EntryOutput, distance: number): EntryRow {
  const found = rows.find((row) => row.distance === distance);
  if (!found) throw new Error(`no row of distance ${distance}`);
  return found;
}

/** Whether a distance costs less than the diagonal, by two standard errors of their difference. */
export const isCheaper = ({ over_diagonal, over_diagonal_error }: EntryRow) =>
  (over_diagonal ?? NaN) + BARS * (over_diagonal_error ?? NaN) < 0;

/** Penalties of the learned masks, from the smallest on. */
export function penaltiesOf({ learned }: EntryOutput): number[] {
  return [...new Set(learned.map(({ penalty }) => penalty))].sort((a, b) => a - b);
}

/** The axis of distances: near ones have more room. */
export const DISTANCES: ScaleOptions = {
  type: 'sqrt',
  label: 'distance between query and key →',
  ticks: [0, 1, 2, 4, 8, 16, 24],
  tickFormat: tick,
  inset: 8,
};

/** Added losses over some decades, below 0 too; as far as the error bars reach. */
export function costScale({ rows }: EntryOutput): ScaleOptions {
  const ends = rows.flatMap(({ ablated, ablated_error, trained, trained_error }) =>
    [-BARS, BARS].flatMap((side) => [
      (ablated ?? 0) + side * (ablated_error ?? 0),
      (trained ?? 0) + side * (trained_error ?? 0),
    ]),
  );
  const domain = [Math.min(...ends), Math.max(...ends)];
  return {
    type: 'symlog',
    constant: 0.01,
    label: 'added loss (bits per byte)',
    domain,
    ticks: [-1, -0.1, -0.01, 0, 0.01, 0.1, 1].filter((it) => it >= domain[0] && it <= domain[1]),
    tickFormat: tick,
  };
}

export const COST_LINES: Entry[] = [
  { text: 'removed after training', kind: 'line', colours: [series[0]] },
  ringEntry('trained without', 1),
  dashedEntry('diagonal, removed'),
];

/** One line for each penalty. */
export const maskLines = (output: EntryOutput): Entry[] =>
  penaltiesOf(output).map((penalty, i) => ({
    text: `penalty ${tick(penalty)} nats`,
    kind: 'line',
    colours: [series[2 + i]],
    dash: dashes[i],
  }));

/** What each distance costs; the dashed line is the diagonal's cost after training. */
export function costMarks({ rows }: EntryOutput): Markish[] {
  const x = 'distance';
  const known = (name: 'ablated' | 'trained') => rows.filter((row) => row[name] !== null);
  const [ablated, trained] = [known('ablated'), known('trained')];
  return [
    ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.3 }),
    ruleY(
      ablated.filter(({ distance }) => distance === 0),
      { y: 'ablated', stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'cost of the diagonal' },
    ),
    ...curveMarks(ablated, { x, y: 'ablated', stroke: series[0], name: 'cost, ablated' }),
    errorBars(trained, { x, y: 'trained', stroke: series[1], name: 'cost, trained' }),
    dot(trained, {
      x,
      y: 'trained',
      r: 4.5,
      stroke: series[1],
      strokeWidth: 2,
      fill: 'var(--paper)',
      ariaDescription: 'cost, trained',
    }),
  ];
}

/** The probability that each learned mask keeps each distance. */
export function maskMarks(output: EntryOutput): Markish[] {
  return [
    ruleY([0, 0.5, 1], { stroke: 'var(--ink)', strokeOpacity: 0.3 }),
    ...penaltiesOf(output).flatMap((penalty, i) => {
      const own = output.learned.filter((row) => row.penalty === penalty);
      const look = { stroke: series[2 + i], dash: dashes[i], name: `probability at ${penalty}` };
      return curveMarks(own, { x: 'distance', y: 'kept', ...look });
    }),
  ];
}
