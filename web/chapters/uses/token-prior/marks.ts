import type { Markish } from '@observablehq/plot';
import { lineEntry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { curveMarks } from '../curve-marks';

export type TokenPriorOutput = Output<'token-prior'>;
export type TokenPriorRow = TokenPriorOutput['rows'][number];

/** On which key each prior has its weight. */
const LABELS: Record<TokenPriorRow['prior'], string> = {
  none: 'no prior',
  previous: 'previous token',
  far: 'token 16 before',
};
const PRIORS = Object.keys(LABELS) as TokenPriorRow['prior'][];

export function rowOf({ rows }: TokenPriorOutput, prior: TokenPriorRow['prior'], bytes: number): TokenPriorRow {
  const found = rows.find((row) => row.prior === prior && row.bytes === bytes);
  if (!found) throw new Error(`no row of ${prior} and ${bytes}`);
  return found;
}

export const bytesOf = ({ rows }: TokenPriorOutput): number[] => [...new Set(rows.map(({ bytes }) => bytes))];

/** The smallest and the largest number of training bytes. */
export function endsOf(output: TokenPriorOutput): [number, number] {
  const all = bytesOf(output);
  return [Math.min(...all), Math.max(...all)];
}

export const LOSS_LINES = Object.values(LABELS).map(lineEntry);
export const ADDED_LINES = LOSS_LINES.slice(1);

/** A value with its error bars over the number of training bytes, a line for each prior. */
function marksOf(
  rows: readonly TokenPriorRow[],
  priors: readonly TokenPriorRow['prior'][],
  y: 'loss' | 'added',
): Markish[] {
  return priors.flatMap((prior) => {
    const i = PRIORS.indexOf(prior);
    const own = rows.filter((row) => row.prior === prior);
    return curveMarks(own, { x: 'bytes', y, stroke: series[i], dash: dashes[i], name: `${y}, ${prior}` });
  });
}

/** Loss over the number of training bytes. */
export const lossMarks = ({ rows }: TokenPriorOutput): Markish[] => marksOf(rows, PRIORS, 'loss');

/** What each prior adds to it. */
export const addedMarks = ({ rows }: TokenPriorOutput): Markish[] => [
  ruleY([0], { stroke: 'var(--ink)', strokeOpacity: 0.3, ariaDescription: 'no prior' }),
  ...marksOf(rows, PRIORS.slice(1), 'added'),
];
