import { VERSION } from '../generated/version';
import { linesOf, type Provenance } from './provenance';

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

/**
 * A cell of a CSV as the command line writes it: a text without control characters, and with an apostrophe before what
 * a spreadsheet would take for a formula. A file may have named a head or a token so.
 */
function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  return cell.replace(/(?![\n\t])\p{Cc}/gu, '\ufffd').replace(/^[=+\-@\t]/, "'$&");
}

/** In quotation marks where it has a separator or a quotation mark (RFC 4180). */
const quoted = (cell: string) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function line(cells: readonly Cell[]): string {
  return cells.map((cell) => quoted(csvCell(cell))).join() + '\n';
}

/** Nine digits tell all 32-bit floats apart; more of one are not its own. */
function digits(values: ArrayLike<number>, at: number): number | null {
  const value = values[at];
  if (Number.isNaN(value)) return null;
  return values instanceof Float32Array ? Number(value.toPrecision(9)) : value;
}

function* cellsOf({ columns, grid }: Table): Generator<Cell[]> {
  if (!grid) return;
  const [rows, across] = grid.axes;
  for (let at = 0; at < rows.at.length * across.at.length; at++) {
    const cell: Record<string, Cell> = { kind: grid.kind };
    cell[rows.name] = rows.at[Math.floor(at / across.at.length)];
    cell[across.name] = across.at[at % across.at.length];
    for (const [name, values] of Object.entries(grid.values)) cell[name] = digits(values, at);
    for (const [name, { index, names }] of Object.entries(grid.choices)) {
      cell[name] = names[index[at]];
    }
    yield columns.map((name) => cell[name] ?? null);
  }
}

/**
 * The table as CSV, in parts (a long one would not fit in one string). Lines that begin with # come
 * first and say where it comes from. Numbers keep every digit.
 */
export function csvOf(table: Table, provenance: Provenance): Blob {
  const parts = linesOf(provenance).map((text) => `# ${text}\n`);
  parts.push(line(table.columns));
  for (const row of cellsOf(table)) parts.push(line(row));
  for (const row of table.rows) parts.push(line(row));
  return new Blob(parts, { type: 'text/csv' });
}

/** The grid of a table for its JSON: axes, values and choices, each array once. */
function gridOf({ kind, axes, values, choices }: Grid) {
  const numbers = (list: ArrayLike<number>) => Array.from(list, (_, at) => digits(list, at));
  const entries = Object.entries(values).map(([name, list]) => [name, numbers(list)]);
  const chosen = Object.entries(choices).map(([name, { index, names }]) => [name, { names, index: Array.from(index) }]);
  return { kind, axes, values: Object.fromEntries([...entries, ...chosen]) };
}

/**
 * The table as JSON: where it comes from, the cells of its grid, the names of its columns, and one
 * array a row.
 */
export function jsonOf({ columns, rows, grid }: Table, provenance: Provenance): Blob {
  const cells = grid && gridOf(grid);
  const head = JSON.stringify({ ...provenance, version: VERSION, grid: cells, columns }).slice(0, -1);
  const body = Array.from(rows, (row) => JSON.stringify(row));
  return new Blob([`${head},"rows":[\n${body.join(',\n')}\n]}\n`], { type: 'application/json' });
}
