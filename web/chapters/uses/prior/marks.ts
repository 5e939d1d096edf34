import type { Markish } from '@observablehq/plot';
import { dashedEntry, lineEntry, ringEntry, type Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, line, ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { curveMarks, errorBars } from '../curve-marks';

export type PriorOutput = Output<'attention-prior'>;
export type PriorRow = PriorOutput['rows'][number];

/** On which objects each prior has its weight. */
const LABELS: Record<PriorRow['prior'], string> = {
  none: 'no prior',
  correct: 'target',
  half: 'target in half',
  random: 'random object',
  uniform: 'uniform',
  wrong: 'wrong object',
};
const PRIORS = Object.keys(LABELS) as PriorRow['prior'][];

/** One line for each prior. */
export const PRIOR_LINES: Entry[] = Object.values(LABELS).map(lineEntry);
export const PRIOR_DOTS: Entry[] = [dashedEntry('W = m I'), ...Object.values(LABELS).map(ringEntry)];

const known = (rows: readonly PriorRow[], prior: string) => rows.filter((row) => row.prior === prior);

/** Accuracy over the number of training examples. */
export function accuracyMarks({ rows }: PriorOutput): Markish[] {
  return PRIORS.flatMap((prior, i) => {
    const look = { stroke: series[i], dash: dashes[i], name: `accuracy, ${prior}` };
    return curveMarks(known(rows, prior), { x: 'examples', y: 'accuracy', ...look });
  });
}

/** Weight on the target over the mean of the eigenspectrum, with that of a multiple of the identity. */
export function groundingMarks({ rows, identity }: PriorOutput): Markish[] {
  return [
    ruleY([1 / 6], { stroke: 'var(--ink)', strokeOpacity: 0.3, ariaDescription: 'equal weights' }),
    line(identity, {
      x: 'mean',
      y: 'target_weight',
      stroke: 'var(--ink)',
      strokeDasharray: '3 3',
      ariaDescription: 'W = m I',
    }),
    ...PRIORS.flatMap((prior, i) => {
      const own = known(rows, prior);
      const look = { x: 'mean', y: 'target_weight', stroke: series[i] };
      const name = `weight on the target, ${prior}`;
      return [
        errorBars(own, { ...look, name }),
        dot(own, { ...look, r: 4, fill: 'var(--paper)', ariaDescription: name }),
      ];
    }),
  ];
}
