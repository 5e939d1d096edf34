import { decade, tick } from '../../../charts/format';
import { dashedEntry, type Entry } from '../../../charts/legend';
import { finiteCell, type Table } from '../../../charts/table';
import { askedState, LabFigure, type Panel } from '../lab-figure';
import type { FigureContext } from '../state';
import { claimText } from './claim';
import { classQuestion, valueQuestion } from './lab';
import { ALIGNED, classMarks, lengthColour, SHUFFLED, valueMarks, type LatentOutput } from './marks';

const POSTERIOR = dashedEntry('exact posterior');
const POWERS = { type: 'log', tickFormat: (value: number) => decade(value) || '' } as const;

/** Softmax attention as inference of a latent variable, against its exact posterior. */
export class LatentFigure extends LabFigure<LatentOutput> {
  readonly topic = 'Spectrum and temperature of attention as a posterior';
  readonly inputs = [...new Set([...classQuestion.inputs, ...valueQuestion.inputs])];

  protected async answer(
    context: FigureContext,
    take: (output: LatentOutput, progress: number) => void,
  ): Promise<LatentOutput> {
    const state = askedState(context, { repeats: 2 });
    const parts: Partial<LatentOutput> = {};
    const found = (part: Partial<LatentOutput>) => {
      const { classes, values } = Object.assign(parts, part);
      if (!classes || !values || classes.repeats < 2 || values.repeats < 2) return;
      take({ classes, values }, (classes.repeats + values.repeats) / (2 * state.repeats));
    };
    const [classes, values] = await Promise.all([
      context.run('latent-classes', classQuestion.in(state), (it) => found({ classes: it })),
      context.run('latent-values', valueQuestion.in(state), (it) => found({ values: it })),
    ]);
    return { classes, values };
  }

  protected panels({ classes, values }: LatentOutput): [Panel, Panel] {
    return [
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
            text: `T = ${length}`,
            kind: 'line',
            colours: [lengthColour(i)],
          })),
          POSTERIOR,
        ],
        x: { ...POWERS, label: 'softmax temperature λ →' },
        y: { ...POWERS, label: 'squared error' },
        marks: valueMarks(values),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf({ classes, values }: LatentOutput): string {
    return `${Math.min(classes.repeats, values.repeats)} draws.`;
  }

  protected tableOf({ classes, values }: LatentOutput): Table {
    const names = ['exponent', 'variance', 'tuned_loss', 'tuned_loss_error', 'shuffled_tuned_loss'] as const;
    const own = ['length', 'temperature', 'error', 'error_error', 'bias'] as const;
    const posteriors = new Map(values.lengths.map(({ length, posterior_error }) => [length, posterior_error]));
    const cell = (value: number | null) => (value === null ? null : finiteCell(value));
    return {
      columns: ['kind', ...names, ...own, 'noise_part', 'posterior'],
      rows: [
        ...classes.rows.map((row) => [
          'classes',
          ...names.map((name) => cell(row[name])),
          ...own.map(() => null),
          null,
          classes.posterior_loss,
        ]),
        ...values.points.map((point) => [
          'values',
          ...names.map(() => null),
          ...own.map((name) => cell(point[name])),
          point.variance,
          posteriors.get(point.length) ?? null,
        ]),
      ],
    };
  }
}
