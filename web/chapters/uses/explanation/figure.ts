import { tick } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { tableOfRows, type Panel } from '../lab-figure';
import { ModelLab } from '../model-lab';
import { rowAxis, rowMarks } from '../row-marks';
import type { State } from '../state';
import { claimText, detailText } from './claim';
import { explanationRows, HEAD_ENTRIES, headMarks, type ExplanationOutput } from './marks';
import { explanationQuestion } from './lab';

const SCALES = { correlation: 'rank correlation with the change', information: 'information on the change (bits)' };

/** How well attention explains what the output loses without a token. */
export class ExplanationFigure extends ModelLab<'attention-explanation'> {
  readonly topic = 'Attention and the tokens that matter';
  protected readonly question = explanationQuestion;
  override readonly repaintOn = ['removal', 'agreement_scale'] as const;

  protected panelsOf(output: ExplanationOutput, { removal, agreement_scale }: Readonly<State>): [Panel, Panel] {
    const rows = explanationRows(output, removal, agreement_scale);
    const label = SCALES[agreement_scale];
    const layers = [...new Set(output.heads.map(({ layer }) => layer))];
    return [
      {
        label: 'agreement of each head’s attention with the change',
        entries: HEAD_ENTRIES,
        x: { label: 'layer →', ticks: layers, tickFormat: tick, inset: 6 },
        y: { label, tickFormat: tick, nice: true },
        marks: headMarks(output, removal, agreement_scale),
      },
      {
        label: 'agreement of explanations with the change',
        entries: [],
        x: { label: `${label} →`, ticks: 5, tickFormat: tick, nice: true, inset: 8 },
        y: rowAxis(rows),
        marks: rowMarks(rows),
      },
    ];
  }

  protected claimOf(output: ExplanationOutput): string {
    return claimText(output, this.store.state.removal);
  }

  protected captionOf(output: ExplanationOutput): string {
    const detail = detailText(output, this.store.state.removal);
    return `${this.sampleText()} Bars and ± are two standard errors over passages. ${detail}`;
  }

  protected tableOf({ rows, heads }: ExplanationOutput): Table {
    return tableOfRows([
      ...rows.map((row) => ({ kind: 'explanation', ...row })),
      ...heads.map((row) => ({ kind: 'head', ...row })),
    ]);
  }
}
