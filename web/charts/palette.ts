/** A colour map: t in [0, 1] to red, green, blue in [0, 255]. */
export type Ramp = (t: number) => [number, number, number];

function rampOf(stops: string[]): Ramp {
  const colours = stops.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255));
  return (t) => {
    const place = Math.min(1, Math.max(0, t)) * (colours.length - 1);
    const at = Math.min(colours.length - 2, Math.floor(place));
    const part = place - at;
    const mix = [0, 1, 2].map((k) => {
      // Interpolated in linear light: between two stops no band looks darker than both.
      const light = (1 - part) * colours[at][k] ** 2.2 + part * colours[at + 1][k] ** 2.2;
      return Math.round(255 * light ** (1 / 2.2));
    });
    return mix as [number, number, number];
  };
}

const fields = {
  light: rampOf(['#f7f9fb', '#c9dcec', '#7fb0d6', '#2f77b4', '#0c2f5e']),
  dark: rampOf(['#10161d', '#16344f', '#235d8f', '#4795d1', '#a3d0f2']),
};

/** One hue, lightness alone encodes the value: safe for every kind of colour vision. */
export function fieldRamp(): Ramp {
  return isDark() ? fields.dark : fields.light;
}

/** A ramp in so many colours, as a legend shows it. */
export function stripOf(ramp: Ramp, count = 10): string[] {
  return Array.from({ length: count }, (_, i) => `rgb(${ramp(i / (count - 1)).join(' ')})`);
}

// From amber to violet, with lightness falling steadily; every colour has a contrast of at least 3 with
// the paper.
const layers = {
  light: rampOf(['#b57a00', '#d1552a', '#b92d5d', '#86267b', '#4a1d6b']),
  dark: rampOf(['#ffe08a', '#ffb05c', '#f4746b', '#d05aa0', '#9a66c9']),
};

/** The colour of a layer of a model with `count` layers. */
export function layerColour(layer: number, count: number, dark = isDark()): string {
  const ramp = dark ? layers.dark : layers.light;
  return `rgb(${ramp(count > 1 ? layer / (count - 1) : 0.5).join(' ')})`;
}

/** What becomes of a stack: neither collapse, rank collapse, entropy collapse, both. */
export type Fate = 'alive' | 'rank' | 'entropy' | 'both';

// Green, blue and orange of Okabe and Ito, pale on light paper and dim on dark.
const fates: Record<'light' | 'dark', Record<Fate, string>> = {
  light: { alive: '#8fd3b6', rank: '#a9c9e8', entropy: '#f3c58f', both: '#c9c3cc' },
  dark: { alive: '#2c8c6a', rank: '#2a5788', entropy: '#96602a', both: '#55505f' },
};

/** The colour of a fate, as hexadecimal red, green, blue. */
export function fateColour(fate: Fate): string {
  return fates[isDark() ? 'dark' : 'light'][fate];
}

/** Lines that are compared (in the order of Okabe and Ito's colours, which all kinds of colour vision part). */
export const series = [1, 2, 3, 4, 5, 6, 7, 8].map((place) => `var(--series-${place})`);
/** Dashes that part the same lines without colour. */
export const dashes = ['', '7 4', '2 4', '9 3 2 3', '14 4', '4 2', '1 3', '10 2 2 2'];

/** A line among those that are compared. */
export interface LineLook {
  colour: string;
  dash: string;
}

/**
 * The places among the series of what has one colour in all figures, by subject; those of training methods are in
 * `web/chapters/train/method-lines.ts`. Lines without a name here are told apart in their own figure alone.
 */
const PLACES = {
  /** The variance that a form of LocAteR penalizes has the colour of that form. */
  variance: { trace: 1, frobenius: 2 },
  /** The theory, whose softmax is clipped, and the exact softmax. */
  softmax: { clipped: 0, exact: 2 },
  /** Attention patterns; both kinds of attention sinks have one colour. */
  pattern: { previous: 0, next: 1, repeated: 2, first: 3, separator: 3, punctuation: 4, itself: 5 },
  /** Whether a run fails. */
  outcome: { kept: 0, failed: 4 },
  surgery: { mean: 6, variance: 2 },
} as const;

/** The colour of what has one in all figures. */
export function colourOf<S extends keyof typeof PLACES>(subject: S, name: keyof (typeof PLACES)[S]): string {
  return series[PLACES[subject][name] as number];
}

/**
 * Areas of a sum, from below: three blues for parts of one kind, orange and grey for the others. Neighbours
 * differ in lightness too.
 */
export const parts = [1, 2, 3, 4, 5].map((place) => `var(--part-${place})`);

/** Whether the page is dark now. */
function isDark(): boolean {
  return document.documentElement.dataset.theme === 'dark';
}
