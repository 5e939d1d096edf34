import type { Markish } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { series } from '../../../charts/palette';
import { dot, line, ruleY } from '../../../charts/plot';
import { tableOfRows } from '../../../charts/table';
import type { Drawing } from '../lab-figure';
import { errorBars } from '../marks';
import type { PositionOutput } from './lab';
import { claim, testErrors } from './words';

type Row = PositionOutput['rows'][number];
type Field = keyof Row & string;

const [BY_POSITION, BY_MEANING, AT_RANDOM] = series;

const x = 'samples_over_width';

/** A line of the theory through the points where its equations hold. */
const theory = (rows: readonly Row[], y: Field, stroke: string): Markish =>
  line(rows, { x, y, stroke, strokeWidth: 2, ariaDescription: `theory, ${y}` });

/** Means over training sets with error bars. */
const sampled = (rows: readonly Row[], y: Field, stroke: string, symbol: 'circle' | 'times' = 'circle'): Markish[] => [
  errorBars(rows, { x, y, stroke, name: y }),
  dot(rows, { x, y, r: 3.5, symbol, stroke, fill: 'var(--paper)', ariaDescription: y }),
];

/** Training loss and overlaps of tied rank-one attention over the number of training samples. */
const drawing: Drawing<PositionOutput> = {
  topic: 'Attention by position or by meaning',
  quick: { datasets: 2 },
  isShown: ({ rows }) => rows.every(({ datasets }) => datasets > 0),
  panels: ({ rows }) => {
    const samples = { inset: 6, label: 'training samples over width, n/d →', ticks: 5, tickFormat: tick };
    const y = (label: string, tickFormat: (value: number) => string) => ({ label, ticks: 6, tickFormat, nice: true });
    const [loss, overlap] = ['training loss above the start by meaning (10⁻³)', 'overlap of w'];
    return [
      {
        label: loss,
        entries: [
          { text: 'theory, large d', kind: 'line', colours: [BY_POSITION] },
          { text: 'start by position', kind: 'ring', colours: [BY_POSITION] },
          { text: 'random start', kind: 'cross', colours: [AT_RANDOM] },
        ],
        x: samples,
        y: y(loss, (value) => tick(1000 * value)),
        marks: [
          ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.5 }),
          theory(rows, 'theory_difference', BY_POSITION),
          ...sampled(rows, 'random_difference', AT_RANDOM, 'times'),
          ...sampled(rows, 'difference', BY_POSITION),
        ],
      },
      {
        label: overlap,
        entries: [
          { text: 'overlap with p, start by position', kind: 'ring', colours: [BY_POSITION] },
          { text: 'overlap with q, start by meaning', kind: 'ring', colours: [BY_MEANING] },
        ],
        x: samples,
        y: y(overlap, tick),
        marks: [
          theory(rows, 'theory_position_overlap', BY_POSITION),
          theory(rows, 'theory_meaning_overlap', BY_MEANING),
          ...sampled(rows, 'position_position_overlap', BY_POSITION),
          ...sampled(rows, 'meaning_meaning_overlap', BY_MEANING),
        ],
      },
    ];
  },
  claim,
  caption: (output) =>
    `${Math.min(...output.rows.map(({ datasets }) => datasets))} training sets. ${testErrors(output)}`,
  table: ({ rows, best_constant }) => tableOfRows(rows.map((row) => ({ ...row, best_constant }))),
};
export default drawing;
