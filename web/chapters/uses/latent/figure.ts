import { decade, tick } from '../../../charts/format';
import { legend, type Entry } from '../../../charts/legend';
import { chart, compose, gridX, gridY } from '../../../charts/plot';
import { finiteCell, type Table } from '../../../charts/table';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import type { Figure, FigureContext } from '../state';
import { claimText } from './claim';
import { ALIGNED, classMarks, lengthColour, SHUFFLED, valueMarks, type LatentOutput } from './marks';
import { classInput, LATENT_INPUTS, valueInput } from './questions';

/** Below this width the two charts stand one above the other. */
const NARROW = 640;
/** Draws while a control is dragged. */
const QUICK = 2;

/** Softmax attention as inference of a latent variable, against its exact posterior. */
export class LatentFigure implements Figure {
  readonly id = 'latent-posterior';
  readonly inputs = LATENT_INPUTS;
  readonly repaintOn = [];
  readonly frame = new Frame(this.id, () => this.table());
  private claim = child(this.frame.root, '[data-claim]');

  private output: LatentOutput | null;

  /** `first` is the whole answer to the first question, where it is known already. */
  constructor(private first: LatentOutput | null) {
    this.output = first;
  }

  async compute(context: FigureContext): Promise<void> {
    const { first } = this;
    this.first = null;
    if (first) context.show(0);
    const { state, quality } = context;
    const repeats = quality === 'quick' ? Math.min(QUICK, state.repeats) : state.repeats;
    const parts: Partial<LatentOutput> = {};
    const take = (found: Partial<LatentOutput>) => {
      Object.assign(parts, found);
      const { classes, values } = parts;
      if (!classes || !values || classes.repeats < 2 || values.repeats < 2) return;
      const isWhole = classes.repeats === repeats && values.repeats === repeats;
      if (!first || isWhole) this.output = { classes, values };
      context.show((classes.repeats + values.repeats) / (2 * repeats));
    };
    const onClasses = (classes: LatentOutput['classes']) => take({ classes });
    const onValues = (values: LatentOutput['values']) => take({ values });
    await Promise.all([
      context.run('latent-classes', { ...classInput(state), repeats }, onClasses).then(onClasses),
      context.run('latent-values', { ...valueInput(state), repeats }, onValues).then(onValues),
    ]);
  }

  paint(): void {
    const { output, frame } = this;
    if (!output) return;
    const wide = frame.width >= NARROW;
    const width = wide ? Math.floor(frame.width / 2) : frame.width;
    const panels = [this.classPanel(output, width), this.valuePanel(output, width)];
    const heights = panels.map(({ viewBox }) => viewBox.baseVal.height);
    const most = Math.max(...heights);
    const parts = panels.map((svg, i) => ({
      svg,
      x: wide ? i * width : 0,
      y: wide ? most - heights[i] : i * heights[0],
    }));
    const height = wide ? most : heights[0] + heights[1];
    const counted = `${Math.min(output.classes.repeats, output.values.repeats)} draws, bars are two standard errors.`;
    this.claim.textContent = claimText(output);
    frame.put(compose(parts, { width: frame.width, height }, `${claimText(output)} ${counted}`));
    frame.say(counted);
  }

  table(): Table | null {
    const { output } = this;
    if (!output) return null;
    const { classes, values } = output;
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

  private shape(width: number, key: number) {
    const share = width < this.frame.width ? 0.36 : 0.6;
    return {
      width,
      height: this.frame.height({ share, least: 240, most: 340 }) + key,
      marginTop: key + 12,
      marginLeft: 52,
      marginRight: 16,
      marginBottom: 44,
    };
  }

  private classPanel({ classes }: LatentOutput, width: number): SVGSVGElement {
    const entries: Entry[] = [
      { text: 'W = Σ⁻ᵗ', kind: 'ring', colours: [ALIGNED] },
      { text: 'other directions', kind: 'ring', colours: [SHUFFLED] },
      { text: 'exact posterior', kind: 'line', colours: ['var(--ink)'], dash: '3 3' },
    ];
    const key = legend(entries, 52, width - 8, 22);
    return chart({
      label: 'cross-entropy',
      ...this.shape(width, key.height),
      x: { label: 'variance of the eigenspectrum →', labelAnchor: 'center', ticks: 5, tickFormat: tick },
      y: { label: 'cross-entropy (nats)', ticks: 6, tickFormat: tick, zero: true },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        () => key.render(),
        ...classMarks(classes),
      ],
    }).svg;
  }

  private valuePanel({ values }: LatentOutput, width: number): SVGSVGElement {
    const entries: Entry[] = [
      ...values.lengths.map(({ length }, i): Entry => ({
        text: `T = ${length}`,
        kind: 'line',
        colours: [lengthColour(i)],
      })),
      { text: 'exact posterior', kind: 'line', colours: ['var(--ink)'], dash: '3 3' },
    ];
    const key = legend(entries, 52, width - 8, 22);
    return chart({
      label: 'error',
      ...this.shape(width, key.height),
      x: {
        type: 'log',
        label: 'softmax temperature λ →',
        labelAnchor: 'center',
        tickFormat: (value: number) => decade(value) || '',
      },
      y: { type: 'log', label: 'squared error', tickFormat: (value: number) => decade(value) || '' },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        () => key.render(),
        ...valueMarks(values),
      ],
    }).svg;
  }
}
