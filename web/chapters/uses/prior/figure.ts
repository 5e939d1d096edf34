import { tick } from '../../../charts/format';
import { rowsTable, type Panel } from '../lab-figure';
import { QuestionLab } from '../question-lab';
import { claimText, groundingText } from './claim';
import { priorQuestion } from './lab';
import { accuracyMarks, groundingMarks, PRIOR_DOTS, PRIOR_LINES, type PriorOutput } from './marks';

/** Accuracy and grounding of attention that is trained with a prior on its weights. */
export class PriorFigure extends QuestionLab<'attention-prior'> {
  readonly topic = 'Gain of attention priors';
  protected readonly question = priorQuestion;
  protected override readonly quick = { trainings: 2 };

  protected panels(output: PriorOutput): [Panel, Panel] {
    const counts = [...new Set(output.rows.map(({ examples }) => examples))];
    return [
      {
        label: 'accuracy',
        entries: PRIOR_LINES,
        x: { type: 'log', label: 'training examples, n →', ticks: counts, tickFormat: tick, inset: 6 },
        y: { label: 'accuracy on fresh scenes', ticks: 6, tickFormat: tick, domain: [0, 1] },
        marks: accuracyMarks(output),
      },
      {
        label: 'weight on the target',
        entries: PRIOR_DOTS,
        x: { label: 'mean of the eigenspectrum of W, m →', ticks: 5, tickFormat: tick, inset: 6 },
        y: { label: 'attention weight on the target', ticks: 6, tickFormat: tick, domain: [0, 1] },
        marks: groundingMarks(output),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: PriorOutput): string {
    const runs = Math.min(...output.rows.map(({ trainings }) => trainings));
    return `${runs} training runs. ${groundingText(output)}`;
  }

  protected tableOf = rowsTable;
}
