import { thousands, tick } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { bookText } from '../../shared/text-source';
import { LabFigure, tableOfRows, type Panel } from '../lab-figure';
import type { FigureContext } from '../state';
import { claimText, weightText } from './claim';
import { TOKEN_PRIOR_INPUTS, tokenPriorInput } from './lab';
import { ADDED_LINES, addedMarks, bytesOf, LOSS_LINES, lossMarks, type TokenPriorOutput } from './marks';

/** Training runs and steps, at most, while a control is dragged. */
const QUICK = { trainings: 2, steps: 50 };

/** Loss of language models that are trained with a prior of their attention on the previous token. */
export class TokenPriorFigure extends LabFigure<TokenPriorOutput> {
  readonly inputs = TOKEN_PRIOR_INPUTS;

  protected async answer(
    { run, state, quality }: FigureContext,
    take: (output: TokenPriorOutput, progress: number) => void,
  ): Promise<TokenPriorOutput> {
    const { trainings, steps } = state;
    const size =
      quality === 'quick'
        ? { trainings: Math.min(QUICK.trainings, trainings), steps: Math.min(QUICK.steps, steps) }
        : { trainings, steps };
    const { bytes: text } = await bookText();
    return run('token-prior', { ...tokenPriorInput(state), ...size, text }, take);
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

  protected tableOf({ rows }: TokenPriorOutput): Table {
    return tableOfRows(rows);
  }
}
