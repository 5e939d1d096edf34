import type { Markish } from '@observablehq/plot';
import type { Entry } from '../../charts/legend';
import { contourMarks, levelNames, levelPlaces } from '../../charts/level-labels';
import { line } from '../../charts/plot';
import { floorMark, type Point } from '../../charts/rank-floor';
import { cellsOf, MAP_MARGINS, onGrid, sizeOf, type Domain, type Field } from './map-field';

/** Levels of the mean of rho; below the first that is drawn a uniform profile counts as dead. */
const LEVELS = [0.1, 0.25, 0.5, 0.75];
/** The field is smooth: every other cell draws the same lines in a quarter of the time. */
const STEP = 2;

/** The legend's entry of the contours. */
export const levelEntry: Entry = { text: 'contours: mean of ρ', kind: 'line', colours: ['var(--ink)'] };

/** The mean of rho on every other column and row of a map. */
function coarse({ map }: Field) {
  const size = sizeOf(map);
  const [columns, rows] = [size.columns, size.rows].map((count) => Math.ceil(count / STEP));
  const value = Float32Array.from({ length: columns * rows }, (_, at) => {
    const row = STEP * Math.floor(at / columns);
    return map.rho_mean[row * size.columns + STEP * (at % columns)];
  });
  return { columns, rows, value };
}

/** A level and where it is written, in the units of the axes. */
interface LevelPoint {
  level: number;
  x: number;
  y: number;
}

/** Where the levels of the contours are written, in a chart `width` pixels wide: clear of `points` where they can. */
export function levelPoints(field: Field, width: number, points: readonly { x: number; y: number }[]): LevelPoint[] {
  const grid = coarse(field);
  const { x, y } = cellsOf(field);
  const pixels = width - MAP_MARGINS.marginLeft - MAP_MARGINS.marginRight;
  const room: [number, number] = [(40 * grid.columns) / pixels, grid.rows / 16];
  const taken = onGrid(field, points).map(({ column, row }) => ({ column: column / STEP, row: row / STEP }));
  return levelPlaces(grid, LEVELS, room, taken).map(({ level, column, row }) => ({
    level,
    x: x(STEP * column),
    y: y(STEP * row),
  }));
}

/** Points on the contours, dense enough to keep names off them. */
export function contourPoints(field: Field): { x: number; y: number }[] {
  const { columns, rows, value } = coarse(field);
  const { x, y } = cellsOf(field);
  const above = Array.from(value, (it) => LEVELS.filter((level) => it >= level).length);
  const points: { x: number; y: number }[] = [];
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const at = row * columns + column;
      if (above[at] === above[at + 1] && above[at] === above[at + columns]) continue;
      points.push({ x: x(STEP * (column + 0.5)), y: y(STEP * (row + 0.5)) });
    }
  }
  return points;
}

/** Contours of the mean of rho over a map, with their levels. */
export function levelMarks(field: Field, points: readonly LevelPoint[]): Markish[] {
  const { columns, rows, value } = coarse(field);
  const { x, y } = cellsOf(field);
  const ends = (count: number) => [-0.5 * STEP, (count - 0.5) * STEP];
  const [x1, x2] = ends(columns).map(x);
  const [y1, y2] = ends(rows).map(y);
  return [
    ...contourMarks(value, {
      width: columns,
      height: rows,
      thresholds: LEVELS,
      ...{ x1, x2, y1, y2 }, // the cells are equal on the screen, not in sqrt(eta_F)/lambda
      ariaDescription: 'mean of rho',
    }),
    levelNames(points, 'levels of the mean of rho'),
  ];
}

/** The limit of all matrices of a width, as a legend has it. */
export const WIDTH_LIMIT: Entry = {
  text: 'zero variance at this width',
  kind: 'line',
  colours: ['var(--ink)'],
  dash: '2 4',
};

/**
 * The line below which no matrix of a rank lies: its eta_F is at least xi^2 / rank, when its non-zero
 * eigenvalues are real and equal.
 */
function limitOf({ x: [left, right], y: [low] }: Domain, rank: number): Point[] {
  const steps = Array.from({ length: 101 }, (_, i) => left + (i / 100) * (right - left));
  return steps.map((x) => [x, Math.max(low, Math.abs(x) / Math.sqrt(rank))]);
}

/** The limit of all matrices of a width. */
export function widthMark(domain: Domain, width: number): Markish {
  const { text: ariaDescription, dash: strokeDasharray } = WIDTH_LIMIT;
  const look = { stroke: 'var(--ink)', strokeOpacity: 0.6, strokeDasharray, clip: true as const };
  return line(limitOf(domain, width), { ...look, ariaDescription });
}

/** Variance over d m^2 at which L of both walks is about half way from its value at zero variance to its limit. */
export const HALF_WAY = 0.2;

/** The line of that variance, as a legend has it. */
export const HALF_WAY_LINE: Entry = {
  text: `v = ${HALF_WAY} d m²: L half way to its limit`,
  kind: 'line',
  colours: ['var(--ink)'],
  dash: '8 4',
};

/** sqrt(eta_F)/lambda on that line at |xi|/lambda = 1, of matrices of a width: eta_F = d (v + m^2), xi = d m. */
export const halfWaySlope = (width: number): number => Math.sqrt(HALF_WAY + 1 / width);

/** The line of that variance. */
export function halfWayMark(domain: Domain, width: number): Markish {
  const { text: ariaDescription, dash: strokeDasharray } = HALF_WAY_LINE;
  const look = { stroke: 'var(--ink)', strokeOpacity: 0.6, strokeDasharray, clip: true as const };
  return line(limitOf(domain, halfWaySlope(width) ** -2), { ...look, ariaDescription });
}

/** The limit of the matrices of the heads' rank. */
export function rankMark(domain: Domain, rank: number): Markish {
  return floorMark(limitOf(domain, rank).filter(([, y]) => y <= domain.y[1]));
}
