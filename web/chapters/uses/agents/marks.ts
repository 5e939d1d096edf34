import type { Markish } from '@observablehq/plot';
import { lineEntry, type Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { curveMarks } from '../curve-marks';

export type AgentOutput = Output<'agent-attention'>;
export type AgentRow = AgentOutput['rows'][number];

/** What the hidden layer of each policy reads. */
const LABELS: Record<AgentRow['policy'], string> = {
  attention: 'self-attention',
  uniform: 'uniform weights',
  gate: 'static gate',
  sparse: 'perceptron, L1',
  plain: 'perceptron',
};
const POLICIES = Object.keys(LABELS) as AgentRow['policy'][];

/** One line for each policy. */
export const AGENT_LINES: Entry[] = Object.values(LABELS).map(lineEntry);

/** The accuracy of each policy over one column of its rows. */
function curves(output: AgentOutput, rows: readonly AgentRow[], x: 'distractors' | 'scale'): Markish[] {
  const { most_frequent } = output;
  return [
    ruleY(most_frequent === null ? [] : [most_frequent], {
      stroke: 'var(--ink)',
      strokeOpacity: 0.3,
      ariaDescription: 'most frequent action',
    }),
    ...POLICIES.flatMap((policy, i) => {
      const own = rows.filter((row) => row.policy === policy);
      const look = { stroke: series[i], dash: dashes[i], name: `accuracy over ${x}, ${policy}` };
      return curveMarks(own, { x, y: 'accuracy', ...look });
    }),
  ];
}

/** Accuracy over the number of distractors that are as loud as in training. */
export function crowdMarks(output: AgentOutput): Markish[] {
  return curves(
    output,
    output.rows.filter(({ scale }) => scale === 1),
    'distractors',
  );
}

/** The largest number of distractors. */
export function mostDistractors({ rows }: AgentOutput): number {
  return Math.max(...rows.map(({ distractors }) => distractors));
}

/** Accuracy over the scale of the largest number of distractors. */
export function scaleMarks(output: AgentOutput): Markish[] {
  const most = mostDistractors(output);
  return curves(
    output,
    output.rows.filter(({ distractors }) => distractors === most),
    'scale',
  );
}
