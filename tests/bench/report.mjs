// What the benchmarks measured, as files that the documentation links to.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const folder = new URL('../../docs/performance/', import.meta.url);

/** Median, smallest and largest of an odd number of values. */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[(sorted.length - 1) / 2], low: sorted[0], high: sorted.at(-1) };
}

/** The median of an odd number of values and their range, for a table. */
export function cellOf(values, digits) {
  const { median, low, high } = spread(values);
  const shown = (value) => value.toFixed(digits);
  return values.length > 1 ? `${shown(median)} (${shown(low)} to ${shown(high)})` : shown(median);
}

/** Today's date, such as 2026-11-27. */
export const today = () => new Date().toISOString().slice(0, 10);

/**
 * A table (strings, a row each) under a title, with the command, the date and the machine. `notes` are paragraphs
 * below it.
 */
export function reportOf({ title, command, columns, rows, notes = [] }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const machine = `${cpus().length} cores (${cpus()[0].model.trim()}), node ${process.versions.node}`;
  return [
    `# ${title}`,
    `Written by \`${command}\` on ${today()}: ${machine}.`,
    [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n'),
    ...notes,
  ].join('\n\n');
}

/** Writes docs/performance/<name>.md and prints it. */
export function writeReport(name, report) {
  const text = reportOf(report);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.md`, folder), `${text}\n`);
  console.log(text);
}

/** The rows of a report by their first cells. */
export function rowsOf(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  const cells = lines.slice(2).map((line) => line.slice(2, -2).split(' | '));
  return new Map(cells.map((row) => [row[0], row]));
}

/** Those of docs/performance/<name>.md; none where there is no such file. */
export function earlierRows(name) {
  const file = new URL(`${name}.md`, folder);
  return existsSync(file) ? rowsOf(readFileSync(file, 'utf8')) : new Map();
}
