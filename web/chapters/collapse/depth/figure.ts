import type { Markish, PlotOptions } from '@observablehq/plot';
import { decade, decades, tick, count, short } from '../../../charts/format';
import type { Entry } from '../../../charts/legend';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { dashes, series } from '../../../charts/palette';
import { compose, shifted, type Chart, chartWithLegend, dot, gridY, line, ruleX } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import { BARS, withError } from '../../../charts/with-error';
import type { LayerMeasure } from '../../../engine/protocol';
import { child } from '../../../ui/dom';
import { Frame, type Shape } from '../../../ui/frame';
import { entryOf } from '../../../ui/registry';
import { type Figure, type FigureContext, type Rank, STACK, type Store, type State } from '../state';
import { pointsOf, type LayerPoint, type StackCurves, type Curve, stacksOf } from './curves';
import { claimText, titleText } from './words';

const AXES: Record<Rank, string> = {
  residual: 'relative residual',
  stable_rank: 'stable rank',
  effective_rank: 'effective rank',
  cosine: 'mean cosine of two tokens',
};

/** Below this width the two charts stand one above the other. */
const NARROW = 640;

/** Along the layers of a stack: how alike the tokens become, and how sharp attention is. */
export class DepthFigure implements Figure {
  readonly id = 'depth';
  readonly inputs = STACK;
  readonly repaintOn = ['rank', 'rows', 'collapse_threshold'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private claim = child(this.frame.root, '[data-claim]');
  private tip = new MarkTip(this.frame.chart);

  constructor(
    private store: Store,
    private curves: StackCurves,
  ) {}

  compute(context: FigureContext): Promise<void> {
    return this.curves.ask(context);
  }

  *paint() {
    const { known } = this.curves;
    const { state } = this.store;
    const { rank } = state;
    if (known.length === 0) return;
    const lists = known.map((curve) => this.points(pointsOf(curve, rank)));
    const domain = rankDomain(rank, lists.flat());
    const y = {
      domain,
      label: AXES[rank],
      clamp: true,
      ...(rank === 'residual'
        ? { type: 'log' as const, ticks: decades(domain), tickFormat: decade }
        : { ticks: 6, tickFormat: tick }),
    };
    this.judge();
    const { frame } = this;
    const wide = frame.width >= NARROW;
    const width = wide ? Math.floor(frame.width / 2) : frame.width;
    const height = () => frame.height({ ...SHAPE, share: SHAPE.share * (wide ? 0.5 : 1) });
    const ranks = depthChart(
      known,
      { label: AXES[rank], width, height, y, entries: [] },
      known.map((curve, i) => curveMarks(curve, lists[i], domain, this.curves.isFresh(curve))),
    );
    yield;
    const [entropyTips, entropies] = entropyChart(known, this.curves, state, { width, height });
    const [first, second] = [ranks, entropies].map(({ svg }) => svg.viewBox.baseVal.height);
    const parts = [
      { svg: ranks.svg, x: 0, y: wide ? Math.max(0, second - first) : 0 },
      { svg: entropies.svg, x: wide ? width : 0, y: wide ? Math.max(0, first - second) : first },
    ];
    const rankTips = known.flatMap((curve, i) => tipsOf(curve, lists[i], AXES[rank]));
    this.tip.place(() => [
      [rankTips, shifted(ranks, parts[0].x, parts[0].y)],
      [entropyTips, shifted(entropies, parts[1].x, parts[1].y)],
    ]);
    const size = { width: frame.width, height: wide ? Math.max(first, second) : first + second };
    frame.put(compose(parts, size, this.describe()));
    frame.say(this.caption());
  }

  table(): Table | null {
    const { known } = this.curves;
    if (known.length === 0) return null;
    const { state } = this.store;
    const measures = [state.rank, ...entropyMeasures(state)];
    const columns = ['variance', 'layer', ...measures.flatMap((name) => [name, `${name}_error`]), 'samples'];
    return { columns, rows: curveRows(known, measures) };
  }

  /** A logarithmic axis has no place for zero. */
  private points(points: LayerPoint[]): LayerPoint[] {
    return this.store.state.rank === 'residual' ? points.filter(({ value }) => value > 0) : points;
  }

  /** Says whether the paper's claim holds in the stacks shown, once all curves are theirs. */
  private judge(): void {
    const { known } = this.curves;
    if (!known.every((curve) => this.curves.isFresh(curve))) return;
    const { mean, collapse_threshold: threshold } = this.store.state;
    this.claim.textContent = claimText(known, mean, threshold);
    const chosen = known.find(({ place }) => place === 0);
    this.frame.retitle((chosen && titleText(chosen, threshold)) || entryOf(this.id).title);
  }

  private caption(): string {
    const { known } = this.curves;
    const { rank } = this.store.state;
    const ends = endsText(known, rank);
    const end = ends && `After the last layer the ${AXES[rank]} is ${ends}.`;
    const entropy = entropyText(known, this.store.state);
    return [sampledText(known), end, entropy].filter(Boolean).join(' ');
  }

  private describe(): string {
    const { known } = this.curves;
    const shown = `${AXES[this.store.state.rank]} and attention entropy`;
    return `${shown} over ${depthOf(known)} layers. ${this.caption()}`;
  }
}

const RANGE = [0, 1] as const;

/** What is drawn below the mean, each through marks of its own shape. */
const MINIMUM = { measure: 'entropy_minimum', name: 'smallest row', symbol: 'triangle' } as const;
const BOUND = { measure: 'entropy_bound', name: 'lower bound', symbol: 'times' } as const;
type Extreme = typeof MINIMUM | typeof BOUND;

/** Whether only the queries of the last block are shown, which see all the others. */
function onlyLast({ mask, rows }: Readonly<State>): boolean {
  return mask === 'blocks' && rows === 'last';
}

function meanOf(state: Readonly<State>): LayerMeasure {
  return onlyLast(state) ? 'entropy_final' : 'entropy';
}

/** They are known for all rows together only; the bound holds for the exact softmax. */
function extremesOf(state: Readonly<State>): Extreme[] {
  if (onlyLast(state)) return [];
  return state.softmax === 'exact' ? [MINIMUM, BOUND] : [MINIMUM];
}

/** What of the attention's entropy is shown: the mean over rows, then the smallest row and the bound. */
function entropyMeasures(state: Readonly<State>): LayerMeasure[] {
  return [meanOf(state), ...extremesOf(state).map(({ measure }) => measure)];
}

/** How the attention's entropy changes along the layers, with its lower bound; and what its marks say. */
function entropyChart(
  known: Curve[],
  curves: StackCurves,
  state: Readonly<State>,
  size: { width: number; height: (legend: number) => number },
): readonly [Mark[], Chart] {
  const label = 'attention entropy, 0 to 1';
  const y = { domain: RANGE, label, ticks: 6, tickFormat: tick };
  const mean: Entry = { text: 'mean of the rows', kind: 'ring', colours: ['var(--ink)'] };
  const others = extremesOf(state).map(({ name, symbol }): Entry => ({
    text: name,
    kind: symbol === 'times' ? 'cross' : symbol,
    colours: ['var(--ink)'],
  }));
  const marks = (curve: Curve): Markish[] => {
    const fresh = curves.isFresh(curve);
    return [
      ...extremesOf(state).flatMap(({ measure, ...look }) => thinMarks(curve, pointsOf(curve, measure), look, fresh)),
      ...curveMarks(curve, pointsOf(curve, meanOf(state)), RANGE, fresh),
    ];
  };
  const drawn = depthChart(known, { label, ...size, y, entries: [mean, ...others] }, known.map(marks));
  const lines = [{ measure: meanOf(state), name: 'mean attention entropy' }, ...extremesOf(state)];
  const tips = known.flatMap((curve) =>
    lines.flatMap(({ measure, name }) => tipsOf(curve, pointsOf(curve, measure), name)),
  );
  return [tips, drawn];
}

/** The mean entropy in the last layer, in a sentence; '' where there is none. */
function entropyText(curves: readonly Curve[], state: Readonly<State>): string {
  const ends = endsText(curves, meanOf(state));
  const whose = onlyLast(state) ? ' of the queries of the last block' : '';
  return ends && `In the last layer the mean entropy${whose} is ${ends}.`;
}

/** More marks than this on a line would merge into a band: every k-th is drawn. */
const MOST = 32;

/** Of a chart over the layers. */
export const SHAPE: Shape = { share: 0.5, least: 280, most: 400 };

/** The number of layers that the curves have. */
function depthOf(curves: Curve[]): number {
  return Math.max(0, ...curves.map(({ output }) => output.layer.length - 1));
}

/**
 * A chart over the layers: what its curves are is for the caller to say, the first drawn on top. `height` is
 * that of the picture below a legend of so many pixels.
 */
function depthChart(
  curves: Curve[],
  options: { label: string; width: number; height: (legend: number) => number; y: PlotOptions['y']; entries: Entry[] },
  marks: Markish[][],
): Chart {
  const { label, width, height, y, entries } = options;
  return chartWithLegend({
    label,
    width,
    height,
    entries: [...varianceEntries(curves), ...entries],
    marginLeft: 52,
    marginRight: 16,
    marginBottom: 44,
    x: layerAxis(depthOf(curves)),
    y,
    marks: [gridY({ strokeOpacity: 0.08 }), ...[...marks].reverse().flat()],
  });
}

/**
 * A measure as a line through rings, with bars that end where the axis does; on a logarithmic axis a bar
 * that includes 0 has its upper half alone. What is not fresh lags behind the question, and is pale.
 */
export function curveMarks(
  { place, variance }: Curve,
  points: LayerPoint[],
  [low, high]: readonly [number, number],
  fresh: boolean,
): Markish[] {
  const colour = series[place];
  const opacity = fresh ? 1 : 0.3;
  const shown = shownOf(points);
  const end = (side: number) => (point: LayerPoint) => {
    const value = point.value + side * BARS * point.error;
    return low > 0 && value <= 0 ? point.value : Math.min(high, Math.max(low, value));
  };
  const at = { x: 'layer', stroke: colour, opacity };
  const name = `variance ${variance}`;
  return [
    line(points, {
      ...at,
      y: 'value',
      strokeDasharray: dashes[place],
      strokeWidth: place === 0 ? 2.5 : 1.75,
      ariaDescription: `line, ${name}`,
    }),
    ruleX(
      shown.filter(({ error }) => error > 0),
      { ...at, y1: end(-1), y2: end(1), strokeWidth: 1.5, ariaDescription: `error bars, ${name}` },
    ),
    dot(shown, { ...at, y: 'value', r: 3, fill: 'var(--paper)', ariaDescription: name }),
  ];
}

/** A thin line through marks of another shape than the rings; its dashes tell the variance too. */
function thinMarks(
  { place, variance }: Curve,
  points: LayerPoint[],
  { name, symbol }: { name: string; symbol: 'triangle' | 'times' },
  fresh: boolean,
): Markish[] {
  const at = { x: 'layer', y: 'value', stroke: series[place], opacity: fresh ? 0.9 : 0.3 };
  return [
    line(points, {
      ...at,
      strokeWidth: 1,
      strokeDasharray: dashes[place],
      ariaDescription: `${name}, variance ${variance}`,
    }),
    dot(shownOf(points), {
      ...at,
      r: 3,
      symbol,
      strokeWidth: 1.5,
      ...(symbol === 'triangle' && { fill: 'var(--paper)' }),
      ariaDescription: `marks of the ${name}, variance ${variance}`,
    }),
  ];
}

/** What the points of a curve say. */
export function tipsOf({ variance }: Curve, points: LayerPoint[], name: string): Mark[] {
  return points.map(({ layer, value, error, samples }) => {
    const measured = `${name} ${withError(value, error > 0 ? error : null)}`;
    const text = `v = ${short(variance)}, layer ${layer}: ${measured}, ${count(samples)} stacks`;
    return { x: layer, y: value, text };
  });
}

/** The points that get a mark. */
function shownOf(points: LayerPoint[]): LayerPoint[] {
  const every = Math.ceil(points.length / MOST);
  return points.filter(({ layer }) => layer % every === 0);
}

/** Legend entries of the variances. */
function varianceEntries(curves: Curve[]): Entry[] {
  return curves.map(({ place, variance }) => ({
    text: `v = ${short(variance)}`,
    kind: 'line',
    colours: [series[place]],
    dash: dashes[place],
  }));
}

/** How many stacks are behind the curves, and what is missing from them. */
function sampledText(curves: Curve[]): string {
  const answered = curves.filter(({ output }) => output.refused[0] === '');
  const fewest = Math.min(...answered.map(({ output }) => stacksOf(output)));
  const sentences = curves.map(({ variance, output }) => {
    if (output.refused[0]) return `v = ${short(variance)} is left out: ${output.refused[0]}.`;
    if (output.overflow[0] === 0) return '';
    return `With v = ${short(variance)} the numbers overflow in layer ${output.overflow[0]}.`;
  });
  if (answered.length > 0) {
    sentences.unshift(`${count(fewest)} of ${count(answered[0].wanted)} stacks.`);
  }
  return sentences.filter(Boolean).join(' ');
}

/** The last value of a measure on every curve, in words. */
export function endsText(curves: readonly Curve[], measure: LayerMeasure): string {
  const ends = curves.flatMap((curve) => {
    const last = pointsOf(curve, measure).at(-1);
    if (!last) return [];
    return [`${withError(last.value, last.error > 0 ? last.error : null)} for v = ${short(curve.variance)}`];
  });
  return ends.join(', ');
}

/** Rows of the curves for a CSV file: every layer with the measures and their standard errors. */
export function* curveRows(curves: Curve[], measures: readonly LayerMeasure[]): Generator<(number | null)[]> {
  const known = (value: number) => (Number.isNaN(value) ? null : value);
  for (const { variance, output } of curves) {
    for (let layer = 0; layer < output.layer.length; layer++) {
      const numbers = measures.flatMap((name) => [known(output[name][layer]), known(output[`${name}_error`][layer])]);
      yield [variance, layer, ...numbers, output.samples[layer]];
    }
  }
}

/** Residuals below this are rounding: the axis need not go further down. */
const LOWEST = 1e-17;

/** The horizontal axis of layers. */
export function layerAxis(depth: number) {
  const steps = [1, 2, 5, 10, 20, 50, 100];
  const step = steps.find((it) => depth / it <= 13) ?? 100;
  const ticks = Array.from({ length: Math.floor(depth / step) + 1 }, (_, i) => i * step);
  return { domain: [0, Math.max(1, depth)], label: 'layer →', labelAnchor: 'center', ticks } as const;
}

/** The range of a vertical axis that holds the points: whole decades for the residual. */
export function rankDomain(rank: Rank, points: LayerPoint[]): [number, number] {
  const values = points.map(({ value }) => value);
  if (rank === 'residual') {
    const low = Math.max(LOWEST, Math.min(0.1, ...values));
    return [10 ** Math.floor(Math.log10(low)), 1];
  }
  if (rank === 'cosine') return [Math.min(0, ...values.map((value) => 1.1 * value)), 1];
  return [0, 1.08 * Math.max(1, ...values)];
}
