import type { Measure, Output, SweepPoint, TokenProcess } from '../../engine/protocol';
import type { HeadTraces } from '../../heads/traces';
import { limitsOf } from '../../state/control';
import { gridSettingOf, lastVariance, meansOf, queryOf, tokenProcesses, widthOf } from '../../state/setting';
import type { Spread } from '../../state/heads';
import { partsOf, runParts } from '../../ui/parts';
import type { FigureContext, State } from './state';

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
export async function askLines(context: FigureContext, domain: readonly [number, number]): Promise<Lines> {
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
export async function askSweep(
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
