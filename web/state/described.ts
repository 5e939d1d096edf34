import type { Control, Values } from './control';
import { isUsed, type View } from './view';

/** A label without its markup; a subscript follows an underscore. */
export function plainText(html: string): string {
  return html.replace(/<sub>/g, '_').replace(/<[^>]*>/g, '');
}

/** Settings as a person reads them: "Width d: 64; Tokens: random walk". What is empty or of no use is left out. */
export function described(view: View, settings: Readonly<Values>): string {
  const { controls, defaults } = view;
  const state = { ...defaults, ...settings };
  return Object.entries(settings)
    .filter(([name, value]) => value !== '' && isUsed(view, name, state))
    .map(([name, value]) => `${nameOf(name, controls[name])}: ${valueOf(String(value), controls[name])}`)
    .join('; ');
}

/** What a control is called, or a setting without one. */
function nameOf(name: string, control?: Control): string {
  if (!control) return name[0].toUpperCase() + name.slice(1).replaceAll('_', ' ');
  const { label } = control;
  return plainText(control.kind === 'number' ? `${label} ${control.sign}` : label).trim();
}

function valueOf(value: string, control?: Control): string {
  if (control?.kind === 'choice') return control.choices[value] ?? value;
  if (control?.kind !== 'several') return value;
  const names = value.split(',').map((it) => control.choices[it] ?? it);
  return names.join(' and ');
}

/** Characters of a person's text that a message shows. */
const MOST = 40;

/** What is wrong with a text that a person typed, as the library says it of its fields. */
export function refusal(field: string, must: string, text: string): string {
  return `${field} must ${must}: found '${quoted(text)}'`;
}

/** A text as a message quotes it: not longer than a line, without characters that cannot be seen. */
export function quoted(text: string): string {
  // Cut before anything else: a link can hold a megabyte.
  const shown = text.slice(0, MOST).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  return text.length > MOST ? `${shown}…` : shown;
}
