import type { Collapsed, LayerMeasure } from '../../../engine/protocol';
import { partsOf, runParts } from '../../../ui/parts';
import { throttle } from '../../../ui/throttle';
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

interface Question {
  key: string;
  stacks: number;
  signal: AbortSignal;
  /** What the workers have found so far, each from stacks of its own. */
  parts: Collapsed[];
  /** Figures that want to know of something new. */
  askers: Set<Pick<FigureContext, 'show' | 'expect'>>;
  /** Estimate of the longest job; NaN while there is none. */
  seconds: number;
  answer: Promise<void>;
}

/** Milliseconds between two drawings of an answer under way. */
const STEADY = 120;

/** The curves over depth, asked for once and shown by more than one figure. */
export class StackCurves {
  private curves: (Curve | undefined)[] = [];
  private asked: Question | null = null;
  private key = '';

  /** Asks for the curves, or waits for them where another figure has asked the same. */
  async ask(context: FigureContext): Promise<void> {
    const { state, quality } = context;
    const key = JSON.stringify({ ...stackOf(state), stacks: 0 });
    const stacks = quality === 'quick' ? 1 : state.stacks;
    for (;;) {
      const { asked } = this;
      const same = asked?.key === key && asked.stacks === stacks && !asked.signal.aborted;
      const question = same ? asked : this.begin(context, key, stacks);
      question.askers.add(context);
      if (question.seconds > 0) context.expect(question.seconds);
      try {
        return await question.answer;
      } catch (error) {
        // The figure that asked gave up, this one did not: it asks itself.
        if (!question.signal.aborted || context.signal.aborted) throw error;
      }
    }
  }

  /** The curves there are; those of an earlier question until the newest has an answer. */
  get known(): Curve[] {
    return this.curves.filter((curve) => curve !== undefined);
  }

  /** Whether a curve answers the newest question: after a change the others lag behind. */
  isFresh(curve: Curve): boolean {
    return curve.key === this.key;
  }

  private begin(context: FigureContext, key: string, stacks: number): Question {
    const question: Question = {
      key,
      stacks,
      signal: context.signal,
      askers: new Set(),
      seconds: NaN,
      parts: [],
      answer: Promise.resolve(),
    };
    this.key = key;
    this.asked = question;
    question.answer = this.run(question, context).catch((error: unknown) => {
      if (this.asked === question) this.asked = null; // asked again, it may succeed
      throw error;
    });
    return question;
  }

  /** Asks each worker for a part of the stacks, for all variances: they have the same draws. */
  private async run(question: Question, context: FigureContext): Promise<void> {
    const { state, quality, workers } = context;
    const { stacks, askers } = question;
    const variances = variancesOf(state);
    const all = Array.from({ length: stacks }, (_, stack) => stack);
    const inputs = partsOf(all, workers).map((own) => ({
      ...stackOf(state),
      stacks: own.length,
      first_stack: own[0],
      means: variances.map(() => state.mean),
      variances,
      layers: 'all' as const,
    }));
    const tell = () => {
      for (const { show } of askers) show(0.98 * this.progress(question));
    };
    const tellAtTimes = throttle(STEADY, tell);
    const tellEstimate = (seconds: number) => {
      question.seconds = Math.max(seconds, question.seconds || 0);
      for (const { expect } of askers) expect(question.seconds);
    };
    const take = (outputs: readonly (Collapsed | undefined)[], _: number, done: boolean) => {
      if (!done && quality === 'quick') return;
      question.parts = outputs.filter((part) => part !== undefined);
      this.take(question, context, variances);
      (done ? tell : tellAtTimes)();
    };
    await runParts(context, 'collapse', inputs, take, tellEstimate);
  }

  /** Keeps what all parts say together, but for curves of which more was known before. */
  private take(question: Question, { state }: FigureContext, variances: number[]): void {
    const { key, parts, stacks } = question;
    const whole = pooled(parts);
    this.curves.length = variances.length;
    variances.forEach((variance, place) => {
      const output = pointOf(whole, place);
      const old = this.curves[place];
      const final = stacks === state.stacks && stacksOf(output) === stacks;
      if (!final && old?.key === key && stacksOf(output) < stacksOf(old.output)) return;
      if (output.samples[0] === 0 && output.refused[0] === '') return; // not begun
      this.curves[place] = { place, variance, key, output, wanted: state.stacks };
    });
  }

  private progress({ parts, stacks }: Question): number {
    const done = parts.map(({ samples }) => samples.reduce((a, b) => a + b) / samples.length);
    return Math.min(1, done.reduce((a, b) => a + b, 0) / stacks);
  }
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
