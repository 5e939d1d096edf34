import type { Collapsed, LayerMeasure } from '../../engine/protocol';

/** The measures of a result, each with an error of its own. */
function measuresOf(collapsed: Collapsed): LayerMeasure[] {
  return Object.keys(collapsed).filter((name): name is LayerMeasure => `${name}_error` in collapsed);
}

/** Puts together what several workers found, each from stacks of its own at the same points. */
export function pooled(parts: Collapsed[]): Collapsed {
  const [first, ...others] = parts;
  if (others.length === 0) return first;
  const samples = first.samples.map((_, at) => sum(parts, (part) => part.samples[at]));
  const overflow = first.overflow.map((_, at) => {
    const seen = parts.map((part) => part.overflow[at]).filter((layer) => layer > 0);
    return seen.length > 0 ? Math.min(...seen) : 0;
  });
  const whole = { ...first, samples, overflow };
  for (const name of measuresOf(first)) {
    const value = samples.map((_, at) => meanOf(parts, name, at));
    whole[name] = value;
    whole[`${name}_error`] = samples.map((_, at) => errorOf(parts, name, at, value[at]));
  }
  return whole;
}

/** What is known of one of the points. */
export function pointOf(collapsed: Collapsed, place: number): Collapsed {
  const layers = collapsed.layer.length;
  const own = (table: Float64Array) => table.subarray(place * layers, (place + 1) * layers);
  const one = (list: Float64Array) => list.subarray(place, place + 1);
  const { mean, variance, samples, refused, overflow } = collapsed;
  const point = {
    ...collapsed,
    mean: one(mean),
    variance: one(variance),
    overflow: one(overflow),
    samples: own(samples),
    refused: [refused[place]],
  };
  for (const name of measuresOf(collapsed)) {
    point[name] = own(collapsed[name]);
    point[`${name}_error`] = own(collapsed[`${name}_error`]);
  }
  return point;
}

function sum<T>(list: T[], of: (it: T) => number): number {
  return list.reduce((total, it) => total + of(it), 0);
}

/** Those that have a value at all. */
function having(parts: Collapsed[], name: LayerMeasure, at: number): Collapsed[] {
  return parts.filter((part) => part.samples[at] > 0 && Number.isFinite(part[name][at]));
}

function meanOf(parts: Collapsed[], name: LayerMeasure, at: number): number {
  const known = having(parts, name, at);
  const count = sum(known, (part) => part.samples[at]);
  return count > 0 ? sum(known, (part) => part.samples[at] * part[name][at]) / count : NaN;
}

/** The squares around the common mean: within each part, which its own error tells, and between. */
function errorOf(parts: Collapsed[], name: LayerMeasure, at: number, mean: number): number {
  const known = having(parts, name, at);
  const count = sum(known, (part) => part.samples[at]);
  if (count < 2) return NaN;
  const squares = sum(known, (part) => {
    const n = part.samples[at];
    const within = n > 1 ? part[`${name}_error`][at] ** 2 * (n - 1) : 0;
    return n * (within + (part[name][at] - mean) ** 2);
  });
  return Math.sqrt(squares / count / (count - 1));
}
