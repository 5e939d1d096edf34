import type { Markish } from '@observablehq/plot';
import { count, decade, short, tick } from '../../charts/format';
import { Handle } from '../../charts/handle';
import { legend } from '../../charts/legend';
import { series } from '../../charts/palette';
import { chart, dot, gridX, gridY, link, ruleX, type Chart } from '../../charts/plot';
import type { Table } from '../../charts/table';
import type { SweepPoint } from '../../engine/protocol';
import { brushed } from '../../heads/brush';
import { nameOf, spreadNames, spreadOf, type HeadRegistry } from '../../heads/registry';
import { covarianceNames, traced, untraced } from '../../heads/traces';
import { askPredictions } from '../../heads/predictions';
import { meansOf, QUERY, queryOf, SETTING, settingOf } from '../../state/setting';
import type { Store } from '../../state/store';
import { sliderOf, type State } from '../../state/table';
import { Frame, type Shape } from '../../ui/frame';
import { distinct, HeadPointer, headMarks, modelEntries, type Spot } from '../../heads/head-dots';
import { AXES, fails, othersText, risesOf, titleOf } from './lead-claim';
import { errorOf, lineEntries, lineMarks, pointMarks, riseEntry, riseMark } from './lead-marks';
import {
  askLines,
  askSweep,
  domainOf,
  sweepVariances,
  valueOn,
  type Lines,
} from './lead-questions';
import type { FigureContext, Figure } from '../../ui/figure';

/** Of the picture. */
const SHAPE: Shape = { share: 0.56, least: 300, most: 480 };
const FLOOR = 'var(--muted)';

/** What the figure shows before the engine has said anything. */
export interface FirstResult {
  lines: Lines;
  points: SweepPoint[];
  domain: [number, number];
  /** The question that the points answer; '' for one that no other is equal to. */
  key: string;
  /** Sequences that were asked for behind each point. */
  wanted: number;
}

