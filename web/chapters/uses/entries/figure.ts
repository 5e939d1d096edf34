import type { Table } from '../../../charts/table';
import { tableOfRows, type Panel } from '../lab-figure';
import { QuestionLab } from '../question-lab';
import { QUICK_SEQUENCES, runsAndText } from '../runs';
import type { State } from '../state';
import { claimText, diagonalText, maskText } from './claim';
import { entryQuestion } from './lab';
import { COST_LINES, costMarks, costScale, DISTANCES, maskLines, maskMarks, type EntryOutput } from './marks';
import { entryModels } from './models';

/** What trained models lose without a distance between query and key, and the distances that a learned mask keeps. */
export class EntryFigure extends QuestionLab<'attention-entries'> {
  readonly topic = 'Cost of removing distances';
  protected readonly question = entryQuestion;
  protected override readonly quick = QUICK_SEQUENCES;

  protected override files(state: Readonly<State>) {
    return runsAndText(entryModels(state));
  }

  protected panels(output: EntryOutput): [Panel, Panel] {
    return [
      {
        label: 'added loss without the entries at a distance',
        entries: COST_LINES,
        x: DISTANCES,
        y: costScale(output),
        marks: costMarks(output),
      },
      {
        label: 'probability that the learned mask keeps a distance',
        entries: maskLines(output),
        x: DISTANCES,
        y: { label: 'probability of being kept', domain: [0, 1] },
        marks: maskMarks(output),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: EntryOutput): string {
    return `Bars and ± are two standard errors over models and passages. ${maskText(output)} ${diagonalText(output)}`;
  }

  protected tableOf({ rows, learned }: EntryOutput): Table {
    const none = Object.fromEntries(Object.keys(rows[0]).map((name) => [name, null]));
    return tableOfRows([
      ...rows.map((row) => ({ kind: 'distance', ...row, penalty: null, kept: null, kept_error: null })),
      ...learned.map((row) => ({ kind: 'learned mask', ...none, ...row })),
    ]);
  }
}
