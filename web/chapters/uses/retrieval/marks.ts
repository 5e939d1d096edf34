import type { Markish } from '@observablehq/plot';
import { dashedEntry, ringEntry, type Entry } from '../../../charts/legend';
import { fieldRamp, series, stripOf } from '../../../charts/palette';
import { dot, line, ruleX } from '../../../charts/plot';
import { BARS } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';

export type RetrievalOutput = Output<'hard-retrieval'>;
type Head = RetrievalOutput['heads'][number];
type Model = RetrievalOutput['models'][number];

/** Losses below this many bits are at the edge of the logarithmic axes. */
const LEAST = 3e-4;

const atLeast = (value: number | null) => Math.max(LEAST, value ?? LEAST);
const mostPeaked = (heads: readonly Head[]) => Math.max(0.01, ...heads.map(({ measured }) => measured));

/** The colours of the heads. */
export function headEntries({ heads }: RetrievalOutput): Entry[] {
  const text = `measured P(max S > c), 0 to ${mostPeaked(heads).toFixed(2)}`;
  return [{ text, kind: 'strip', colours: stripOf(fieldRamp()) }, dashedEntry('hard = uniform')];
}

/** What hard attention costs each head over what uniform weights cost it. */
export function headMarks({ heads }: RetrievalOutput): Markish[] {
  const ends = heads.flatMap(({ hard, uniform }) => [atLeast(hard), atLeast(uniform)]);
  const diagonal = heads.length > 0 ? [Math.min(...ends), Math.max(...ends)] : [];
  const ramp = fieldRamp();
  const most = mostPeaked(heads);
  const x = ({ uniform }: Head) => atLeast(uniform);
  const end = (side: number) => (head: Head) => atLeast((head.hard ?? NaN) + side * BARS * (head.hard_error ?? NaN));
  return [
    line(diagonal, {
      x: (it: number) => it,
      y: (it: number) => it,
      stroke: 'var(--ink)',
      strokeDasharray: '3 3',
      ariaDescription: 'diagonal',
    }),
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
export const READINGS = ['soft', 'hard', 'uniform', 'random'] as const;

const KINDS = ['softmax', 'hard'] as const satisfies readonly Model['trained'][];

/** One line for each kind of training. */
export const MODEL_LINES: Entry[] = ['trained with softmax', 'trained with hard attention'].map(ringEntry);

/** The loss of each model by how its heads read. */
export function modelMarks({ models }: RetrievalOutput): Markish[] {
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
