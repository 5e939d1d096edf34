// What the figure of the experiment on rank collapse shows.
import { tick } from '../../../charts/format';
import { areEqual } from '../../../state/control';
import { analysed, type PublishedResults } from '../experiments/results';
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

/** What a depth and a scale are called in sentences. */
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
