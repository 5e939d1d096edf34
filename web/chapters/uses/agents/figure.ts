import { tick } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { LabFigure, tableOfRows, type Panel } from '../lab-figure';
import type { FigureContext } from '../state';
import { claimText, directionText } from './claim';
import { AGENT_INPUTS, agentInput } from './lab';
import { AGENT_LINES, type AgentOutput, crowdMarks, mostDistractors, scaleMarks } from './marks';

/** Training runs while a control is dragged. */
const QUICK = 2;

/** Accuracy of policies over the number and the scale of irrelevant features. */
export class AgentFigure extends LabFigure<AgentOutput> {
  readonly inputs = AGENT_INPUTS;

  protected answer(
    { run, state, quality }: FigureContext,
    take: (output: AgentOutput, progress: number) => void,
  ): Promise<AgentOutput> {
    const trainings = quality === 'quick' ? Math.min(QUICK, state.trainings) : state.trainings;
    return run('agent-attention', { ...agentInput(state), trainings }, take);
  }

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

  protected tableOf({ rows }: AgentOutput): Table {
    return tableOfRows(rows);
  }
}
