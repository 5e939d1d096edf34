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
