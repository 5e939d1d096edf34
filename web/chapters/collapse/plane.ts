import { lastVariance, widthOf } from '../../state/setting';
import { allowed, limitsOf } from '../../state/control';
import type { State } from './state';

/** Cells of a map along either axis. */
export const CELLS = 24;
/** The same with one more cell at both ends: contours should not end where the map does. */
export const WIDE = CELLS + 2;

type Range = [number, number];

/** Means by variances, cut into cells: equal steps of the mean and of the variance's logarithm. */
export interface Plane {
  x: Range;
  y: Range;
}

/** The next of 1, 2, 5, 10, 20, ... that is not below a positive value. */
function roundUp(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5].find((it) => it * decade >= value * (1 - 1e-9)) ?? 10;
  return Number((step * decade).toPrecision(1));
}

/**
 * What is worth seeing: logits from even to sharp on both sides of a zero mean, and the present
 * point. A token met with itself has a logit of m d / lambda, and the others spread by
 * sqrt(d v) / lambda, where tokens have the variance 1 (as normalization makes them).
 */
export function planeOf(state: Readonly<State>): Plane {
  const { mean, variance, temperature, layer_norm } = state;
  const width = widthOf(state) || 1;
  const scale = layer_norm === 'none' ? lastVariance(state) : 1;
  const unit = temperature ** 2 / (width * scale ** 2);
  const half = Math.min(
    limitsOf('mean').maximum,
    roundUp(Math.max((16 * temperature) / (width * scale), Math.abs(mean))),
  );
  const decade = (value: number, round: (x: number) => number) =>
    10 ** Math.min(12, Math.max(-12, round(Math.log10(value))));
  const low = decade(Math.min(1e-3 * unit, variance || Infinity), Math.floor);
  const high = decade(Math.max(1e3 * unit, variance), Math.ceil);
  return { x: [-half, half], y: [Math.min(low, high / 1e6), high] };
}

/** The plane with one more cell on every side. */
export function widened({ x, y }: Plane): Plane {
  const column = (x[1] - x[0]) / CELLS;
  const row = (y[1] / y[0]) ** (1 / CELLS);
  return { x: [x[0] - column, x[1] + column], y: [y[0] / row, y[1] * row] };
}

/** Means of the columns and variances of the rows, at the middle of each cell; row 0 is lowest. */
export function centres({ x, y }: Plane, cells = CELLS): { means: number[]; variances: number[] } {
  const places = Array.from({ length: cells }, (_, i) => (i + 0.5) / cells);
  const round = (value: number) => Number(value.toPrecision(12));
  return {
    means: places.map((place) => allowed('mean', round(x[0] + place * (x[1] - x[0])))),
    variances: places.map((place) => allowed('variance', round(y[0] * (y[1] / y[0]) ** place))),
  };
}

/** The cell of a point of the plane; points outside belong to the nearest one. */
export function cellAt({ x, y }: Plane, mean: number, variance: number): number {
  const inside = (place: number) => Math.min(CELLS - 1, Math.max(0, Math.floor(place * CELLS)));
  const column = inside((mean - x[0]) / (x[1] - x[0]));
  const row = variance > 0 ? inside(Math.log(variance / y[0]) / Math.log(y[1] / y[0])) : 0;
  return row * CELLS + column;
}

const STRIDES = [4, 2, 1];

/** Whether a row or column is one of those that stand for `stride` of them. */
const stands = (place: number, stride: number) => (place - 1) % stride === 0 || stride === 1;

/** The cells in the order in which they are asked for: every fourth both ways, every second, all. */
export function stages(): number[][] {
  const seen = new Set<number>();
  return STRIDES.map((stride) => {
    const cells = Array.from({ length: CELLS * CELLS }, (_, at) => at).filter(
      (at) => stands(at % CELLS, stride) && stands(Math.floor(at / CELLS), stride) && !seen.has(at),
    );
    cells.forEach((at) => seen.add(at));
    return cells;
  });
}

/** The cell whose value is shown in a cell: its own, or that of the block it lies in; -1 for none. */
export function standIn(at: number, known: (at: number) => boolean): number {
  const [row, column] = [Math.floor(at / CELLS), at % CELLS];
  for (const stride of [...STRIDES].reverse()) {
    const anchor = (place: number) => (stride === 1 ? place : place - (place % stride) + 1);
    const other = anchor(row) * CELLS + anchor(column);
    if (known(other)) return other;
  }
  return -1;
}
