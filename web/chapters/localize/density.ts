// The density of a few dozen eigenvalues as a curve.

/** Bandwidth of the kernel over the standard deviation: narrow enough to part the two points of an ensemble. */
const BANDWIDTH = 0.5;
/** Places at which the curve is computed: so many over the axis, and as many around the mean. */
const PLACES = 90;
/** How far around the mean, in standard deviations. */
const REACH = 4.5;

/** A curve over ascending places; heights are relative to the largest. */
export interface Density {
  at: number[];
  height: number[];
  mean: number;
  deviation: number;
}

/**
 * Kernel estimate of the density of `values`; `axis` are places that the curve has in any case. Equal values
 * give a spike: three places, the outer two of height 0.
 */
export function densityOf(values: readonly number[], axis: readonly number[]): Density {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const deviation = Math.sqrt(square);
  if (!(deviation > 1e-12 * Math.max(1, Math.abs(mean)))) {
    return { at: [mean, mean, mean], height: [0, 1, 0], mean, deviation: 0 };
  }
  const near = Array.from({ length: PLACES + 1 }, (_, i) => mean + deviation * REACH * ((2 * i) / PLACES - 1));
  const at = [...axis, ...near].sort((a, b) => a - b);
  const width = BANDWIDTH * deviation;
  const height = at.map((place) =>
    values.reduce((sum, value) => sum + Math.exp(-0.5 * ((place - value) / width) ** 2), 0),
  );
  const most = Math.max(...height);
  return { at, height: height.map((it) => it / most), mean, deviation };
}

/** Evenly spaced places of an axis, from pixels. */
export function axisPlaces(from: number, to: number, invert: (pixel: number) => number): number[] {
  return Array.from({ length: PLACES + 1 }, (_, i) => invert(from + ((to - from) * i) / PLACES));
}
