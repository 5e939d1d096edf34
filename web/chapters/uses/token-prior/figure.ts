import type { Markish } from '@observablehq/plot';
import { thousands, tick } from '../../../charts/format';
import { lineEntry } from '../../../charts/legend';
import { ruleY } from '../../../charts/plot';
import { bookText } from '../../shared/text-source';
import { trainingRuns, type Drawing } from '../lab-figure';
import { curveMarks, grouped } from '../marks';
import { bytesOf, type Prior, type TokenPriorOutput } from './lab';
import { claim, weights } from './words';

/** On which key each prior has its weight. */
const LABELS: Record<Prior, string> = { none: 'no prior', previous: 'previous token', far: 'token 16 before' };
const LINES = Object.values(LABELS).map(lineEntry);

/** A value over the number of training bytes, a line for each prior. */
const curves = ({ rows }: TokenPriorOutput, y: 'loss' | 'added') =>
  grouped(rows, 'prior', Object.keys(LABELS)).map(({ name, rows: points, ...look }) =>
    curveMarks(points, { x: 'bytes', y, ...look, name: `${y}, ${name}` }),
  );

/** Loss of language models that are trained with a prior of their attention on the previous token. */
const drawing: Drawing<TokenPriorOutput> = {
  topic: 'Gain of a prior on an earlier token',
  quick: { trainings: 2, steps: 50 },
  files: async () => ({ text: (await bookText()).bytes }),
  panels: (output) => {
    const x = {
      type: 'log' as const,
      label: 'training bytes, n →',
      ticks: bytesOf(output),
      tickFormat: thousands,
      inset: 12,
    };
    const y = (label: string) => ({ label: `${label} (bits per byte)`, ticks: 6, tickFormat: tick, nice: true });
    const zero: Markish = ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.3, ariaDescription: 'no prior' });
    return [
      { label: 'loss on validation text', entries: LINES, x, y: y('loss'), marks: curves(output, 'loss').flat() },
      {
        label: 'loss that a prior adds',
        entries: LINES.slice(1),
        x,
        y: y('added loss'),
        marks: [zero, ...curves(output, 'added').slice(1).flat()],
      },
    ];
  },
  claim,
  caption: (output) => `${trainingRuns(output)} training runs; bars and ± are two standard errors. ${weights(output)}`,
};
export default drawing;
