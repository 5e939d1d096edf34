/** What a figure shows, as numbers: the rows of its CSV file. */
export interface Table {
  columns: string[];
  rows: Iterable<readonly Cell[]>;
  /** Cells of a grid, which come before the rows. */
  grid?: Grid;
}
export type Cell = string | number | null;

/** The cell of a value that may be NaN or infinite; such a cell is empty. */
export function finiteCell(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** A table of rows by the names of its columns, by default those of all rows; what a row lacks is an empty cell. */
export function tableOfRows(
  rows: readonly object[],
  columns: string[] = [...new Set(rows.flatMap(Object.keys))],
): Table {
  const cell = (value?: Cell) => (typeof value === 'number' ? finiteCell(value) : (value ?? null));
  return { columns, rows: rows.map((row) => columns.map((name) => cell((row as Record<string, Cell>)[name]))) };
}

/**
 * Values on a grid of two axes, the first of its rows, the second of its columns. In CSV each cell is a
 * row of its own; JSON has each axis and each array once, row by row.
 */
export interface Grid {
  /** What the column `kind` says of the cells. */
  kind: string;
  axes: readonly [Axis, Axis];
  values: Record<string, ArrayLike<number>>;
  /** Numbers of names: the arrays and the names that they count, from 0 on. */
  choices: Record<string, { index: ArrayLike<number>; names: readonly string[] }>;
}
interface Axis {
  name: string;
  at: readonly number[];
}
