/** Values on a grid, row by row; row 0 is at the bottom. */
export interface Levels {
  columns: number;
  rows: number;
  value: ArrayLike<number>;
}

/** Where the name of a contour goes, in columns and rows of the grid's points. */
export interface LevelPlace {
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
 * columns and rows away from the names already placed. Levels without such a place get none.
 */
export function levelPlaces(grid: Levels, levels: number[], room: [number, number]): LevelPlace[] {
  const depth = ({ column, row }: LevelPlace) =>
    Math.min(column / grid.columns, 1 - (column + 1) / grid.columns, row / grid.rows, 1 - (row + 1) / grid.rows);
  const places: LevelPlace[] = [];
  for (const level of levels) {
    const found = [...crossings(grid, level)].sort((a, b) => depth(b) - depth(a));
    const clear = found.find((it) =>
      places.every(({ column, row }) => Math.abs(it.column - column) > room[0] || Math.abs(it.row - row) > room[1]),
    );
    if (clear) places.push(clear);
  }
  return places;
}
