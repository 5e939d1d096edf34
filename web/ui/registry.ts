// The figures of the page in the order of their numbers, as the build reads them from the chapters' view.html.
import { FIGURES } from '../generated/figures';

export { FIGURES };

type FigureEntry = (typeof FIGURES)[number];
export type FigureId = FigureEntry['id'];
/** The figures of one chapter. */
export type FigureOf<C extends FigureEntry['chapter']> = Extract<FigureEntry, { chapter: C }>['id'];

/** The figures of a chapter, in their order. */
export function figuresOf(chapter: string): FigureEntry[] {
  return FIGURES.filter((entry) => entry.chapter === chapter);
}

export function entryOf(id: FigureId): FigureEntry {
  const found = FIGURES.find((entry) => entry.id === id);
  if (!found) throw new Error(`there is no figure ${id}`);
  return found;
}

/** The number of a figure, from 1 on. */
export function numberOf(id: FigureId): number {
  return 1 + FIGURES.indexOf(entryOf(id));
}

/** How a sentence refers to a figure: "figure 3". */
export function referTo(id: FigureId): string {
  return `figure ${numberOf(id)}`;
}
