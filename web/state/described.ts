import { defaults, table, type State, type StateName } from './table';
import { isUsed } from './used';

/** A label of the table without its markup; a subscript follows an underscore. */
export function plainText(html: string): string {
  return html.replace(/<sub>/g, '_').replace(/<[^>]*>/g, '');
}

/** Settings as a person reads them: "Width d: 64; Tokens: random walk". What is empty or of no use is left out. */
export function described(settings: Readonly<Record<string, string | number>>): string {
  const state = { ...defaults(), ...settings } as State;
  return Object.entries(settings)
    .filter(([name, value]) => value !== '' && isUsed(name as StateName, state))
    .map(([name, value]) => `${nameOf(name)}: ${valueOf(name, String(value))}`)
    .join('; ');
}

function nameOf(name: string): string {
  if (!Object.hasOwn(table, name))
    return name[0].toUpperCase() + name.slice(1).replaceAll('_', ' ');
  const row = table[name as StateName];
  return plainText(row.kind === 'number' ? `${row.label} ${row.sign}` : row.label).trim();
}

function valueOf(name: string, value: string): string {
  const row = Object.hasOwn(table, name) ? table[name as StateName] : null;
  if (row?.kind === 'choice') return row.choices[value] ?? value;
  if (row?.kind !== 'several') return value;
  const names = value.split(',').map((it) => row.choices[it] ?? it);
  return names.join(' and ');
}
