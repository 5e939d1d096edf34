import type { Markish } from '@observablehq/plot';
import type { Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, line, ruleX, ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { BARS } from '../../../charts/with-error';

export type PriorOutput = Output<'attention-prior'>;
export type PriorRow = PriorOutput['rows'][number];

/** On which objects each prior has its weight. */
const LABELS: Record<PriorRow['prior'], string> = {
  none: 'no prior',
  correct: 'target',
  half: 'target in half',
  random: 'random object',
  uniform: 'uniform',
  wrong: 'wrong object',
};
const PRIORS = Object.keys(LABELS) as PriorRow['prior'][];

/** One line for each prior. */
export const PRIOR_LINES: Entry[] = PRIORS.map((prior, i) => ({
  text: LABELS[prior],
  kind: 'line',
  colours: [series[i]],
  dash: dashes[i],
}));
export const PRIOR_DOTS: Entry[] = [
  { text: 'W = m I', kind: 'line', colours: ['var(--ink)'], dash: '3 3' },
  ...PRIORS.map((prior, i): Entry => ({ text: LABELS[prior], kind: 'ring', colours: [series[i]] })),
];

const known = (rows: readonly PriorRow[], prior: string) =>
  rows.filter((row) => row.prior === prior && row.trainings > 0);

/** Accuracy over the number of training examples. */
export function accuracyMarks({ rows }: PriorOutput): Markish[] {
  const x = 'examples';
  return PRIORS.flatMap((prior, i) => {
    const own = known(rows, prior);
    const stroke = series[i];
    const end = (side: number) => (row: PriorRow) => (row.accuracy ?? NaN) + side * BARS * (row.accuracy_error ?? NaN);
    return [
      line(own, {
        x,
        y: 'accuracy',
        stroke,
        strokeWidth: 2,
        strokeDasharray: dashes[i],
        ariaDescription: `line, ${prior}`,
      }),
      ruleX(
        own.filter(({ trainings }) => trainings > 1),
        { x, y1: end(-1), y2: end(1), stroke, strokeWidth: 1.5, ariaDescription: `error bars, ${prior}` },
      ),
      dot(own, { x, y: 'accuracy', r: 3, stroke, fill: 'var(--paper)', ariaDescription: `accuracy, ${prior}` }),
    ];
  });
}

/** Weight on the target over the mean of the eigenspectrum, with that of a multiple of the identity. */
export function groundingMarks({ rows, identity }: PriorOutput): Markish[] {
  return [
    ruleY([1 / 6], { stroke: 'var(--ink)', strokeOpacity: 0.3, ariaDescription: 'equal weights' }),
    line(identity, {
      x: 'mean',
      y: 'target_weight',
      stroke: 'var(--ink)',
      strokeDasharray: '3 3',
      ariaDescription: 'W = m I',
    }),
    ...PRIORS.flatMap((prior, i) => {
      const own = known(rows, prior);
      const y = (side: number) => (row: PriorRow) =>
        (row.target_weight ?? NaN) + side * BARS * (row.target_weight_error ?? NaN);
      return [
        ruleX(
          own.filter(({ trainings }) => trainings > 1),
          { x: 'mean', y1: y(-1), y2: y(1), stroke: series[i], ariaDescription: `error bars of the weight, ${prior}` },
        ),
        dot(own, {
          x: 'mean',
          y: 'target_weight',
          r: 4,
          stroke: series[i],
          fill: 'var(--paper)',
          ariaDescription: `weight on the target, ${prior}`,
        }),
      ];
    }),
  ];
}
