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
