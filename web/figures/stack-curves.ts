import type { Collapsed, LayerMeasure } from '../engine/protocol';
import { stackOf, variancesOf } from '../state/setting';
import type { Ask } from './part';
import { steady } from './steady';

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
  /** Progress of every curve, in [0, 1]. */
  progress: number[];
  /** Those who want to know of something new. */
  shows: Set<Ask['show']>;
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
  async ask(ask: Ask): Promise<void> {
    const { state, quality } = ask;
    const key = JSON.stringify({ ...stackOf(state), stacks: 0 });
    const stacks = quality === 'quick' ? 1 : state.stacks;
    for (;;) {
      const { asked } = this;
      const same = asked?.key === key && asked.stacks === stacks && !asked.signal.aborted;
      const question = same ? asked : this.begin(ask, key, stacks);
      question.shows.add(ask.show);
      try {
        return await question.answer;
      } catch (error) {
        // The figure that asked gave up, this one did not: it asks itself.
        if (!question.signal.aborted || ask.signal.aborted) throw error;
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

  private begin(ask: Ask, key: string, stacks: number): Question {
    const variances = variancesOf(ask.state);
    const question: Question = {
      ...{ key, stacks, signal: ask.signal, shows: new Set() },
      progress: variances.map(() => 0),
      answer: Promise.resolve(),
    };
    this.key = key;
    this.curves.length = variances.length;
    this.asked = question;
    // All grow together, but in a quick look, which leaves a core to the drawing.
    const lanes = ask.quality === 'quick' ? ask.workers : variances.length;
    const jobs = Array.from({ length: lanes }, async (_, lane) => {
      for (let place = lane; place < variances.length; place += lanes) {
        await this.run(question, ask, variances[place], place);
      }
    });
    question.answer = Promise.all(jobs).then(
      () => {},
      (error: unknown) => {
        if (this.asked === question) this.asked = null; // asked again, it may succeed
        throw error;
      },
    );
    return question;
  }

  private async run(question: Question, ask: Ask, variance: number, place: number): Promise<void> {
    const { state, quality } = ask;
    const { key, stacks, progress, shows } = question;
    const stack = stackOf(state);
    const point = { means: [stack.mean], variances: [variance], layers: 'all' as const };
    const tell = () => {
      const sum = progress.reduce((a, b) => a + b) / progress.length;
      for (const show of shows) show(0.98 * sum);
    };
    const tellAtTimes = steady(STEADY, tell);
    const take = (output: Collapsed, done: boolean) => {
      const old = this.curves[place];
      progress[place] = done ? 1 : Math.min(1, output.samples[0] / stacks);
      const answers = done && quality === 'full';
      if (!answers && old?.key === key && stacksOf(output) < stacksOf(old.output)) return;
      this.curves[place] = { place, variance, key, output, wanted: state.stacks };
      if (done) tell();
      else tellAtTimes();
    };
    const early = quality === 'full' ? (output: Collapsed) => take(output, false) : undefined;
    take(await ask.run('collapse', { ...stack, stacks, ...point }, early), true);
  }
}

/** Stacks that have gone through all layers, or up to the one that overflowed. */
export function stacksOf({ layers, samples, overflow }: Collapsed): number {
  return samples[overflow[0] > 0 ? overflow[0] - 1 : layers - 1];
}

/** A measure along the layers of a curve, where it has a value. */
export function pointsOf({ output }: Curve, measure: LayerMeasure): LayerPoint[] {
  const { layers, value, error, samples } = output;
  return Array.from({ length: layers }, (_, layer) => ({
    layer,
    value: value[measure][layer],
    error: error[measure][layer],
    samples: samples[layer],
  })).filter((point) => Number.isFinite(point.value));
}
