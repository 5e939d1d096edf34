import type { Markish } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { lineEntry } from '../../../charts/legend';
import { ruleY } from '../../../charts/plot';
import { trainingRuns, type Drawing } from '../lab-figure';
import { curveMarks, grouped } from '../marks';
import type { AgentOutput, AgentRow, Policy } from './lab';
import { claim, directions } from './words';

/** What the hidden layer of each policy reads. */
const LABELS: Record<Policy, string> = {
  attention: 'self-attention',
  uniform: 'uniform weights',
  gate: 'static gate',
  sparse: 'perceptron, L1',
  plain: 'perceptron',
};

/** The accuracy of each policy over one column of its rows. */
function curves(output: AgentOutput, x: 'distractors' | 'scale', rows: readonly AgentRow[]): Markish[] {
  const { most_frequent } = output;
  const frequent = { stroke: 'var(--ink)', strokeOpacity: 0.3, ariaDescription: 'most frequent action' };
  return [
    ruleY(most_frequent === null ? [] : [most_frequent], frequent),
    ...grouped(rows, 'policy', Object.keys(LABELS)).flatMap(({ name, rows: points, ...look }) =>
      curveMarks(points, { x, y: 'accuracy', ...look, name: `accuracy over ${x}, ${name}` }),
    ),
  ];
}

/** Accuracy of policies over the number and the scale of irrelevant features. */
const drawing: Drawing<AgentOutput> = {
  topic: 'Attention and perceptrons with irrelevant features',
  quick: { trainings: 2 },
  panels: (output) => {
    const { rows } = output;
    const most = Math.max(...rows.map(({ distractors }) => distractors));
    const entries = Object.values(LABELS).map(lineEntry);
    const x = (name: 'distractors' | 'scale', label: string) => ({
      label,
      ticks: [...new Set(rows.map((row) => row[name]))],
      tickFormat: tick,
      inset: 6,
    });
    const y = { label: 'accuracy on fresh observations', ticks: 6, tickFormat: tick, domain: [0.2, 1] };
    return [
      {
        label: 'accuracy by the number of irrelevant features',
        entries,
        x: x('distractors', 'irrelevant features, D →'),
        y,
        marks: curves(
          output,
          'distractors',
          rows.filter(({ scale }) => scale === 1),
        ),
      },
      {
        label: 'accuracy by the scale of irrelevant features',
        entries,
        x: x('scale', `scale of ${most} irrelevant features (training: 1) →`),
        y,
        marks: curves(
          output,
          'scale',
          rows.filter(({ distractors }) => distractors === most),
        ),
      },
    ];
  },
  claim,
  caption: (output) => `${trainingRuns(output)} training runs. ${directions(output)}`,
};
export default drawing;
