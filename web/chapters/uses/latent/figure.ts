import type { Markish } from '@observablehq/plot';
import { count, decade, tick } from '../../../charts/format';
import { dashedEntry, type Entry } from '../../../charts/legend';
import { series } from '../../../charts/palette';
import { dot, line, ruleX, ruleY } from '../../../charts/plot';
import { tableOfRows } from '../../../charts/table';
import type { Drawing } from '../lab-figure';
import { barEnd, curveMarks } from '../marks';
import type { ClassOutput, LatentOutput, ValueOutput } from './lab';
import { claim } from './words';

const [ALIGNED, SHUFFLED] = series;
const POSTERIOR = dashedEntry('exact posterior');
const POWERS = { type: 'log', tickFormat: (value: number) => decade(value) || '' } as const;

const lengthColour = (place: number) => series[place % series.length];

/** Cross-entropy over the variance of the eigenspectrum of W. */
const classMarks = ({ rows, posterior_loss }: ClassOutput): Markish[] => [
  ruleY([posterior_loss], { stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'exact posterior' }),
  ...(['shuffled_tuned_loss', 'tuned_loss'] as const).flatMap((y) =>
    curveMarks(rows, { x: 'variance', y, stroke: y === 'tuned_loss' ? ALIGNED : SHUFFLED, name: y }),
  ),
];

/** Error over the temperature, a line for each length, with the exact posterior at each length. */
const valueMarks = ({ points, lengths }: ValueOutput): Markish[] =>
  lengths.flatMap((row, i) => {
    const stroke = lengthColour(i);
    const curve = points.filter((point) => point.length === row.length);
    const name = (what: string) => ({ ariaDescription: `${what}, ${row.length} keys` });
    return [
      ruleY([row.posterior_error], { stroke, strokeDasharray: '3 3', strokeOpacity: 0.8, ...name('exact posterior') }),
      ruleX(
        curve.filter((_, k) => k % 4 === 0),
        {
          x: 'temperature',
          y1: (point) => Math.max((point.error ?? NaN) / 10, barEnd('error', -1)(point)),
          y2: barEnd('error', 1),
          stroke,
          ...name('error bars'),
        },
      ),
      line(curve, { x: 'temperature', y: 'error', stroke, strokeWidth: 2, ...name('attention') }),
      dot([row], { x: 'best_temperature', y: 'best_error', r: 4, fill: stroke, ...name('least error') }),
    ];
  });

/** Softmax attention as inference of a latent variable, against its exact posterior. */
const drawing: Drawing<LatentOutput> = {
  topic: 'Spectrum and temperature of attention as a posterior',
  quick: { repeats: 2 },
  isShown: ({ classes, values }) => Math.min(classes.repeats, values.repeats) >= 2,
  panels: ({ classes, values }) => [
    {
      label: 'cross-entropy',
      entries: [
        { text: 'W = Σ⁻ᵗ', kind: 'ring', colours: [ALIGNED] },
        { text: 'other directions', kind: 'ring', colours: [SHUFFLED] },
        POSTERIOR,
      ],
      x: { label: 'variance of the eigenspectrum →', ticks: 5, tickFormat: tick },
      y: { label: 'cross-entropy (nats)', ticks: 6, tickFormat: tick, zero: true },
      marks: classMarks(classes),
    },
    {
      label: 'squared error by temperature',
      entries: [
        ...values.lengths.map(({ length }, i): Entry => ({
          text: `T = ${count(length)}`,
          kind: 'line',
          colours: [lengthColour(i)],
        })),
        POSTERIOR,
      ],
      x: { ...POWERS, label: 'softmax temperature λ →' },
      y: { ...POWERS, label: 'squared error' },
      marks: valueMarks(values),
    },
  ],
  claim,
  caption: ({ classes, values }) => `${Math.min(classes.repeats, values.repeats)} draws.`,
  table: ({ classes, values }) => {
    const posteriors = new Map(values.lengths.map(({ length, posterior_error }) => [length, posterior_error]));
    return tableOfRows([
      ...classes.rows.map(({ exponent, variance, tuned_loss, tuned_loss_error, ...row }) => ({
        kind: 'classes',
        exponent,
        variance,
        tuned_loss,
        tuned_loss_error,
        shuffled_tuned_loss: row.shuffled_tuned_loss,
        posterior: classes.posterior_loss,
      })),
      ...values.points.map(({ length, temperature, error, error_error, bias, variance }) => ({
        kind: 'values',
        length,
        temperature,
        error,
        error_error,
        bias,
        noise_part: variance,
        posterior: posteriors.get(length) ?? null,
      })),
    ]);
  },
};
export default drawing;
