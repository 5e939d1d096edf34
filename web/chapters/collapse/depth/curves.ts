import type { Collapsed, LayerMeasure } from '../../../engine/protocol';
import { partsOf, runParts, throttle } from '../../../ui/parts';
import { type FigureContext, stackOf, variancesOf } from '../state';

/** What a stack's layers measure at one variance. */
export interface Curve {
  /** Its number among the variances that are compared. */
  place: number;
  variance: number;
  /** The question that it answers. */
  key: string;
  output: Collapsed;
  /** Stacks that were asked for. */
  wanted: number;
}

/** One measure after one layer: a mean over stacks and its standard error. */
export interface LayerPoint {
  layer: number;
  value: number;
  error: number;
  samples: number;
}

/** Milliseconds between two drawings of an answer under way. */
const STEADY = 120;

/** The curves over depth. What is known stays until the newest question has an answer. */
export class StackCurves {
  private curves: (Curve | undefined)[] = [];
  private key = '';

  /** Asks each worker for a part of the stacks, for all variances: they have the same draws. */
  async ask(context: FigureContext): Promise<void> {
    const { state, quality, workers } = context;
    const key = JSON.stringify({ ...stackOf(state), stacks: 0 });
    this.key = key;
    const stacks = quality === 'quick' ? 1 : state.stacks;
    const variances = variancesOf(state);
    const inputs = partsOf([...Array(stacks).keys()], workers).map((part) => ({
      ...stackOf(state),
      stacks: part.length,
      first_stack: part[0],
      means: variances.map(() => state.mean),
      variances,
      layers: 'all' as const,
    }));
    let parts: Collapsed[] = [];
    const show = () => context.show(0.98 * progressOf(parts, stacks));
    const showAtTimes = throttle(STEADY, show);
    await runParts(context, 'collapse', inputs, (outputs, _, done) => {
      if (!done && quality === 'quick') return;
      parts = outputs.filter((part) => part !== undefined);
      this.take(key, pooled(parts), variances, { stacks, wanted: state.stacks });
      (done ? show : showAtTimes)();
    });
  }

  /** The curves there are; those of an earlier question until the newest has an answer. */
  get known(): Curve[] {
    return this.curves.filter((curve) => curve !== undefined);
  }

  /** Whether a curve answers the newest question: after a change the others lag behind. */
  isFresh(curve: Curve): boolean {
    return curve.key === this.key;
  }

  /** Keeps what all parts say together, but for curves of which more was known before. */
  private take(
    key: string,
    whole: Collapsed,
    variances: readonly number[],
    { stacks, wanted }: { stacks: number; wanted: number },
  ): void {
    this.curves.length = variances.length;
    variances.forEach((variance, place) => {
      const output = pointOf(whole, place);
      const old = this.curves[place];
      const final = stacks === wanted && stacksOf(output) === stacks;
      if (!final && old?.key === key && stacksOf(output) < stacksOf(old.output)) return;
      if (output.samples[0] === 0 && output.refused[0] === '') return; // not begun
      this.curves[place] = { place, variance, key, output, wanted };
    });
  }
}

/** The share of the stacks that are done. */
function progressOf(parts: readonly Collapsed[], stacks: number): number {
  const done = parts.map(({ samples }) => samples.reduce((a, b) => a + b) / samples.length);
  return Math.min(1, done.reduce((a, b) => a + b, 0) / stacks);
}

/** Stacks that have gone through all layers, or up to the one that overflowed. */
export function stacksOf({ layer, samples, overflow }: Collapsed): number {
  return samples[overflow[0] > 0 ? overflow[0] - 1 : layer.length - 1];
}

/** A measure along the layers of a curve, where it has a value. */
export function pointsOf({ output }: Curve, measure: LayerMeasure): LayerPoint[] {
  return Array.from(output.layer, (layer) => ({
    layer,
    value: output[measure][layer],
    error: output[`${measure}_error`][layer],
    samples: output.samples[layer],
  })).filter((point) => Number.isFinite(point.value));
}

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
