import { tick } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import type { Panel } from '../lab-figure';
import { QuestionLab } from '../question-lab';
import type { FigureContext } from '../state';
import { claimText, testText } from './claim';
import { positionQuestion } from './lab';
import { AT_RANDOM, BY_MEANING, BY_POSITION, lossMarks, overlapMarks, type PositionOutput } from './marks';

/** Losses are shown in thousandths. */
const THOUSANDTHS = (value: number) => tick(1000 * value);

const LOSS: Panel['entries'] = [
  { text: 'theory, large d', kind: 'line', colours: [BY_POSITION] },
  { text: 'start by position', kind: 'ring', colours: [BY_POSITION] },
  { text: 'random start', kind: 'cross', colours: [AT_RANDOM] },
];
const OVERLAPS: Panel['entries'] = [
  { text: 'overlap with p, start by position', kind: 'ring', colours: [BY_POSITION] },
  { text: 'overlap with q, start by meaning', kind: 'ring', colours: [BY_MEANING] },
];

/** Training loss and overlaps of tied rank-one attention over the number of training samples. */
export class PositionFigure extends QuestionLab<'position-meaning'> {
  readonly topic = 'Attention by position or by meaning';
  protected readonly question = positionQuestion;
  protected override readonly quick = { datasets: 2 };

  /** Shows a part of the answer that has all points only. */
  protected override answer(context: FigureContext, take: (output: PositionOutput, progress: number) => void) {
    return super.answer(context, (output, progress) => {
      if (output.rows.every(({ datasets }) => datasets > 0)) take(output, progress);
    });
  }

  protected panels(output: PositionOutput): [Panel, Panel] {
    const x = { inset: 6, label: 'training samples over width, n/d →', ticks: 5, tickFormat: tick };
    const y = (label: string, tickFormat: (value: number) => string) => ({ label, ticks: 6, tickFormat, nice: true });
    const [loss, overlap] = ['training loss above the start by meaning (10⁻³)', 'overlap of w'];
    return [
      { label: loss, entries: LOSS, x, y: y(loss, THOUSANDTHS), marks: lossMarks(output) },
      { label: overlap, entries: OVERLAPS, x, y: y(overlap, tick), marks: overlapMarks(output) },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: PositionOutput): string {
    const sets = Math.min(...output.rows.map(({ datasets }) => datasets));
    return `${sets} training sets. ${testText(output)}`;
  }

  protected tableOf(output: PositionOutput): Table {
    const columns = Object.keys(output.rows[0]) as (keyof PositionOutput['rows'][number])[];
    const rows = output.rows.map((row) => [...columns.map((name) => row[name]), output.best_constant]);
    return { columns: [...columns, 'best_constant'], rows };
  }
}
