import { series } from '../../charts/palette';

/** The place of a method among the series, the same in every figure; what is not named takes a free one. */
const PLACES: Readonly<Record<string, number>> = {
  none: 0,
  locater: 1,
  'locater-frobenius': 2,
  'frobenius-m1': 2,
  'locater-effective': 3,
  'initial-m1': 3,
  'sigma-reparam': 4,
  'warmup-clip': 4,
  'qk-decay': 5,
};

/** The places of methods that are drawn together: their own, or where two have the same the first free one. */
export function placesOf(methods: readonly string[]): number[] {
  const own = methods.map((method, at) => {
    const place = PLACES[method];
    const isFirst = methods.findIndex((it) => PLACES[it] === place) === at;
    return place !== undefined && isFirst ? place : null;
  });
  const free = [...series.keys()].filter((place) => !own.includes(place));
  return own.map((place) => place ?? free.shift() ?? 0);
}
