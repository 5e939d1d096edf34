import type { Markish } from '@observablehq/plot';
import { dashedEntry, lineEntry, ringEntry, type Entry } from '../../../charts/legend';
import { dashes, series } from '../../../charts/palette';
import { dot, line, ruleY } from '../../../charts/plot';
import type { Output } from '../../../engine/protocol';
import { curveMarks, errorBars } from '../curve-marks';

export type ContextOutput = Output<'parallel-contexts'>;
export type ContextRow = ContextOutput['rows'][number];
type Reading = ContextRow['reading'];

/** Blocks of the readings that keep some of them. */
export const MOST = 8;

/** Readings of all blocks: lines over their number. */
const OF_ALL = { reset: 'positions reset', kept: 'positions kept', prefix: 'shared prefix', sharpened: 'sharpened' };
/** Readings of some of eight blocks. */
const OF_SOME = { mass: 'most attended', random: 'random', last: 'last' };
const ALL = Object.keys(OF_ALL) as (keyof typeof OF_ALL)[];
const SOME = Object.keys(OF_SOME) as (keyof typeof OF_SOME)[];

/** The row of a reading; with the blocks that it reads in parallel. */
export const contextRow = ({ rows }: ContextOutput, reading: Reading, blocks = MOST) =>
  rows.find((row) => row.reading === reading && row.blocks === blocks);

const linesOf = (rows: readonly ContextRow[], reading: Reading) =>
  rows.filter((row) => row.reading === reading || row.reading === 'full');

/** One line for each reading of all blocks. */
export const BLOCK_LINES: Entry[] = [...Object.values(OF_ALL).map(lineEntry), dashedEntry('no context')];
/** One mark for each reading. */
export const ENTROPY_MARKS: Entry[] = [
  ...Object.values(OF_ALL).map(ringEntry),
  ...SOME.map((reading, i): Entry => ({ text: `kept: ${OF_SOME[reading]}`, kind: 'dot', colours: [series[3 + i]] })),
  { text: 'no context', kind: 'cross', colours: ['var(--ink)'] },
];

/** Added loss over the number of blocks. */
export function blockMarks({ rows }: ContextOutput): Markish[] {
  return [
    ruleY(
      rows.filter(({ reading }) => reading === 'none'),
      { y: 'added', stroke: 'var(--ink)', strokeDasharray: '3 3', ariaDescription: 'no context' },
    ),
    ...ALL.flatMap((reading, i) => {
      const look = { stroke: series[i], dash: dashes[i], name: `added loss, ${reading}` };
      return curveMarks(linesOf(rows, reading), { x: 'blocks', y: 'added', ...look });
    }),
  ];
}

/** Added loss over added entropy: one curve for all readings if entropy explained the loss. */
export function entropyMarks(output: ContextOutput): Markish[] {
  const { rows } = output;
  const x = 'entropy_added';
  const bars = (own: readonly ContextRow[], stroke: string) =>
    errorBars(own, { x, y: 'added', stroke, name: 'added loss over entropy' });
  return [
    ...ALL.flatMap((reading, i) => {
      const own = linesOf(rows, reading);
      const stroke = series[i];
      return [
        line(own, { x, y: 'added', stroke, strokeDasharray: dashes[i], ariaDescription: `path, ${reading}` }),
        bars(own, stroke),
        dot(own, { x, y: 'added', r: 3.5, stroke, fill: 'var(--paper)', ariaDescription: `entropy, ${reading}` }),
      ];
    }),
    ...SOME.flatMap((reading, i) => {
      const own = rows.filter((row) => row.reading === reading);
      const fill = series[3 + i];
      return [bars(own, fill), dot(own, { x, y: 'added', r: 4.5, fill, ariaDescription: `entropy, ${reading}` })];
    }),
    dot(
      rows.filter(({ reading }) => reading === 'none'),
      { x, y: 'added', r: 5, symbol: 'times', stroke: 'var(--ink)', strokeWidth: 2, ariaDescription: 'entropy, none' },
    ),
  ];
}
