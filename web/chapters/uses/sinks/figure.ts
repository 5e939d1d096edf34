import type { Markish, ScaleOptions } from '@observablehq/plot';
import { decade, tick } from '../../../charts/format';
import { dashedEntry, lineEntry, ringEntry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, line, ruleX, ruleY } from '../../../charts/plot';
import { tableOfRows } from '../../../charts/table';
import type { Drawing, Panel } from '../lab-figure';
import { barEnd, curveMarks, rowAxis, rowMarks, type Row } from '../marks';
import type { State } from '../state';
import { changeRow, type Change, type SinkOutput } from './lab';
import { claim, details } from './words';

type Head = SinkOutput['heads'][number];

/** Changes of the output below this are at the edge of the logarithmic axis. */
const LEAST = 1e-4;

/** What is changed in all heads, in the order of the chart. */
const NAMES = {
  'zero-value': 'first value set to 0',
  'mean-value': 'first value set to the average',
  'random-value': 'control: random first value of that norm',
  dropped: 'first key dropped',
  direction: 'sink direction removed',
  'zero-other': 'control: another value set to 0',
  'dropped-other': 'control: another key dropped',
  random: 'control: random direction removed',
} as const satisfies Partial<Record<Change, string>>;
const CHANGES = Object.keys(NAMES) as (keyof typeof NAMES)[];

/** Change of the output by each intervention. */
function changeRows(output: SinkOutput): Row[] {
  return CHANGES.map((change) => {
    const row = changeRow(output, change);
    const colour = NAMES[change].startsWith('control') ? 'var(--muted)' : series[change.endsWith('value') ? 0 : 1];
    return { name: NAMES[change], value: row?.output_change ?? null, error: row?.output_change_error ?? null, colour };
  });
}

const x = { label: 'attention to the first token →', tickFormat: tick, nice: true, inset: 6 } satisfies ScaleOptions;

function headDots(heads: readonly Head[], y: keyof Head & string, stroke: string, name: string, bars = false) {
  const atLeast = bars && y === 'value_norm' ? 1e-3 : -Infinity;
  return [
    ...(bars
      ? [
          ruleX(heads, {
            x: 'sink',
            y1: (row: Head) => Math.max(atLeast, barEnd(y, -1)(row)),
            y2: barEnd(y, 1),
            ...{ stroke, strokeOpacity: 0.5, ariaDescription: `error bars, ${name}` },
          }),
        ]
      : []),
    dot(heads, { x: 'sink', y, r: 3, stroke, fill: 'var(--paper)', ariaDescription: name }),
  ];
}

/** The norm of the first token's value in each head. */
function valueMarks({ heads }: SinkOutput): Markish[] {
  return [
    ruleY([1], { stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'norm of the content' }),
    ...headDots(heads, 'value_norm', series[0], 'norms', true),
  ];
}

const LINES = [
  ['position', 'start rather than middle'],
  ['token', 'first token rather than another'],
] as const;

function layerMarks({ layers }: SinkOutput): Markish[] {
  return [
    ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.5 }),
    ...LINES.flatMap(([y], i) => curveMarks(layers, { x: 'layer', y, stroke: series[i], dash: dashes[i], name: y })),
  ];
}

/** The chart of heads or layers that the state asks for. */
function leftPanel(output: SinkOutput, chart: State['sink_chart']): Panel {
  const { heads, layers } = output;
  switch (chart) {
    case 'values':
      return {
        label: 'norm of the first token’s value over the attention to it',
        entries: [ringEntry('a head', 0), dashedEntry('mean norm of the content')],
        x,
        y: { type: 'log', label: 'norm of the first value over the content’s', tickFormat: decade, inset: 6 },
        marks: valueMarks(output),
      };
    case 'tags':
      return {
        label: 'alignment of each head’s output with the first token’s value',
        entries: [ringEntry('along the first value (tag)', 1), ringEntry('against the mean value of the content', 0)],
        x,
        y: { label: 'cosine', domain: [-1, 1], tickFormat: tick },
        marks: [
          ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.5 }),
          ...headDots(heads, 'missing_cosine', series[0], 'against the content'),
          ...headDots(heads, 'tag_cosine', series[1], 'along the tag'),
        ],
      };
    case 'direction':
      return {
        label: 'attention to the first token with a direction removed',
        entries: [
          ringEntry('sink direction removed', 0),
          ringEntry('random direction removed', 1),
          dashedEntry('as trained'),
        ],
        x,
        y: { label: 'attention without the direction', tickFormat: tick, nice: true },
        marks: [
          line(heads, {
            x: 'sink',
            y: 'sink',
            stroke: 'var(--ink)',
            strokeDasharray: '3 3',
            ariaDescription: 'as trained',
            sort: 'sink',
          }),
          ...headDots(heads, 'sink_random', series[1], 'random direction'),
          ...headDots(heads, 'sink_without', series[0], 'sink direction'),
        ],
      };
    case 'moved':
      return {
        label: 'effects of position and token on the sink by layer',
        entries: LINES.map(([, text], i) => lineEntry(text, i)),
        x: { label: 'layer →', ticks: layers.map(({ layer }) => layer), tickFormat: tick, inset: 10 },
        y: { label: 'difference of attention', tickFormat: tick, nice: true },
        marks: layerMarks(output),
      };
  }
}

/** What the first token receives and writes in each head, and the change of the output by interventions. */
const drawing: Drawing<SinkOutput> = {
  topic: 'What the first token receives and writes',
  repaintOn: ['sink_chart'],
  onModel: true,
  panels: (output, { sink_chart }) => {
    const rows = changeRows(output);
    return [
      leftPanel(output, sink_chart),
      {
        label: 'change of the output by intervention',
        entries: [],
        x: { type: 'log', label: 'change of the output (1 − cosine) →', tickFormat: decade, inset: 8 },
        y: rowAxis(rows),
        marks: rowMarks(rows, LEAST),
      },
    ];
  },
  claim,
  caption: (output) => `Bars and ± are two standard errors over passages. ${details(output)}`,
  table: ({ rows, heads, layers }) =>
    tableOfRows([
      ...rows.map((row) => ({ kind: 'change', ...row })),
      ...heads.map((row) => ({ kind: 'head', ...row })),
      ...layers.map((row) => ({ kind: 'layer', ...row })),
    ]),
};
export default drawing;
