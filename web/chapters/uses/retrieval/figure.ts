import { decade, tick } from '../../../charts/format';
import { finiteCell, type Table } from '../../../charts/table';
import type { Panel } from '../lab-figure';
import { QuestionLab } from '../question-lab';
import { QUICK_SEQUENCES, runsAndText } from '../runs';
import { claimText, localizationText } from './claim';
import { retrievalQuestion } from './lab';
import { headEntries, headMarks, MODEL_LINES, modelMarks, READINGS, type RetrievalOutput } from './marks';
import { RETRIEVAL_MODELS } from './models';

const BITS = { type: 'log', inset: 6, tickFormat: (value: number) => decade(value) || '' } as const;

/** The cost of hard attention, head by head and in whole models. */
export class RetrievalFigure extends QuestionLab<'hard-retrieval'> {
  readonly topic = 'Cost of hard attention and of uniform weights';
  protected readonly question = retrievalQuestion;
  protected override readonly quick = QUICK_SEQUENCES;

  protected override files() {
    return runsAndText(RETRIEVAL_MODELS);
  }

  protected panels(output: RetrievalOutput): [Panel, Panel] {
    return [
      {
        label: 'cost of hard attention in one head',
        entries: headEntries(output),
        x: { ...BITS, label: 'bits per byte that uniform weights add →' },
        y: { ...BITS, label: 'bits per byte that hard attention adds' },
        marks: headMarks(output),
      },
      {
        label: 'loss by the attention weights in all heads',
        entries: MODEL_LINES,
        x: {
          label: 'weights in all heads',
          labelArrow: 'none',
          ticks: [...READINGS.keys()],
          tickFormat: (i: number) => READINGS[i],
          inset: 24,
        },
        y: { label: 'loss (bits per byte)', ticks: 6, tickFormat: tick, nice: true },
        marks: modelMarks(output),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: RetrievalOutput): string {
    return (
      `${output.heads.length} heads. Bars are two standard errors over sequences, ± over training runs. ` +
      localizationText(output)
    );
  }

  protected tableOf({ heads, models }: RetrievalOutput): Table {
    const names = Object.keys(heads[0] ?? {}) as (keyof RetrievalOutput['heads'][number])[];
    const own = names.filter((name) => name !== 'seed');
    const losses = READINGS.map((reading) => `loss_${reading}`);
    const cell = (value: number | null) => (value === null ? null : finiteCell(value));
    return {
      columns: ['trained', 'seed', ...own, ...losses],
      rows: [
        ...heads.map((head) => [
          'softmax',
          head.seed,
          ...own.map((name) => cell(head[name])),
          ...losses.map(() => null),
        ]),
        ...models.map((model) => [
          model.trained,
          model.seed,
          ...own.map(() => null),
          ...READINGS.map((reading) => cell(model[reading])),
        ]),
      ],
    };
  }
}
