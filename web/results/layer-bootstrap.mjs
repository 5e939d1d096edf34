// Rank correlations over the heads of a model, with intervals that do not take the heads of a layer as independent.

const RESAMPLES = 2000;

/** Ranks from 0; equal values share their mean rank. */
function ranksOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2);
}

/** Spearman's rank correlation; NaN where one list is constant. */
export function rankCorrelation(a, b) {
  const centre = (a.length - 1) / 2;
  const [x, y] = [a, b].map((list) => ranksOf(list).map((rank) => rank - centre));
  const product = (u, v) => u.reduce((sum, it, i) => sum + it * v[i], 0);
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}

/** Uniform numbers in [0, 1), always the same (mulberry32). */
function uniform(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let it = Math.imul(state ^ (state >>> 15), 1 | state);
    it ^= it + Math.imul(it ^ (it >>> 7), 61 | it);
    return ((it ^ (it >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** 95% bootstrap interval of the rank correlation of a with b, whole layers drawn with replacement. */
export function layerInterval(a, b, layers) {
  const random = uniform(1);
  const groups = [...new Set(layers)].map((layer) => layers.flatMap((own, i) => (own === layer ? [i] : [])));
  const found = Array.from({ length: RESAMPLES }, () => {
    const drawn = groups.flatMap(() => groups[Math.floor(random() * groups.length)]);
    return rankCorrelation(
      drawn.map((i) => a[i]),
      drawn.map((i) => b[i]),
    );
  });
  const sorted = found.filter(Number.isFinite).sort((x, y) => x - y);
  return [0.025, 0.975].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
}
