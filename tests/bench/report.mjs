// What the benchmarks measured, as files that the documentation links to.
import { mkdirSync, writeFileSync } from 'node:fs';
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

/**
 * Writes docs/performance/<name>.md and prints it: a table (strings, a row each) under a title, with the
 * command, the date and the machine. `notes` are paragraphs below it.
 */
export function writeReport(name, { title, command, columns, rows, notes = [] }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores (${cpus()[0].model.trim()}), node ${process.versions.node}`;
  const text = [
    `# ${title}`,
    `Written by \`${command}\` on ${date}: ${machine}.`,
    [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n'),
    ...notes,
  ].join('\n\n');
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.md`, folder), `${text}\n`);
  console.log(text);
}
