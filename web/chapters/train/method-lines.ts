// What the methods are called and how they are drawn; not in methods.ts, which the script of the first screen has.
import { dashes, series, type LineLook } from '../../charts/palette';
import { regularizers } from './methods';

/** The series of all figures, and those that only training methods have. */
const COLOURS = [...series, ...[9, 10, 11, 12].map((place) => `var(--series-${place})`)];
const DASHES = [...dashes, '6 2 1 2', '12 2 2 2', '3 2', '16 3'];

/**
 * The place among the colours of each family of methods, by what their names begin with: variants of a method have its
 * colour, limits on the scale of queries and keys have one, and so have controls.
 */
const FAMILIES: Readonly<Record<string, number>> = {
  none: 0,
  locater: 1,
  'locater-frobenius': 2,
  frobenius: 2,
  'locater-effective': 3,
  effective: 3,
  'sigma-reparam': 4,
  'qk-decay': 5,
  initial: 6,
  'warmup-clip': 7,
  'locater-covariance': 8,
  metric: 8,
  'capped-growth': 9,
  'qk-clip': 9,
  'qk-norm': 9,
  'attention-prior': 10,
  'locater-random': 11,
  random: 11,
  'no-attention': 11,
  temperature: 11,
};

/** The place of a method's family; undefined for what is no method. */
function placeOf(method: string): number | undefined {
  const names = Object.keys(FAMILIES).filter((name) => method === name || method.startsWith(`${name}-`));
  return FAMILIES[names.sort((a, b) => b.length - a.length)[0]];
}

/** The colour of a method in all figures; undefined for what is no method. */
export function colourOfMethod(method: string): string | undefined {
  return COLOURS[placeOf(method) ?? -1];
}

/** How the lines of methods that are drawn together look: variants of one are parted by their dashes. */
export function looksOf(methods: readonly string[]): LineLook[] {
  const places = methods.map((method) => placeOf(method) ?? 0);
  const isFirst = (at: number) => places.indexOf(places[at]) === at;
  const free = DASHES.filter((_, place) => !places.includes(place));
  return places.map((place, at) => ({
    colour: COLOURS[place],
    dash: isFirst(at) ? DASHES[place] : (free.shift() ?? ''),
  }));
}

const FROBENIUS = regularizers['locater-frobenius'];
const SQUARED = `${regularizers.locater}, tr(W²)`;
const EFFECTIVE = regularizers['locater-effective'];

/** What the page calls the methods of the grid files in docs/experiments. */
export const METHOD_NAMES: Readonly<Record<string, string>> = {
  none: regularizers.none,
  locater: SQUARED,
  'locater-frobenius': FROBENIUS,
  'sigma-reparam': regularizers['sigma-reparam'],
  'qk-decay': regularizers['qk-decay'],
  'qk-decay-1': `${regularizers['qk-decay']}, 1`,
  'qk-decay-4': `${regularizers['qk-decay']}, 4`,
  'warmup-clip': 'warm-up and clipping',
  'locater-m-1': `${SQUARED}, m* = −1`,
  'locater-m0': `${SQUARED}, m* = 0`,
  'locater-m0.5': `${SQUARED}, m* = 0.5`,
  'locater-m1': `${SQUARED}, m* = 1`,
  'frobenius-m-1': `${FROBENIUS}, m* = −1`,
  'frobenius-m0': `${FROBENIUS}, m* = 0`,
  'frobenius-m0.5': `${FROBENIUS}, m* = 0.5`,
  'frobenius-m1': `${FROBENIUS}, m* = 1`,
  'effective-m-1': `${EFFECTIVE}, m* = −1`,
  'effective-m0': `${EFFECTIVE}, m* = 0`,
  'effective-m0.5': `${EFFECTIVE}, m* = 0.5`,
  'effective-m1': `${EFFECTIVE}, m* = 1`,
  'random-m1': regularizers['locater-random'],
  'initial-m1': 'initial mean 1',
  'frobenius-m1-half': 'Frobenius, m* = 1, 2 of 4 heads',
  'frobenius-m1-early': 'Frobenius, m* = 1, steps 1–100',
  'initial-m1-half': 'initial mean 1, 2 of 4 heads',
  'warmup-clip-initial-m1-half': 'warm-up, clipping, initial mean 1, 2 of 4 heads',
  'initial-m1-one': 'initial mean 1, 1 of 4 heads',
  'qk-norm': 'QK-norm',
  'qk-clip': 'QK-Clip',
  'capped-growth': 'capped growth',
};

/** What the page calls a method of a grid file. */
export const methodName = (method: string): string => METHOD_NAMES[method] ?? method;
