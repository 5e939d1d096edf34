import type { Markish, ScaleOptions } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { dashedEntry, ringEntry, type Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, ruleY } from '../../../charts/plot';
import { BARS } from '../../../charts/with-error';
import { tableOfRows } from '../../../charts/table';
import type { Drawing } from '../lab-figure';
import { curveMarks, errorBars } from '../marks';
import { penaltiesOf, type EntryOutput } from './lab';
import { claim, diagonalWeight, masks } from './words';

/** The axis of distances: near ones have more room. */
const DISTANCES: ScaleOptions = {
  type: 'sqrt',
  label: 'distance between query and key →',
  ticks: [0, 1, 2, 4, 8, 16, 24],
  tickFormat: tick,
  inset: 8,
};

/** Added losses over some decades, below 0 too; as far as the error bars reach. */
function costScale({ rows }: EntryOutput): ScaleOptions {
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

/** What each distance costs; the dashed line is the diagonal's cost after training. */
function costMarks({ rows }: EntryOutput): Markish[] {
  const x = 'distance';
  const known = (name: 'ablated' | 'trained') => rows.filter((row) => row[name] !== null);
  const ring = { stroke: series[1], strokeWidth: 2, fill: 'var(--paper)' };
  const [ablated, trained] = [known('ablated'), known('trained')];
  return [
    ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.3 }),
    ruleY(
      ablated.filter(({ distance }) => distance === 0),
      { y: 'ablated', stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'cost of the diagonal' },
    ),
    ...curveMarks(ablated, { x, y: 'ablated', stroke: series[0], name: 'cost, ablated' }),
    errorBars(trained, { x, y: 'trained', stroke: series[1], name: 'cost, trained' }),
    dot(trained, { x, y: 'trained', r: 4.5, ...ring, ariaDescription: 'cost, trained' }),
  ];
}

/** The probability that each learned mask keeps each distance. */
function maskMarks(output: EntryOutput): Markish[] {
  return [
    ruleY([0, 0.5, 1], { stroke: 'var(--ink)', strokeOpacity: 0.3 }),
    ...penaltiesOf(output).flatMap((penalty, i) => {
      const points = output.learned.filter((row) => row.penalty === penalty);
      const look = { stroke: series[2 + i], dash: dashes[i], name: `probability at ${penalty}` };
      return curveMarks(points, { x: 'distance', y: 'kept', ...look });
    }),
  ];
}

/** What trained models lose without a distance between query and key, and the distances that a learned mask keeps. */
const drawing: Drawing<EntryOutput> = {
  topic: 'Cost of removing distances',
  panels: (output) => [
    {
      label: 'added loss without the entries at a distance',
      entries: [
        { text: 'removed after training', kind: 'line', colours: [series[0]] },
        ringEntry('trained without', 1),
        dashedEntry('diagonal, removed'),
      ],
      x: DISTANCES,
      y: costScale(output),
      marks: costMarks(output),
    },
    {
      label: 'probability that the learned mask keeps a distance',
      entries: penaltiesOf(output).map((penalty, i): Entry => ({
        text: `penalty ${tick(penalty)} nats`,
        kind: 'line',
        colours: [series[2 + i]],
        dash: dashes[i],
      })),
      x: DISTANCES,
      y: { label: 'probability of being kept', domain: [0, 1] },
      marks: maskMarks(output),
    },
  ],
  claim,
  caption: (output) =>
    `Bars and ± are two standard errors over models and passages. ${masks(output)} ${diagonalWeight(output)}`,
  table: ({ rows, learned }) => {
    const none = Object.fromEntries(Object.keys(rows[0]).map((name) => [name, null]));
    return tableOfRows([
      ...rows.map((row) => ({ kind: 'distance', ...row, penalty: null, kept: null, kept_error: null })),
      ...learned.map((row) => ({ kind: 'learned mask', ...none, ...row })),
    ]);
  },
};
export default drawing;
