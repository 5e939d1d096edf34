import { thousands, tick } from '../../../charts/format';
import { bookText } from '../../shared/text-source';
import { rowsTable, type Panel } from '../lab-figure';
import { QuestionLab } from '../question-lab';
import { claimText, weightText } from './claim';
import { tokenPriorQuestion } from './lab';
import { ADDED_LINES, addedMarks, bytesOf, LOSS_LINES, lossMarks, type TokenPriorOutput } from './marks';

/** Loss of language models that are trained with a prior of their attention on the previous token. */
export class TokenPriorFigure extends QuestionLab<'token-prior'> {
  readonly topic = 'Gain of a prior on an earlier token';
  protected readonly question = tokenPriorQuestion;
  protected override readonly quick = { trainings: 2, steps: 50 };

  protected override async files() {
    return { text: (await bookText()).bytes };
  }

  protected panels(output: TokenPriorOutput): [Panel, Panel] {
    const x = {
      type: 'log' as const,
      label: 'training bytes, n →',
      ticks: bytesOf(output),
      tickFormat: thousands,
      inset: 12,
    };
    return [
      {
        label: 'loss on validation text',
        entries: LOSS_LINES,
        x,
        y: { label: 'loss (bits per byte)', ticks: 6, tickFormat: tick, nice: true },
        marks: lossMarks(output),
      },
      {
        label: 'loss that a prior adds',
        entries: ADDED_LINES,
        x,
        y: { label: 'added loss (bits per byte)', ticks: 6, tickFormat: tick, nice: true },
        marks: addedMarks(output),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: TokenPriorOutput): string {
    const runs = Math.min(...output.rows.map(({ trainings }) => trainings));
    return `${runs} training runs; bars and ± are two standard errors. ${weightText(output)}`;
  }

  protected tableOf = rowsTable;
}
