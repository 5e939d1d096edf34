// The figures of the page. Their numbers, headings, cross-references, places and tests follow from here.

/** One figure: where it is and what its heading and its entry in a list of figures say. */
interface Entry {
  id: string;
  chapter: string;
  title: string;
  /** A word or two for lists of figures. */
  brief: string;
}

/** All figures in the order of their numbers: the first is figure 1. */
export const FIGURES = [
  { id: 'lead', chapter: 'localize', title: 'Localization falls with the variance', brief: 'Localization' },
  { id: 'phase-map', chapter: 'localize', title: 'Phase map of localization', brief: 'Map' },
  { id: 'softmax-row', chapter: 'localize', title: 'One row, exact and clipped softmax', brief: 'Softmax' },
  { id: 'row-entropy', chapter: 'localize', title: 'Row entropy against the spread of the logits', brief: 'Freezing' },
  { id: 'self-attention', chapter: 'localize', title: 'Attention of a token to itself', brief: 'Diagonal' },
  { id: 'collapse-map', chapter: 'collapse', title: 'Between two collapses a band stays alive', brief: 'Map' },
  { id: 'depth', chapter: 'collapse', title: 'Rank and entropy over the layers', brief: 'Layers' },
  { id: 'cosines', chapter: 'collapse', title: 'Cosines of pairs of tokens', brief: 'Tokens' },
  {
    id: 'strength',
    chapter: 'train',
    title: 'In the paper’s setting LocAteR does not lower the perplexity',
    brief: 'Strength',
  },
  { id: 'run-attention', chapter: 'train', title: 'Attention of a head, and generated text', brief: 'Attention' },
  { id: 'run-curves', chapter: 'train', title: 'Training curves', brief: 'Curves' },
  { id: 'run-map', chapter: 'train', title: 'Heads move over the phase map', brief: 'Map' },
  { id: 'run-logits', chapter: 'train', title: 'Variance of the logits and its parts', brief: 'Logits' },
  {
    id: 'rates',
    chapter: 'train',
    title: 'At a high learning rate warm-up with clipping gains twice as much as LocAteR',
    brief: 'Rates',
  },
  {
    id: 'escape',
    chapter: 'train',
    title: 'Depth decides which post-norm models reach the bigram level',
    brief: 'Bigram level',
  },
  {
    id: 'published',
    chapter: 'train',
    title: 'At tuned settings the attention entropy rises and the loss stays',
    brief: 'Tuned',
  },
  {
    id: 'trainability',
    chapter: 'train',
    title: 'No initial measure predicts the final loss with one sign',
    brief: 'Initialization',
  },
  {
    id: 'plateaus',
    chapter: 'train',
    title: 'Sensitive attention goes with more steps at the unigram level',
    brief: 'Unigram level',
  },
  { id: 'head-text', chapter: 'model', title: 'Attention of a head in a text', brief: 'Attention' },
  { id: 'predictors', chapter: 'model', title: 'Predicted against measured attention', brief: 'Predictors' },
  {
    id: 'token-metric',
    chapter: 'model',
    title: 'The spectrum in the metric of the tokens orders trained heads',
    brief: 'Metric',
  },
  { id: 'head-spectra', chapter: 'model', title: 'Eigenvalues of every head', brief: 'Spectra' },
  { id: 'head-distance', chapter: 'model', title: 'Attention over distance', brief: 'Distance' },
  { id: 'compare', chapter: 'model', title: 'Heads of two checkpoints', brief: 'Compare' },
] as const satisfies readonly Entry[];

export type FigureEntry = (typeof FIGURES)[number];
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
