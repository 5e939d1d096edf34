// What the figure of the experiment on rank collapse shows.
import { analysed, type PublishedResults } from './published-results';

/** Runs of one initialization, and the share of them that left the plateau, with its 95% interval. */
export interface Escape {
  depth: number;
  scale: number;
  alpha: number;
  runs: number;
  below: number;
  share: number;
  low: number;
  high: number;
}

/** By rising depth, then by rising scale, then by rising alpha. */
export function escapesOf(results: PublishedResults): Escape[] {
  type Row = Omit<Escape, 'depth' | 'scale' | 'alpha'> & { axes: Record<string, string> };
  return analysed<Row>(results, 'share')
    .map(({ axes, runs, below, share, low, high }) => ({
      ...{ depth: Number(axes.depth), scale: Number(axes.init_scale), alpha: Number(axes.alpha) },
      ...{ runs, below, share, low, high },
    }))
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

/** Bits per byte below which a run has left the plateau. */
export function thresholdOf({ analysis }: PublishedResults): number {
  return analysis.find(({ kind }) => kind === 'share')!.below!;
}

export function sumOf(points: readonly Escape[], name: 'runs' | 'below'): number {
  return points.reduce((sum, point) => sum + point[name], 0);
}
