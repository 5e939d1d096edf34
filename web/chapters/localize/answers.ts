import type { Measure, Output, Simulated, SweepPoint, TokenProcess } from '../../engine/protocol';
import { askPredictions } from '../../heads/predictions';
import type { HeadRegistry } from '../../heads/registry';
import { traced, type HeadTraces } from '../../heads/traces';
import { limitsOf } from '../../state/control';
import type { Spread } from '../../state/heads';
import {
  queryOf,
  settingOf,
  gridSettingOf,
  lastVariance,
  meansOf,
  tokenProcesses,
  widthOf,
  maskingOf,
} from '../../state/setting';
import { partsOf, runParts } from '../../ui/parts';
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
    const { length, width } = context.state;
    if (context.quality === 'quick' && Math.max(length, width) > QUICK_SIZE) return false;
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

/** Theory lines: values on means x variances, row-major, one row a mean. */
export interface Lines extends Pick<Output<'lines'>, 'value' | 'error'> {
  measure: Measure;
  means: number[];
  variances: number[];
  tokens: TokenProcess;
  /** The first mean with the other token processes, by variance. */
  others: OtherLine[];
}

/** The measure with another token process. */
export interface OtherLine {
  tokens: TokenProcess;
  value: Float64Array;
}

/** The token processes beside the chosen one, which the lead figure compares with it. */
export function otherTokens({ tokens }: Pick<State, 'tokens'>): TokenProcess[] {
  return (Object.keys(tokenProcesses) as TokenProcess[]).filter((name) => name !== tokens);
}

/**
 * The variances worth showing: from below where the logits' spread begins to reach the lower clip
 * to beyond where it reaches the upper one, where the heads are, and the present one.
 */
export function domainOf(state: Readonly<State>, heads: Pick<HeadTraces, Spread>[]): [number, number] {
  const { temperature, length } = state;
  const width = widthOf(state);
  const unit = temperature ** 2 / (width * lastVariance(state) ** 2);
  const variances = heads.flatMap((head) => [head.variance, head.variance_modulus, head.variance_frobenius]);
  const known = [state.variance, ...variances].filter((value) => value > 0);
  const low = Math.min(0.2 * unit, ...known);
  const high = Math.max(100 * unit * length ** 2, ...known);
  const decade = (value: number, round: (x: number) => number) =>
    10 ** Math.min(Math.log10(limitsOf('variance').maximum), Math.max(-12, round(Math.log10(value))));
  const top = decade(high, Math.ceil);
  return [Math.min(decade(low, Math.floor), top / 100), top];
}

/** `count` values from `from` to `to`, in equal steps of the logarithm. */
function logSteps(from: number, to: number, count: number): number[] {
  const at = (i: number) => Math.min(to, from * (to / from) ** (i / (count - 1)));
  return Array.from({ length: count }, (_, i) => Number(at(i).toPrecision(12)));
}

/** The variances of the theory lines, `each` a decade. */
export function lineVariances([low, high]: readonly [number, number], each: number): number[] {
  return logSteps(low, high, Math.round(Math.log10(high / low) * each) + 1);
}

/** Theory points a decade, at rest. */
export const FINE = 20;

/** Asks for the theory lines over a domain. */
async function askLines(context: FigureContext, domain: readonly [number, number]): Promise<Lines> {
  const { state, quality } = context;
  const { measure } = state;
  const variances = lineVariances(domain, quality === 'quick' ? FINE / 4 : FINE);
  const means = meansOf(state);
  // The softmax's measures are sampled: a quick look needs few draws.
  const samples = quality === 'quick' ? 100 : 2000;
  const query = queryOf(state);
  const input = { ...gridSettingOf(state), ...query, samples, means, variances, measure };
  const other = async (tokens: TokenProcess) => {
    const { value } = await context.run('lines', { ...input, means: means.slice(0, 1), tokens });
    return { tokens, value };
  };
  const [{ value, error }, ...others] = await Promise.all([
    context.run('lines', input),
    ...otherTokens(state).map(other),
  ]);
  return { value, error, means, variances, measure, tokens: state.tokens, others };
}

/** Two simulated points a decade, at round places that stay when the domain moves. */
export function sweepVariances([low, high]: readonly [number, number]): number[] {
  const from = Math.ceil(2 * Math.log10(low));
  const to = Math.floor(2 * Math.log10(high));
  return Array.from({ length: to - from + 1 }, (_, i) => Number((10 ** ((from + i) / 2)).toPrecision(3)));
}

/**
 * Simulates the lead figure's points, a part of the variances in each worker. `show` gets all the points known so
 * far.
 */
async function askSweep(
  context: FigureContext,
  domain: readonly [number, number],
  show: (points: SweepPoint[], done: boolean) => void,
): Promise<void> {
  const { state, quality, workers } = context;
  const samples = quality === 'quick' ? Math.min(64, state.samples) : state.samples;
  const setting = { ...gridSettingOf(state), ...queryOf(state), samples, means: meansOf(state), simulation_only: true };
  const inputs = partsOf(sweepVariances(domain), workers).map((variances) => ({ ...setting, variances }));
  let points: SweepPoint[] = [];
  await runParts(context, 'sweep', inputs, (outputs) => {
    const parts = outputs.map((output) => output?.rows ?? []);
    points = parts.flat().sort((a, b) => a.variance - b.variance);
    if (parts.every((part) => part.length > 0)) show(points, false);
  });
  show(points, true);
}

/** The line's value at a variance, between its grid points; NaN where the line has none. */
export function valueOn(lines: Lines, row: number, variance: number): number {
  const { variances, value } = lines;
  const last = variances.length - 1;
  const place = (last * Math.log(variance / variances[0])) / Math.log(variances[last] / variances[0]);
  const at = Math.min(last - 1, Math.max(0, Math.floor(place)));
  const part = Math.min(1, Math.max(0, place - at));
  const start = row * variances.length + at;
  return (1 - part) * value[start] + part * value[start + 1];
}

/** One random head: its eigenvalues, one sampled attention matrix and the theory of its keys. */
export type RandomHead = Output<'random-head'>;

/** What the first figure shows of one mean and variance. */
export interface Point {
  mean: number;
  variance: number;
  head: RandomHead;
}

/** Products of wider matrices or more tokens than this take longer than a frame of the screen. */
const QUICK_SIZE = 256;

/** Asks for the point of the present state: one job, which draws the ensemble once. */
export async function askPoint(context: FigureContext): Promise<Point> {
  const { state } = context;
  const input = { ...settingOf(state), ...maskingOf(state), ...queryOf(state) };
  const { mean, variance } = state;
  return { mean, variance, head: await context.run('random-head', input) };
}

/** Mean entropy of the rows of a matrix, each over the logarithm of its keys; a single key has none. */
export function meanEntropy({ entropy }: Pick<RandomHead, 'entropy'>): number {
  const known = entropy.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
