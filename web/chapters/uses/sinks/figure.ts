import { decade } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { tableOfRows, type Panel } from '../lab-figure';
import { ModelLab } from '../model-lab';
import { rowAxis, rowMarks } from '../row-marks';
import type { State } from '../state';
import { claimText, detailText } from './claim';
import { changeRows, LEAST, leftPanel, type SinkOutput } from './marks';
import { sinkQuestion } from './lab';

/** What sinks write, and what makes them. */
export class SinkFigure extends ModelLab<'attention-sinks'> {
  readonly topic = 'What the first token receives and writes';
  protected readonly question = sinkQuestion;
  override readonly repaintOn = ['sink_chart'] as const;

  protected panelsOf(output: SinkOutput, { sink_chart }: Readonly<State>): [Panel, Panel] {
    const rows = changeRows(output);
    return [
      leftPanel(output, sink_chart),
      {
        label: 'change of the output by intervention',
        entries: [],
        x: { type: 'log', label: 'change of the output (1 − cosine) →', tickFormat: decade, inset: 8 },
        y: rowAxis(rows),
        marks: rowMarks(rows, LEAST),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: SinkOutput): string {
    return `${this.sampleText()} Bars and ± are two standard errors over passages. ${detailText(output)}`;
  }

  protected tableOf({ rows, heads, layers }: SinkOutput): Table {
    return tableOfRows([
      ...rows.map((row) => ({ kind: 'change', ...row })),
      ...heads.map((row) => ({ kind: 'head', ...row })),
      ...layers.map((row) => ({ kind: 'layer', ...row })),
    ]);
  }
}
