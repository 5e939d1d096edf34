import type { Markish } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { dashedEntry, lineEntry, ringEntry, type Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, line, ruleY } from '../../../charts/plot';
import { runsAndText, type Models } from '../files';
import type { Drawing } from '../lab-figure';
import { curveMarks, errorBars } from '../marks';
import type { ContextOutput, ContextRow } from './lab';
import { claim, correlations } from './words';

/** The published models with rotary positions by their paths. */
const models = import.meta.glob<Models[string]>('../../../models/parallel-contexts/*.safetensors', {
  query: '?shipped',
  import: 'default',
  eager: true,
});

/** Readings of all blocks: lines over their number. */
const OF_ALL = { reset: 'positions reset', kept: 'positions kept', prefix: 'shared prefix', sharpened: 'sharpened' };
/** Readings of some of eight blocks. */
const OF_SOME = { mass: 'most attended', random: 'random', last: 'last' };

/** The rows of each reading of all blocks, from one block on, with the colour and dash of its line. */
const lines = (rows: readonly ContextRow[]) =>
  Object.keys(OF_ALL).map((reading, i) => ({
    reading,
    points: rows.filter((row) => row.reading === reading || row.reading === 'full'),
    stroke: series[i],
    dash: dashes[i],
  }));
/** The row of each reading of some blocks, with its colour. */
const dots = (rows: readonly ContextRow[]) =>
  Object.keys(OF_SOME).map((reading, i) => ({
    reading,
    points: rows.filter((row) => row.reading === reading),
    fill: series[3 + i],
  }));
const withoutContext = (rows: readonly ContextRow[]) => rows.filter(({ reading }) => reading === 'none');

/** Added loss over the number of blocks. */
const blockMarks = ({ rows }: ContextOutput): Markish[] => [
  ruleY(withoutContext(rows), {
    y: 'added',
    stroke: 'var(--ink)',
    strokeDasharray: '3 3',
    ariaDescription: 'no context',
  }),
  ...lines(rows).flatMap(({ reading, points, ...look }) =>
    curveMarks(points, { x: 'blocks', y: 'added', ...look, name: `added loss, ${reading}` }),
  ),
];

/** Added loss over added entropy: one curve for all readings if entropy explained the loss. */
function entropyMarks({ rows }: ContextOutput): Markish[] {
  const at = { x: 'entropy_added', y: 'added' };
  const bars = (points: readonly ContextRow[], stroke: string) =>
    errorBars(points, { ...at, stroke, name: 'added loss over entropy' });
  const cross = { symbol: 'times', stroke: 'var(--ink)', strokeWidth: 2, ariaDescription: 'entropy, none' } as const;
  return [
    ...lines(rows).flatMap(({ reading, points, stroke, dash }) => [
      line(points, { ...at, stroke, strokeDasharray: dash, ariaDescription: `path, ${reading}` }),
      bars(points, stroke),
      dot(points, { ...at, r: 3.5, stroke, fill: 'var(--paper)', ariaDescription: `entropy, ${reading}` }),
    ]),
    ...dots(rows).flatMap(({ reading, points, fill }) => [
      bars(points, fill),
      dot(points, { ...at, r: 4.5, fill, ariaDescription: `entropy, ${reading}` }),
    ]),
    dot(withoutContext(rows), { ...at, r: 5, ...cross }),
  ];
}

/** The cost of blocks read in parallel, over their number and over the entropy that they add. */
const drawing: Drawing<ContextOutput> = {
  topic: 'A context read in parallel blocks',
  quick: { sequences: 16 },
  files: () => runsAndText(models),
  panels: (output) => {
    const y = { label: 'added loss (bits per byte)', ticks: 6, tickFormat: tick, nice: true };
    return [
      {
        label: 'added loss by the number of parallel blocks',
        entries: [...Object.values(OF_ALL).map(lineEntry), dashedEntry('no context')],
        x: { type: 'log', base: 2, label: 'blocks →', ticks: [1, 2, 4, 8], tickFormat: tick, inset: 8 },
        y,
        marks: blockMarks(output),
      },
      {
        label: 'added loss by the added entropy',
        entries: [
          ...Object.values(OF_ALL).map(ringEntry),
          ...Object.values(OF_SOME).map((text, i): Entry => ({
            text: `kept: ${text}`,
            kind: 'dot',
            colours: [series[3 + i]],
          })),
          { text: 'no context', kind: 'cross', colours: ['var(--ink)'] },
        ],
        x: { label: 'added entropy of attention (nats) →', tickFormat: tick, nice: true, inset: 6 },
        y,
        marks: entropyMarks(output),
      },
    ];
  },
  claim,
  caption: (output) => `Bars and ± are two standard errors over models and passages. ${correlations(output)}`,
};
export default drawing;
