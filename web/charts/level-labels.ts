import type { Markish } from '@observablehq/plot';
import { contour, type ContourOptions } from './contour';
import { text } from './plot';

/** Values on a grid, row by row; row 0 is at the bottom. */
export interface Levels {
  columns: number;
  rows: number;
  value: ArrayLike<number>;
}

/** Where the name of a contour goes, in columns and rows of the grid's points. */
interface LevelPlace {
  level: number;
  column: number;
  row: number;
}

/** Where a row crosses a level, between two of its points. */
function* crossings({ columns, rows, value }: Levels, level: number): Generator<LevelPlace> {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const [left, right] = [value[row * columns + column], value[row * columns + column + 1]];
      if (!(left < level !== right < level)) continue;
      if (!Number.isFinite(left) || !Number.isFinite(right)) continue;
      yield { level, column: column + (level - left) / (right - left), row };
    }
  }
}

/**
 * Where to write the levels of contours: each on its line, as far inside as it gets, and `room`
 * columns and rows away from the names already placed, and half as far from the points `taken` where a line has
 * such a place. Levels without room beside the other names get none.
 */
export function levelPlaces(
  grid: Levels,
  levels: number[],
  room: [number, number],
  taken: readonly Omit<LevelPlace, 'level'>[] = [],
): LevelPlace[] {
  const depth = ({ column, row }: LevelPlace) =>
    Math.min(column / grid.columns, 1 - (column + 1) / grid.columns, row / grid.rows, 1 - (row + 1) / grid.rows);
  const isClear = (it: LevelPlace, of: readonly Omit<LevelPlace, 'level'>[], share: number) =>
    of.every(
      ({ column, row }) => Math.abs(it.column - column) > share * room[0] || Math.abs(it.row - row) > share * room[1],
    );
  const places: LevelPlace[] = [];
  for (const level of levels) {
    const found = [...crossings(grid, level)].sort((a, b) => depth(b) - depth(a));
    const apart = found.filter((it) => isClear(it, places, 1));
    const place = apart.find((it) => isClear(it, taken, 0.5)) ?? apart[0];
    if (place) places.push(place);
  }
  return places;
}

/** Contours, light below dark: seen on light and on dark cells. */
export const contourMarks = (values: ArrayLike<number>, options: ContourOptions): Markish[] => [
  contour(values, options, { stroke: 'var(--paper)', 'stroke-width': 2.5, 'stroke-opacity': 0.5 }),
  contour(values, options, { stroke: 'var(--ink)', 'stroke-width': 1, 'stroke-opacity': 0.8 }),
];

/** The levels of contours at places in the units of the axes. */
export const levelNames = (
  points: readonly { level: number; x: number; y: number }[],
  ariaDescription: string,
): Markish => {
  const halo = { stroke: 'var(--paper)', strokeWidth: 3, ariaDescription };
  return text(points, {
    x: 'x',
    y: 'y',
    text: ({ level }) => String(level),
    fontSize: 11,
    fill: 'var(--ink)',
    ...halo,
  });
};
