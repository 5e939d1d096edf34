import { tick } from '../../../charts/format';
import { rowsTable, type Panel } from '../lab-figure';
import { QuestionLab } from '../question-lab';
import { claimText, directionText } from './claim';
import { agentQuestion } from './lab';
import { AGENT_LINES, type AgentOutput, crowdMarks, mostDistractors, scaleMarks } from './marks';

/** Accuracy of policies over the number and the scale of irrelevant features. */
export class AgentFigure extends QuestionLab<'agent-attention'> {
  readonly topic = 'Attention and perceptrons with irrelevant features';
  protected readonly question = agentQuestion;
  protected override readonly quick = { trainings: 2 };

  protected panels(output: AgentOutput): [Panel, Panel] {
    const ticks = (name: 'distractors' | 'scale') => [...new Set(output.rows.map((row) => row[name]))];
    const y = { label: 'accuracy on fresh observations', ticks: 6, tickFormat: tick, domain: [0.2, 1] };
    return [
      {
        label: 'accuracy by the number of irrelevant features',
        entries: AGENT_LINES,
        x: { label: 'irrelevant features, D →', ticks: ticks('distractors'), tickFormat: tick, inset: 6 },
        y,
        marks: crowdMarks(output),
      },
      {
        label: 'accuracy by the scale of irrelevant features',
        entries: AGENT_LINES,
        x: {
          label: `scale of ${mostDistractors(output)} irrelevant features (training: 1) →`,
          ticks: ticks('scale'),
          tickFormat: tick,
          inset: 6,
        },
        y,
        marks: scaleMarks(output),
      },
    ];
  }

  protected claimOf = claimText;

  protected captionOf(output: AgentOutput): string {
    const runs = Math.min(...output.rows.map(({ trainings }) => trainings));
    return `${runs} training runs. ${directionText(output)}`;
  }

  protected tableOf = rowsTable;
}
