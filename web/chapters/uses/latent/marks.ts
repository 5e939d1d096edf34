import type { Markish } from '@observablehq/plot';
import { series } from '../../../charts/palette';
import { dot, line, ruleX, ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { barEnd, curveMarks } from '../curve-marks';

export type ClassOutput = Output<'latent-classes'>;
export type ValueOutput = Output<'latent-values'>;
export interface LatentOutput {
  classes: ClassOutput;
  values: ValueOutput;
}

export const [ALIGNED, SHUFFLED] = series;
export const lengthColour = (place: number) => series[place % series.length];

/** Cross-entropy over the variance of the eigenspectrum of W. */
export function classMarks({ rows, posterior_loss }: ClassOutput): Markish[] {
  const marks = (y: 'tuned_loss' | 'shuffled_tuned_loss', stroke: string) =>
    curveMarks(rows, { x: 'variance', y, stroke, name: y });
  return [
    ruleY([posterior_loss], { stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'exact posterior' }),
    ...marks('shuffled_tuned_loss', SHUFFLED),
    ...marks('tuned_loss', ALIGNED),
  ];
}

/** Error over the temperature, a line for each length, with the exact posterior at each length. */
export function valueMarks({ points, lengths }: ValueOutput): Markish[] {
  return lengths.flatMap(({ length, posterior_error, best_temperature, best_error }, i) => {
    const stroke = lengthColour(i);
    const own = points.filter((point) => point.length === length);
    const name = (what: string) => ({ ariaDescription: `${what}, ${length} keys` });
    return [
      ruleY([posterior_error], { stroke, strokeDasharray: '3 3', strokeOpacity: 0.8, ...name('exact posterior') }),
      ruleX(
        own.filter((_, k) => k % 4 === 0),
        {
          x: 'temperature',
          y1: (point) => Math.max((point.error ?? NaN) / 10, barEnd('error', -1)(point)),
          y2: barEnd('error', 1),
          stroke,
          ...name('error bars'),
        },
      ),
      line(own, { x: 'temperature', y: 'error', stroke, strokeWidth: 2, ...name('attention') }),
      dot([{ best_temperature, best_error }], {
        x: 'best_temperature',
        y: 'best_error',
        r: 4,
        fill: stroke,
        ...name('least error'),
      }),
    ];
  });
}
