import type { Simulated, SweepPoint } from '../../engine/protocol';
import { askPredictions } from '../../heads/predictions';
import type { HeadRegistry } from '../../heads/registry';
import { traced } from '../../heads/traces';
import { queryOf, settingOf } from '../../state/setting';
import { askLines, askSweep, domainOf, sweepVariances, type Lines } from './localization-questions';
import { askPoint, isQuick, type Point } from './point';
import type { FigureContext, State } from './state';

/** Lines and simulated points over a range of variances. */
export interface Curves {
  lines: Lines;
  points: SweepPoint[];
  domain: readonly [number, number];
  /** The question that the points answer; '' for one that no other is equal to. */
  key: string;
  /** Sequences that were asked for behind each point. */
  wanted: number;
  /** Whether the points belong to the lines: after a change they lag behind, and are drawn faint. */
  fresh: boolean;
}

/** What the first screen shows before the engine has said anything. */
export interface FirstResult {
  point: Point;
  curves: Curves;
}

/** What the engine has said for the first screen: the present point, the curves, and simulated keys. */
export class LocalizationAnswers {
  point: Point | null;
  curves: Curves | null;
  private keys: { question: string; output: Simulated } | null = null;
  /** What lines and predictions of the heads answer at present. */
  private linesOf = '';
  private predictionsOf = '';

  constructor(
    private registry: HeadRegistry,
    first: FirstResult | null,
  ) {
    this.point = first?.point ?? null;
    this.curves = first?.curves ?? null;
    // Heads that were added, or have other traces, are not among the predicted ones.
    registry.added.subscribe(() => (this.predictionsOf = ''));
  }

  /** Asks for the point of the state. False where it would take too long while a control is dragged. */
  async askPoint(context: FigureContext): Promise<boolean> {
    if (context.quality === 'quick' && !isQuick(context.state)) return false;
    this.point = await askPoint(context);
    return !context.signal.aborted;
  }

  /** Asks for lines and predictions; at rest also for the simulated points and keys. */
  async askCurves(context: FigureContext): Promise<void> {
    const { state, quality } = context;
    const isQuickLook = quality === 'quick';
    const domain = isQuickLook && this.curves ? this.curves.domain : this.domainOf(state);
    await Promise.all([this.takeLines(context, domain), this.takePredictions(context)]);
    if (isQuickLook) return;
    context.show(0.1);
    await this.takePoints(context, domain);
    await this.takeKeys(context);
  }

  /** Simulated propagation of the keys of a state; null while that of another one is known. */
  keysOf(state: Readonly<State>): Simulated | null {
    return this.keys?.question === keysQuestion(state) ? this.keys.output : null;
  }

  private async takeLines(context: FigureContext, domain: readonly [number, number]): Promise<void> {
    const { state, quality } = context;
    const question = questionOf(state);
    const asked = JSON.stringify([question, state.measure, domain, quality]);
    const finer = asked.replace('"quick"', '"full"');
    const { curves } = this;
    const isKnown = curves && (asked === this.linesOf || finer === this.linesOf);
    const lines = isKnown ? curves.lines : await askLines(context, domain);
    if (isKnown && curves.fresh === (curves.key === question)) return;
    const { points = [], key = '', wanted = 0 } = curves ?? {};
    this.curves = { lines, points, domain, key, wanted, fresh: key === question };
    if (!isKnown) this.linesOf = asked;
  }

  private async takePredictions(context: FigureContext): Promise<void> {
    const { measure, sigma, length, tokens, correlation, seed } = context.state;
    const query = queryOf(context.state);
    const asked = JSON.stringify([measure, sigma, length, tokens, correlation, seed, query, context.quality]);
    if (asked === this.predictionsOf) return;
    this.predictionsOf = asked;
    try {
      await askPredictions(context, this.registry);
    } catch (error) {
      this.predictionsOf = '';
      throw error;
    }
  }

  private async takePoints(context: FigureContext, domain: readonly [number, number]): Promise<void> {
    const { samples } = context.state;
    const key = questionOf(context.state);
    if (this.curves?.fresh && this.covers(domain, samples)) return;
    await askSweep(context, domain, (points, done) => {
      const { curves } = this;
      // Early on, what is shown already (from the build) may be the better answer.
      if (!curves || (curves.fresh && !done && fewest(points) < fewest(curves.points))) return;
      this.curves = { ...curves, points, key, wanted: samples, fresh: true };
      context.show(0.1 + (0.8 * fewest(points)) / samples);
    });
  }

  private async takeKeys(context: FigureContext): Promise<void> {
    const { state } = context;
    const question = keysQuestion(state);
    if (this.keys?.question === question) return;
    const take = (output: Simulated) => {
      this.keys = { question, output };
      context.show(0.9 + (0.1 * output.samples) / state.samples);
    };
    const input = { ...settingOf(state), ...queryOf(state), samples: state.samples };
    take(await context.run('simulate', input, take));
  }

  private domainOf(state: Readonly<State>): [number, number] {
    const heads = traced(this.registry.heads(state.sample), state.sigma);
    return domainOf(
      state,
      heads.map(({ traces }) => traces),
    );
  }

  /** Whether there are enough sequences behind every point of a domain: points hold all measures. */
  private covers(domain: readonly [number, number], samples: number): boolean {
    const { points = [], wanted = 0 } = this.curves ?? {};
    const known = new Set(points.map(({ variance }) => variance));
    return (
      wanted === samples && fewest(points) >= samples && sweepVariances(domain).every((variance) => known.has(variance))
    );
  }
}

/** What the simulated points depend on, apart from how many sequences there are. */
export function questionOf(state: Readonly<State>): string {
  const { variance, ...question } = settingOf(state);
  return JSON.stringify({ ...question, ...queryOf(state) });
}

function keysQuestion(state: Readonly<State>): string {
  return JSON.stringify([settingOf(state), queryOf(state), state.samples]);
}

/** The number of sequences behind the least sampled point. */
export function fewest(points: readonly SweepPoint[]): number {
  const known = points.filter((point) => point.refused === '');
  return known.length > 0 ? Math.min(...known.map((point) => point.samples)) : 0;
}
