import type { Markish } from '@observablehq/plot';
import { tick } from '../../../charts/format';
import { dashedEntry, lineEntry, ringEntry } from '../../../charts/legend';
import { dot, line, ruleY } from '../../../charts/plot';
import { trainingRuns, type Drawing } from '../lab-figure';
import { curveMarks, errorBars, grouped } from '../marks';
import type { Prior, PriorOutput } from './lab';
import { claim, grounding } from './words';

/** On which objects each prior has its weight. */
const LABELS: Record<Prior, string> = {
  none: 'no prior',
  correct: 'target',
  half: 'target in half',
  random: 'random object',
  uniform: 'uniform',
  wrong: 'wrong object',
};

const byPrior = ({ rows }: PriorOutput) => grouped(rows, 'prior', Object.keys(LABELS));

/** Weight on the target over the mean of the eigenspectrum, with that of a multiple of the identity. */
const groundingMarks = (output: PriorOutput): Markish[] => [
  ruleY([1 / 6], { stroke: 'var(--ink)', strokeOpacity: 0.3, ariaDescription: 'equal weights' }),
  line(output.identity, {
    x: 'mean',
    y: 'target_weight',
    stroke: 'var(--ink)',
    strokeDasharray: '3 3',
    ariaDescription: 'W = m I',
  }),
  ...byPrior(output).flatMap(({ name: prior, rows, stroke }) => {
    const look = { x: 'mean', y: 'target_weight', stroke };
    const name = `weight on the target, ${prior}`;
    return [
      errorBars(rows, { ...look, name }),
      dot(rows, { ...look, r: 4, fill: 'var(--paper)', ariaDescription: name }),
    ];
  }),
];

/** Accuracy and grounding of attention that is trained with a prior on its weights. */
const drawing: Drawing<PriorOutput> = {
  topic: 'Gain of attention priors',
  quick: { trainings: 2 },
  panels: (output) => [
    {
      label: 'accuracy',
      entries: Object.values(LABELS).map(lineEntry),
      x: {
        type: 'log',
        label: 'training examples, n →',
        ticks: [...new Set(output.rows.map(({ examples }) => examples))],
        tickFormat: tick,
        inset: 6,
      },
      y: { label: 'accuracy on fresh scenes', ticks: 6, tickFormat: tick, domain: [0, 1] },
      marks: byPrior(output).flatMap(({ name, rows, ...look }) =>
        curveMarks(rows, { x: 'examples', y: 'accuracy', ...look, name: `accuracy, ${name}` }),
      ),
    },
    {
      label: 'weight on the target',
      entries: [dashedEntry('W = m I'), ...Object.values(LABELS).map(ringEntry)],
      x: { label: 'mean of the eigenspectrum of W, m →', ticks: 5, tickFormat: tick, inset: 6 },
      y: { label: 'attention weight on the target', ticks: 6, tickFormat: tick, domain: [0, 1] },
      marks: groundingMarks(output),
    },
  ],
  claim,
  caption: (output) => `${trainingRuns(output)} training runs. ${grounding(output)}`,
};
export default drawing;
