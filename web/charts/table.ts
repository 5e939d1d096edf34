/** What a figure shows, as numbers: the rows of its CSV file. */
export interface Table {
  columns: string[];
  rows: Iterable<readonly Cell[]>;
}
export type Cell = string | number | null;

function cell(value: Cell): string {
  if (value === null) return '';
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The table as CSV, in parts (a long one would not fit in one string). Numbers keep every digit. */
export function csvOf(table: Table): Blob {
  const parts = [table.columns.map(cell).join(',') + '\n'];
  for (const row of table.rows) parts.push(row.map(cell).join(',') + '\n');
  return new Blob(parts, { type: 'text/csv' });
}
