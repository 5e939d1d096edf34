import { tick } from '../../../charts/format';
import { rowsTable, type Panel } from '../lab-figure';
import { QuestionLab } from '../question-lab';
import { QUICK_SEQUENCES, runsAndText } from '../runs';
import { claimText, correlationText } from './claim';
import { contextQuestion } from './lab';
import { BLOCK_LINES, blockMarks, ENTROPY_MARKS, entropyMarks, type ContextOutput } from './marks';
import { CONTEXT_MODELS } from './models';

/** The cost of blocks read in parallel, over their number and over the entropy that they add. */
export class ContextFigure extends QuestionLab<'parallel-contexts'> {
  readonly topic = 'A context read in parallel blocks';
  protected readonly question = contextQuestion;
  protected override readonly quick = QUICK_SEQUENCES;

  protected override files() {
    return runsAndText(CONTEXT_MODELS);
  }

  protected panels(output: ContextOutput): [Panel, Panel] {
    const y = { label: 'added loss (bits per byte)', ticks: 6, tickFormat: tick, nice: true };
    return [
      {
        label: 'added loss by the number of parallel blocks',
        entries: BLOCK_LINES,
        x: { type: 'log', base: 2, label: 'blocks →', ticks: [1, 2, 4, 8], tickFormat: tick, inset: 8 },
        y,
        marks: blockMarks(output),
      },
      {
        label: 'added loss by the added entropy',
        entries: ENTROPY_MARKS,
        x: { label: 'added entropy of attention (nats) →', tickFormat: tick, nice: true, inset: 6 },
        y,
        marks: entropyMarks(output),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: ContextOutput): string {
    return `Bars and ± are two standard errors over models and passages. ${correlationText(output)}`;
  }

  protected tableOf = rowsTable;
}