/** Localization against the variance of the eigenspectrum. */
export class LeadFigure implements Figure {
  readonly id = 'lead';
  readonly inputs = [
    ...SETTING.filter((name) => name !== 'variance'),
    ...QUERY,
    ...(['samples', 'measure', 'sigma'] as const),
  ] as const;
  readonly repaintOn = ['variance', 'spread', 'sample', 'head', 'brush'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private handle: Handle;
  private pointer: HeadPointer;
  private chart: Chart | null = null;
  /** Whether the points belong to the lines: after a change they lag behind, and are drawn faint. */
  private fresh = true;

  constructor(
    private store: Store,
    private registry: HeadRegistry,
    private result: FirstResult | null,
  ) {
    const { chart } = this.frame;
    this.pointer = new HeadPointer(chart, registry, store, (spot) => this.numbersOf(spot));
    this.handle = new Handle(chart, 'Variance of the eigenspectrum', {
      drag: (x) => this.move(this.chart?.x.invert(x) ?? NaN),
      step: (dx, dy) => this.move(store.state.variance * 10 ** (0.05 * (dx + dy))),
      rest: () => store.settle(),
    });
  }

  async compute(context: FigureContext): Promise<void> {
    const { state, quality } = context;
    const domain = this.domainOf(state);
    const [lines] = await Promise.all([
      askLines(context, domain),
      askPredictions(context, this.registry),
    ]);
    const key = questionOf(state);
    const { points = [], key: answered = '', wanted = 0 } = this.result ?? {};
    this.result = { lines, domain, points, key: answered, wanted };
    this.fresh = answered === key;
    context.show(quality === 'quick' ? 0.5 : 0.1);
    if (this.fresh && this.covers(domain, state.samples)) return;
    await askSweep(context, domain, (found, done) => {
      // Early on, what is shown already (from the build) may be the better answer.
      if (this.fresh && !done && fewest(found) < fewest(this.result?.points ?? [])) return;
      this.result = { lines, domain, points: found, key, wanted: state.samples };
      this.fresh = true;
      context.show(0.1 + (0.9 * fewest(found)) / state.samples);
    });
  }

  private domainOf(state: Readonly<State>): [number, number] {
    const heads = traced(this.registry.heads(state.sample), state.sigma);
    return domainOf(
      state,
      heads.map(({ traces }) => traces),
    );
  }

  /** Whether the axis is another one for the present variance. */
  outgrown(): boolean {
    const [low, high] = this.domainOf(this.store.state);
    return (
      this.result !== null && (low !== this.result.domain[0] || high !== this.result.domain[1])
    );
  }

  /** Whether there are enough sequences behind every point of a domain: points hold all measures. */
  private covers(domain: [number, number], samples: number): boolean {
    const { points = [], wanted = 0 } = this.result ?? {};
    const known = new Set(points.map(({ variance }) => variance));
    return (
      wanted === samples &&
      fewest(points) >= samples &&
      sweepVariances(domain).every((variance) => known.has(variance))
    );
  }

  paint(): void {
    if (!this.result) return;
    const { lines, domain, points } = this.result;
    const { state } = this.store;
    const spots = this.spots();
    const rises = risesOf(lines);
    const inside = (variance: number) => variance >= domain[0] && variance <= domain[1];
    const known = points.filter(
      (point) => point.refused === '' && point[lines.measure] !== null && inside(point.variance),
    );
    const entries = [...lineEntries(lines.means), ...modelEntries(this.shownModels(), spots)];
    if (spots.length > 0) entries.push({ text: 'rank floor', kind: 'line', colours: [FLOOR] });
    if (rises.length > 0) entries.push(riseEntry(lines));
    const key = legend(entries, 52, this.frame.width - 8, 22);
    this.chart = chart({
      label: this.describe(),
      width: this.frame.width,
      height: this.frame.heightInSight(SHAPE, key.height) + key.height,
      marginTop: key.height + 12,
      marginLeft: 52,
      marginRight: 16,
      marginBottom: 44,
      x: {
        type: 'log',
        domain,
        label: this.axis(),
        ticks: decades(domain),
        tickFormat: decade,
        labelAnchor: 'center',
      },
      y: { domain: [0, this.top()], label: AXES[lines.measure], tickFormat: tick, ticks: 6 },
      marks: [
        gridX(decades(domain), { strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        () => key.render(),
        riseMark(rises, this.top()),
        ...lineMarks(lines),
        ...pointMarks(known, lines, this.fresh),
        ...this.floorMarks(spots),
        ...headMarks(spots, state.head, brushed(state)),
        ...this.presentMarks(lines),
      ],
    });
    this.frame.retitle(titleOf(lines));
    this.frame.put(this.chart.svg);
    this.pointer.place(spots, this.chart);
    this.placeHandle(lines);
    this.frame.say(this.caption(known, spots));
  }

  table(): Table | null {
    if (!this.result) return null;
    const { lines, points } = this.result;
    const { measure } = lines;
    const theory = lines.means.flatMap((mean, row) =>
      lines.variances.map((variance, i) => {
        const at = row * lines.variances.length + i;
        return ['theory', mean, variance, lines.value[at], lines.error[at], null, ''];
      }),
    );
    const simulated = points
      .filter((point) => point[measure] !== null)
      .map((point) => {
        const { mean, variance, samples } = point;
        return ['simulation', mean, variance, point[measure], errorOf(point, measure), samples, ''];
      });
    const heads = this.spots().map(({ head, x, y }) => [
      'head',
      head.mean,
      x,
      y,
      null,
      null,
      head.id,
    ]);
    const columns = ['kind', 'mean', 'variance', measure, 'standard_error', 'samples', 'head'];
    return { columns, rows: [...theory, ...simulated, ...heads] };
  }

  private shownModels() {
    return this.registry.shown(this.store.state.sample);
  }

  /** All heads whose traces are known, where predictions for them are. */
  private placed(): (Spot & { floor: number })[] {
    const { sample, spread, sigma } = this.store.state;
    const { measure, covariance, value } = this.registry.predictions;
    if (measure !== this.result?.lines.measure || covariance !== sigma) return [];
    return traced(this.registry.heads(sample), sigma).map(({ head, traces }) => ({
      head,
      x: spreadOf(traces, spread),
      y: value.get(head.id) ?? NaN,
      floor: traces.rank_floor,
    }));
  }

  /**
   * Heads that have a place on the axes: a logarithmic axis has none for a negative variance, and where
   * the claim fails the vertical axis is that of the lines.
   */
  private spots(): (Spot & { floor: number })[] {
    const top = this.top();
    return distinct(this.placed().filter(({ x, y }) => x > 0 && y <= top));
  }

  private top(): number {
    if (!this.result) return 1;
    const { lines, points } = this.result;
    if (['entropy', 'participation', 'rho_mean'].includes(lines.measure)) return 1;
    const ends = points.map((point) => point[lines.measure] ?? 0);
    const known = [...lines.value, ...ends].filter(Number.isFinite);
    const closer = fails(lines);
    if (!closer) known.push(...this.placed().map(({ y }) => y));
    const most = Math.max(0, ...known.filter(Number.isFinite));
    const step = closer ? 50 : 10;
    return Math.min(1, Math.max(1 / step, Math.ceil(1.05 * step * most) / step));
  }

  private axis(): string {
    const own = this.frame.width < 560 ? 'variance v' : 'variance v of the eigenspectrum';
    const kind = spreadNames[this.store.state.spread];
    return this.shownModels().length > 0 ? `${own} (heads: ${kind}) →` : `${own} →`;
  }

  /** From the least variance that a head of its rank and mean can have to the one that it has. */
  private floorMarks(spots: (Spot & { floor: number })[]): Markish[] {
    const low = this.result?.domain[0] ?? 0;
    const above = spots.filter(({ floor, x }) => floor > low && floor < x);
    const look = { stroke: FLOOR, strokeOpacity: 0.3, ariaDescription: 'rank floors of heads' };
    return [
      link(above, { ...look, x1: 'floor', x2: 'x', y1: 'y', y2: 'y' }),
      dot(above, { ...look, x: 'floor', y: 'y', symbol: 'times', r: 1.5 }),
    ];
  }

  private present(lines: Lines): { x: number; y: number } {
    const [low, high] = [lines.variances[0], lines.variances[lines.variances.length - 1]];
    const x = Math.min(high, Math.max(low, this.store.state.variance));
    return { x, y: valueOn(lines, 0, x) };
  }

  private presentMarks(lines: Lines): Markish[] {
    const { x, y } = this.present(lines);
    return [
      ruleX([x], { stroke: 'var(--ink)', strokeOpacity: 0.35, strokeDasharray: '3 3' }),
      dot(Number.isFinite(y) ? [[x, y]] : [], {
        r: 7,
        fill: series[0],
        stroke: 'var(--paper)',
        strokeWidth: 2,
        ariaDescription: 'present point',
      }),
    ];
  }

  private placeHandle(lines: Lines): void {
    if (!this.chart) return;
    const { x, y } = this.present(lines);
    const top = Number.isFinite(y) ? y : 0;
    const { variance } = this.store.state;
    const text = `variance ${short(variance)}, ${AXES[lines.measure]} ${short(y)}`;
    const [from, to] = this.travel([
      lines.variances[0],
      lines.variances[lines.variances.length - 1],
    ]);
    const value = { now: variance, from, to, text };
    this.handle.place(this.chart.x.apply(x), this.chart.y.apply(top), value);
  }

  private move(variance: number): void {
    if (!this.result || !Number.isFinite(variance)) return;
    const [low, high] = this.travel(this.result.domain);
    const inside = Math.min(high, Math.max(low, variance)); // the library allows both ends
    this.store.set({ variance: Number(inside.toPrecision(3)) }, false);
  }

  /** Where the handle may be: on the axis, or where the slider goes, to which the axis then grows. */
  private travel([low, high]: [number, number]): [number, number] {
    const slider = sliderOf('variance', this.store.state);
    return slider ? [Math.min(low, slider.from), Math.max(high, slider.to)] : [low, high];
  }

  private caption(known: SweepPoint[], spots: Spot[]): string {
    const { state } = this.store;
    const refused = (this.result?.points ?? []).find((point) => point.refused !== '');
    const placed = this.placed();
    const hidden = placed.filter(({ x }) => x <= 0).length;
    const above = placed.filter(({ x, y }) => x > 0 && y > this.top()).length;
    const twice = placed.length - distinct(placed).length;
    const sentences = [
      known.length > 0 &&
        `Points: ${count(fewest(known))} of ${count(this.result?.wanted ?? 0)} sequences.`,
      spots.length > 0 &&
        `Dots: ${spots.length} heads by ${spreadNames[state.spread]}, ${covarianceNames[state.sigma]}.`,
      twice > 0 && `Heads of the sample at the same places, not drawn again: ${twice}.`,
      this.chosenText(spots),
      above > 0 && `Heads above this axis: ${above}.`,
      hidden > 0 && `Heads without a place on this axis, their variance is not above 0: ${hidden}.`,
      untraced(this.registry.heads(state.sample), state.sigma),
      refused && `Points left out: ${refused.refused}.`,
      this.result && othersText(this.result.lines),
      this.outside(),
    ];
    return sentences.filter(Boolean).join(' ');
  }

  /** Both coordinates of a head. */
  private numbersOf({ x, y }: Spot): string {
    const { spread, measure } = this.store.state;
    return `${spreadNames[spread]} ${short(x)}, ${AXES[measure]} ${short(y)}`;
  }

  private chosenText(spots: Spot[]): string {
    const chosen = spots.find(({ head }) => head.id === this.store.state.head);
    return chosen ? `Chosen: ${nameOf(chosen.head)}, ${this.numbersOf(chosen)}.` : '';
  }

  private outside(): string {
    const [low, high] = this.result?.domain ?? [0, Infinity];
    const { variance } = this.store.state;
    if (variance >= low && variance <= high) return '';
    const side = variance < low ? 'left' : 'right';
    return `The present variance, ${short(variance)}, lies ${side} of this axis.`;
  }

  private describe(): string {
    const { state } = this.store;
    const means = meansOf(state).map(short).join(', ');
    const ends = this.result && this.endsOf(this.result.lines);
    return `${AXES[state.measure]} against the variance of the eigenspectrum, means ${means}. ${ends}`;
  }

  private endsOf({ value, variances }: Lines): string {
    const [first, last] = [value[0], value[variances.length - 1]];
    const ends = [variances[0], variances[variances.length - 1]].map(short);
    return `For the first mean it goes from ${short(first)} at variance ${ends[0]} to ${short(last)} at ${ends[1]}.`;
  }
}

/** What the simulation depends on, apart from how many sequences there are. */
export function questionOf(state: Readonly<State>): string {
  const { variance, ...question } = settingOf(state);
  return JSON.stringify({ ...question, ...queryOf(state) });
}

function decades([low, high]: [number, number]): number[] {
  const [from, to] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  return Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
}

/** The number of sequences behind the least sampled point. */
function fewest(points: SweepPoint[]): number {
  const known = points.filter((point) => point.refused === '');
  return known.length > 0 ? Math.min(...known.map((point) => point.samples)) : 0;
}
