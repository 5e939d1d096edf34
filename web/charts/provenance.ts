import { VERSION, YEAR } from '../generated/version';

/** Where an exported figure comes from: enough to find and to compute it again. */
export interface Provenance {
  /** Number and name of the figure. */
  title: string;
  /** What the figure's caption says of its numbers. */
  caption: string;
  /** Opens the page in the state that the figure shows. */
  link: string;
  /** The settings on which the figure depends, for a person. */
  settings: string;
  /** The same by the names of the parameters, the seed among them where the figure draws random numbers. */
  parameters: Record<string, string | number>;
}

/** The same in lines of text. */
export function linesOf({ title, caption, settings, link }: Provenance): string[] {
  return [title, caption, settings, link, `Eigenscope ${VERSION}`]
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter(Boolean);
}

/** An entry for BibTeX, of the figure in this version of the page. */
export function citationOf({ title, link }: Provenance): string {
  const fields = {
    author: '{The Eigenscope authors}',
    title: '{Eigenscope}: when does attention localize?',
    year: YEAR,
    version: VERSION,
    note: title,
    url: link,
  };
  const lines = Object.entries(fields).map(([name, value]) => `  ${name.padEnd(7)} = {${value}}`);
  return `@software{eigenscope,\n${lines.join(',\n')}\n}\n`;
}

/** Breaks a text into lines of at most `most` characters, at spaces where there are any. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const space = rest.lastIndexOf(' ', most);
    const end = space > 0 ? space : most;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
