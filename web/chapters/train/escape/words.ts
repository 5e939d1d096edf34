// What the figure of the experiment on rank collapse shows.
import { short, tick } from '../../../charts/format';
import { areEqual } from '../../../state/equal';
import { analysed, labelsOf, type PublishedResults } from '../experiments/results';
import { isInsignificant, signed, testText } from '../experiments/rows';

/** Runs of one initialization, and the share of them that learned more than letter frequencies, with its 95% interval. */
export interface Escape {
  depth: number;
  scale: number;
  alpha: number;
  /** Mean of the eigenspectrum at initialization, over runs. */
  mean: number;
  runs: number;
  below: number;
  share: number;
  low: number;
  high: number;
  /**
   * Final loss in bits per byte minus that with alpha = 0 from the same seeds, and the p value of the paired
   * test, corrected by Holm's method; null for alpha = 0 itself.
   */
  difference: number | null;
  p: number | null;
}

/** By rising depth, then by rising scale, then by rising alpha. */
export function escapesOf(results: PublishedResults): Escape[] {
  type Row = Pick<Escape, 'runs' | 'below' | 'share' | 'low' | 'high'> & { axes: Record<string, string> };
  return analysed<Row>(results, 'share')
    .map(({ axes, runs, below, share, low, high }) => {
      const has = (it: { axes: Record<string, string> }) => areEqual(it.axes, axes);
      const { difference = null, holm: p = null } = results.summary.find(has)!.bits_per_byte;
      const means = results.cells.filter(has).map(({ initial }) => initial.mean!);
      return {
        depth: Number(axes.depth),
        scale: Number(axes.init_scale),
        alpha: Number(axes.alpha),
        mean: means.reduce((sum, mean) => sum + mean, 0) / means.length,
        runs,
        below,
        share,
        low,
        high,
        difference,
        p,
      };
    })
    .sort((a, b) => a.depth - b.depth || a.scale - b.scale || a.alpha - b.alpha);
}

/** Initializations of one depth and scale: they differ in alpha alone. */
export interface EscapeGroup {
  depth: number;
  scale: number;
  points: Escape[];
}

/** In the order of the points. */
export function groupsOf(points: readonly Escape[]): EscapeGroup[] {
  const groups: EscapeGroup[] = [];
  for (const point of points) {
    const { depth, scale } = point;
    const group = groups.find((it) => it.depth === depth && it.scale === scale);
    if (group) group.points.push(point);
    else groups.push({ depth, scale, points: [point] });
  }
  return groups;
}

/** The two initializations of a group whose intervals lie farthest apart; nothing where all overlap. */
export function apartOf({ points }: EscapeGroup): { lower: Escape; upper: Escape } | undefined {
  const lower = points.reduce((a, b) => (b.high < a.high ? b : a));
  const upper = points.reduce((a, b) => (b.low > a.low ? b : a));
  return upper.low > lower.high ? { lower, upper } : undefined;
}

export const groupName = ({ depth, scale }: { depth: number; scale: number }) =>
  `depth\u00a0${depth}, s\u00a0=\u00a0${tick(scale)}`;

/** Which initializations end with another loss than alpha = 0, by paired tests. */
export function pairedText(points: readonly Escape[]): string {
  const tested = points.filter(({ p }) => p !== null);
  const found = tested.filter((point) => !isInsignificant(point));
  const said = found.map(
    (it) => `${groupName(it)}, α = ${tick(it.alpha)} (${signed(it.difference!)} bits per byte, ${testText(it.p)})`,
  );
  const which = said.length > 0 ? said.join('; ') : 'none';
  return (
    `Of ${tested.length} paired tests of the final loss against α = 0, those with p below 0.05 after Holm’s ` +
    `correction: ${which}.`
  );
}

/** Bits per byte below which a run has learned more than letter frequencies. */
export function thresholdOf({ analysis }: PublishedResults): number {
  return analysis.find(({ kind }) => kind === 'share')!.below!;
}

export function sumOf(points: readonly Escape[], name: 'runs' | 'below'): number {
  return points.reduce((sum, point) => sum + point[name], 0);
}

/** Which intervals of one depth and scale do not overlap. */
export function apartText(points: readonly Escape[]): string {
  const apart = groupsOf(points).flatMap((group) => {
    const ends = apartOf(group);
    return ends ? `${groupName(group)}: α = ${tick(ends.upper.alpha)} above α = ${tick(ends.lower.alpha)}` : [];
  });
  return apart.length > 0
    ? `Intervals that do not overlap: ${apart.join('; ')}.`
    : 'At each depth and s the intervals of all α overlap.';
}

/** How many runs end below the threshold, by the sign of the mean. */
export function countsText(points: readonly Escape[], threshold: number): string {
  const counted = groupsOf(points).map((group) => {
    const of = (sign: number) => {
      const signed = group.points.filter(({ alpha }) => Math.sign(alpha) === sign);
      return `${sumOf(signed, 'below')} of ${sumOf(signed, 'runs')}`;
    };
    return `${groupName(group)}: ${of(1)}, ${of(0)}, ${of(-1)}`;
  });
  return (
    `Runs that end below ${short(threshold)} bits per byte, with a positive mean, mean 0 and a negative mean: ` +
    `${counted.join('; ')}.`
  );
}

/** Which depths and scales have no run; '' where all have one. */
export function lackingText(results: PublishedResults, points: readonly Escape[]): string {
  const all = labelsOf(results, 'depth').flatMap((depth) =>
    labelsOf(results, 'init_scale').map((scale) => ({ depth: Number(depth), scale: Number(scale) })),
  );
  const lacking = all.filter(({ depth, scale }) => !points.some((it) => it.depth === depth && it.scale === scale));
  return lacking.length > 0 ? `No run yet of ${lacking.map(groupName).join('; ')}.` : '';
}
