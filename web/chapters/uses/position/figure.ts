import type { Markish } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { legend, type Entry } from '../../../charts/legend';
import { chart, compose, gridX, gridY } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import type { Figure, FigureContext } from '../state';
import { claimText, testText } from './claim';
import { AT_RANDOM, BY_MEANING, BY_POSITION, lossMarks, overlapMarks, type PositionOutput } from './marks';
import { POSITION_INPUTS, positionInput } from './questions';

/** Below this width the two charts stand one above the other. */
const NARROW = 640;
/** Training sets while a control is dragged. */
const QUICK = 2;
/** Losses are shown in thousandths. */
const THOUSANDTHS = (value: number) => tick(1000 * value);

const LOSS: Entry[] = [
  { text: 'theory, large d', kind: 'line', colours: [BY_POSITION] },
  { text: 'start by position', kind: 'ring', colours: [BY_POSITION] },
  { text: 'random start', kind: 'cross', colours: [AT_RANDOM] },
];
const OVERLAPS: Entry[] = [
  { text: 'with p, start by position', kind: 'ring', colours: [BY_POSITION] },
  { text: 'with q, start by meaning', kind: 'ring', colours: [BY_MEANING] },
];

/** Training loss and overlaps of tied rank-one attention over the number of training samples. */
export class PositionFigure implements Figure {
  readonly id = 'position-meaning';
  readonly inputs = POSITION_INPUTS;
  readonly repaintOn = [];
  readonly frame = new Frame(this.id, () => this.table());
  private claim = child(this.frame.root, '[data-claim]');

  private output: PositionOutput | null;

  /** `first` is the whole answer to the first question, where it is known already. */
  constructor(private first: PositionOutput | null) {
    this.output = first;
  }

  async compute(context: FigureContext): Promise<void> {
    const { first } = this;
    this.first = null;
    if (first) context.show(0);
    const input = positionInput(context.state);
    const datasets = context.quality === 'quick' ? Math.min(QUICK, context.state.datasets) : context.state.datasets;
    const take = (output: PositionOutput, progress: number) => {
      if (output.rows.some((row) => row.datasets === 0)) return;
      if (!first) this.output = output;
      context.show(progress);
    };
    this.output = await context.run('position-meaning', { ...input, datasets }, take);
  }

  paint(): void {
    const { output, frame } = this;
    if (!output) return;
    const wide = frame.width >= NARROW;
    const width = wide ? Math.floor(frame.width / 2) : frame.width;
    const panels = [
      this.panel(width, 'training loss above the start by meaning (10⁻³)', LOSS, lossMarks(output), THOUSANDTHS),
      this.panel(width, 'overlap of w', OVERLAPS, overlapMarks(output), tick),
    ];
    const heights = panels.map(({ viewBox }) => viewBox.baseVal.height);
    const most = Math.max(...heights);
    const parts = panels.map((svg, i) => ({
      svg,
      x: wide ? i * width : 0,
      y: wide ? most - heights[i] : i * heights[0],
    }));
    const height = wide ? most : heights[0] + heights[1];
    const caption = `${this.counted(output)} ${testText(output)}`;
    this.claim.textContent = claimText(output);
    frame.put(compose(parts, { width: frame.width, height }, `${claimText(output)} ${caption}`));
    frame.say(caption);
  }

  table(): Table | null {
    const { output } = this;
    if (!output) return null;
    const columns = Object.keys(output.rows[0]) as (keyof PositionOutput['rows'][number])[];
    const rows = output.rows.map((row) => [...columns.map((name) => row[name]), output.best_constant]);
    return { columns: [...columns, 'best_constant'], rows };
  }

  private counted({ rows }: PositionOutput): string {
    return `${Math.min(...rows.map(({ datasets }) => datasets))} training sets, bars are two standard errors.`;
  }

  private panel(width: number, label: string, entries: Entry[], marks: Markish[], format: (value: number) => string) {
    const key = legend(entries, 52, width - 8, 22);
    return chart({
      label,
      width,
      height: this.frame.height({ share: width < this.frame.width ? 0.36 : 0.6, least: 240, most: 340 }) + key.height,
      marginTop: key.height + 12,
      marginLeft: 52,
      marginRight: 16,
      marginBottom: 44,
      x: { inset: 6, label: 'training samples over width, n/d →', labelAnchor: 'center', ticks: 5, tickFormat: tick },
      y: { label, ticks: 6, tickFormat: format, nice: true },
      marks: [gridX({ strokeOpacity: 0.08 }), gridY({ strokeOpacity: 0.08 }), () => key.render(), ...marks],
    }).svg;
  }
}
