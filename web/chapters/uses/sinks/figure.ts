import { decade } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { tableOfRows, type Panel } from '../lab-figure';
import { ModelLab, type ModelInput } from '../model-lab';
import { rowAxis, rowMarks } from '../row-marks';
import type { FigureContext, State } from '../state';
import { claimText, detailText } from './claim';
import { changeRows, LEAST, leftPanel, type SinkOutput } from './marks';
import { SINK_INPUTS, sinkInput } from './lab';

/** What sinks write, and what makes them. */
export class SinkFigure extends ModelLab<SinkOutput> {
  readonly inputs = SINK_INPUTS;
  override readonly repaintOn = ['sink_chart'] as const;

  protected ask(
    { run, state }: FigureContext,
    input: ModelInput,
    take: (output: SinkOutput, progress: number) => void,
  ): Promise<SinkOutput> {
    return run('attention-sinks', { ...sinkInput(state), ...input }, take);
  }

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
