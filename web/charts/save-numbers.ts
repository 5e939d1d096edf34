import type { Provenance } from './provenance';
import type { Table } from './table';

/** Offers the numbers of a table to the person as a file. */
export async function saveNumbers(format: 'csv' | 'json', table: Table, from: Provenance, name: string): Promise<void> {
  const { csvOf, jsonOf, save } = await import('./files');
  save((format === 'csv' ? csvOf : jsonOf)(table, from), `eigenscope-${name}.${format}`);
}
