// What the methods are called, how they are drawn, and what the library says of the regularizers.
import { PLACES, series } from '../../charts/palette';
import type { Regularizer } from '../../engine/protocol';
import operations from '../../generated/operations.json';
import facts from '../../generated/regularizers.json';

/** RegularizerFacts of the library. */
interface RegularizerFacts {
  /** The library's parameters that only it and its kin read. */
  settings: readonly string[];
  /** Whether the query bias is free of it. */
  leaves_bias: boolean;
  /** The variance that the paper expects to fall, with a lower loss and a higher entropy; '' for no claim. */
  shrinks: '' | 'variance' | 'variance_frobenius';
}

export const REGULARIZERS = facts as Record<Regularizer, RegularizerFacts>;

/** The regularizers that training runs compare, and what they are called. */
export const regularizers: Record<Regularizer, string> = operations.train.choices.regularizer;

const METHOD_PLACES: Readonly<Record<string, number>> = PLACES.method;

/** The places of methods that are drawn together: their own, or where two have the same the first free one. */
export function placesOf(methods: readonly string[]): number[] {
  const own = methods.map((method, at) => {
    const place = METHOD_PLACES[method];
    const isFirst = methods.findIndex((it) => METHOD_PLACES[it] === place) === at;
    return place !== undefined && isFirst ? place : null;
  });
  const free = [...series.keys()].filter((place) => !own.includes(place));
  return own.map((place) => place ?? free.shift() ?? 0);
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
