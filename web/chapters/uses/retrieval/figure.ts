import type { Markish } from '@observablehq/plot';
import { decade, tick } from '../../../charts/format';
import { dashedEntry, ringEntry } from '../../../charts/legend';
import { fieldRamp, series, stripOf } from '../../../charts/palette';
import { dot, line, ruleX } from '../../../charts/plot';
import { BARS } from '../../../charts/with-error';
import { runsAndText, type Models } from '../files';
import { tableOfRows } from '../../../charts/table';
import type { Drawing } from '../lab-figure';
import type { RetrievalOutput } from './lab';
import { claim, correlations } from './words';

type Head = RetrievalOutput['heads'][number];
type Model = RetrievalOutput['models'][number];

/** The published models by their paths. */
const models = import.meta.glob<Models[string]>('../../../models/hard-retrieval/*.safetensors', {
  query: '?shipped',
  import: 'default',
  eager: true,
});

/** Losses below this many bits are at the edge of the logarithmic axes. */
const LEAST = 3e-4;

const atLeast = (value: number | null) => Math.max(LEAST, value ?? LEAST);
const mostPeaked = (heads: readonly Head[]) => Math.max(0.01, ...heads.map(({ measured }) => measured));

/** What hard attention costs each head over what uniform weights cost it. */
function headMarks({ heads }: RetrievalOutput): Markish[] {
  const ends = heads.flatMap(({ hard, uniform }) => [atLeast(hard), atLeast(uniform)]);
  const diagonal = heads.length > 0 ? [Math.min(...ends), Math.max(...ends)] : [];
  const ramp = fieldRamp();
  const same = (value: number) => value;
  const most = mostPeaked(heads);
  const x = ({ uniform }: Head) => atLeast(uniform);
  const end = (side: number) => (head: Head) => atLeast((head.hard ?? NaN) + side * BARS * (head.hard_error ?? NaN));
  return [
    line(diagonal, { x: same, y: same, stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'diagonal' }),
    ruleX(heads, {
      x,
      y1: end(-1),
      y2: end(1),
      stroke: 'var(--ink)',
      strokeOpacity: 0.5,
      ariaDescription: 'error bars',
    }),
    dot(heads, {
      x,
      y: ({ hard }: Head) => atLeast(hard),
      r: 4.5,
      stroke: 'var(--ink)',
      strokeOpacity: 0.6,
      fill: ({ measured }: Head) => `rgb(${ramp(measured / most).join(' ')})`,
      ariaDescription: 'heads',
    }),
  ];
}

/** How all heads of a model read their keys. */
const READINGS = ['soft', 'hard', 'uniform', 'random'] as const;

const KINDS = ['softmax', 'hard'] as const satisfies readonly Model['trained'][];

/** The loss of each model by how its heads read. */
function modelMarks({ models }: RetrievalOutput): Markish[] {
  return KINDS.flatMap((kind, i) => {
    const stroke = series[i];
    const rows = models
      .filter(({ trained }) => trained === kind)
      .flatMap((model) => READINGS.map((reading, place) => ({ place, seed: model.seed, loss: model[reading] })));
    return [
      line(rows, { x: 'place', y: 'loss', z: 'seed', stroke, strokeWidth: 1, ariaDescription: `lines, ${kind}` }),
      dot(rows, { x: 'place', y: 'loss', r: 3.5, stroke, fill: 'var(--paper)', ariaDescription: `losses, ${kind}` }),
    ];
  });
}

const BITS = { type: 'log', inset: 6, tickFormat: (value: number) => decade(value) || '' } as const;

/** The cost of hard attention, head by head and in whole models. */
const drawing: Drawing<RetrievalOutput> = {
  topic: 'Cost of hard attention and of uniform weights',
  quick: { sequences: 16 },
  files: () => runsAndText(models),
  panels: (output) => {
    const peaked = `measured P(max S > c), 0 to ${mostPeaked(output.heads).toFixed(2)}`;
    return [
      {
        label: 'cost of hard attention in one head',
        entries: [{ text: peaked, kind: 'strip', colours: stripOf(fieldRamp()) }, dashedEntry('hard = uniform')],
        x: { ...BITS, label: 'bits per byte that uniform weights add →' },
        y: { ...BITS, label: 'bits per byte that hard attention adds' },
        marks: headMarks(output),
      },
      {
        label: 'loss by the attention weights in all heads',
        entries: ['trained with softmax', 'trained with hard attention'].map(ringEntry),
        x: {
          label: 'weights in all heads',
          labelArrow: 'none',
          ticks: [...READINGS.keys()],
          tickFormat: (i: number) => READINGS[i],
          inset: 24,
        },
        y: { label: 'loss (bits per byte)', ticks: 6, tickFormat: tick, nice: true },
        marks: modelMarks(output),
      },
    ];
  },
  claim,
  caption: (output) =>
    `${output.heads.length} heads. Bars are two standard errors over sequences, ± over training runs. ` +
    correlations(output),
  table: ({ heads, models }) =>
    tableOfRows([
      ...heads.map(({ seed, ...head }) => ({ trained: 'softmax', seed, ...head })),
      ...models.map(({ trained, seed, ...model }) => ({
        trained,
        seed,
        ...Object.fromEntries(READINGS.map((reading) => [`loss_${reading}`, model[reading]])),
      })),
    ]),
};
export default drawing;
