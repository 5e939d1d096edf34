import type { Markish } from '@observablehq/plot';
import { count, short } from '../../../charts/format';
import { Handle } from '../../../charts/handle';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { colourOf, fieldRamp, type Ramp } from '../../../charts/palette';
import { element, setAll } from '../../../charts/picture';
import type { Chart } from '../../../charts/plot';
import { tableOfRows, type Table } from '../../../charts/table';
import type { Output, Theory } from '../../../engine/protocol';
import { brushed } from '../../../heads/brush';
import { HeadPointer, distinct, headMarks, modelEntries, type Spot } from '../../../heads/head-dots';
import type { HeadRegistry } from '../../../heads/registry';
import { covarianceNames, traced, untraced } from '../../../heads/traces';
import { allowed } from '../../../state/control';
import { SETTING, settingOf, tokenProcesses, widthOf } from '../../../state/setting';
import { Frame } from '../../../ui/frame';
import {
  cellsOf,
  domainAround,
  FULL,
  gridOf,
  MapCanvas,
  mapChart,
  mapMarks,
  REGIMES,
  signalNames,
  SIGNALS,
  sizeOf,
  stripEntry,
  type Field,
  type Range,
} from '../../shared/map-field';
import {
  contourPoints,
  HALF_WAY,
  HALF_WAY_LINE,
  halfWayMark,
  halfWaySlope,
  levelEntry,
  levelMarks,
  levelPoints,
  rankMark,
  WIDTH_LIMIT,
  widthMark,
} from '../../shared/map-levels';
import type { Figure, FigureContext, State, Store } from '../state';

interface Result extends Field {
  key: string;
}

const QUICK = { columns: 48, rows: 36 };
/** What a screen reader calls the picture; the caption follows. */
const NAME = 'Map of the localization index.';
/** Every so many columns and rows of the map have a tip: those between lie within its reach. */
const TIPS = 4;

/** What the colours and contours of the map say. */
function marksOf(field: Field): Mark[] {
  const { map } = field;
  const { columns, rows } = sizeOf(map);
  const cells = cellsOf(field);
  const each = (count: number) => Array.from({ length: Math.ceil(count / TIPS) }, (_, i) => i * TIPS);
  return each(rows).flatMap((row) =>
    each(columns).map((column) => {
      const [x, y, at] = [cells.x(column), cells.y(row), row * columns + column];
      const [index, rho] = [map.localization[at], map.rho_mean[at]].map(short);
      return { x, y, text: `ξ/λ ${short(x)}, √ηF/λ ${short(y)}: L ${index}, mean of ρ ${rho}` };
    }),
  );
}

/** Localization over the two numbers that the theory asks of a head. */
export class PhaseMapFigure implements Figure {
  readonly id = 'phase-map';
  readonly inputs = [...SETTING, 'asymmetry'] as const;
  readonly repaintOn = ['sigma', 'sample', 'head', 'brush'] as const;
  /** The map itself knows only the traces; of the ensemble no more than a ratio in the caption. */
  readonly beside = [
    'mean',
    'variance',
    'width',
    'length',
    'temperature',
    'tokens',
    'correlation',
    'asymmetry',
    'sigma',
  ] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private canvas = new MapCanvas();
  private handle: Handle;
  private pointer: HeadPointer;
  private tip: MarkTip;
  private chart: Chart | null = null;
  private result: Result | null = null;
  /** What the chart was drawn of. */
  private drawn: { map: Output<'map'>; look: string; ramp: Ramp } | null = null;
  private dot = element('circle', {
    r: 8,
    fill: colourOf('softmax', 'clipped'),
    stroke: 'var(--paper)',
    'stroke-width': 2.5,
    'data-mark': 'present point',
  });
  /** The theory at a point: where the point was when the engine was asked. */
  private present: { x: number; y: number; theory: Theory } | null = null;

  constructor(
    private store: Store,
    private registry: HeadRegistry,
  ) {
    const { chart } = this.frame;
    const say = ({ x, y }: Spot) => `ξ/λ ${short(x)}, √η_F/λ ${short(y)}`;
    this.pointer = new HeadPointer(chart, registry, store, say);
    this.tip = new MarkTip(chart, () => registry.hovered !== '');
    this.handle = new Handle(chart, 'Mean and spread of the eigenspectrum', {
      drag: (x, y) => this.drag(x, y),
      step: (dx, dy) => this.step(dx, dy),
      end: (x) => this.moveTo(x, this.point()[1] || 0.01),
      rest: () => store.settle(),
      keep: () => store.keep('mean', 'variance'),
    });
  }

  async compute(context: FigureContext): Promise<void> {
    // Each shows what it has: a point that the ensemble cannot have leaves the map as it is.
    await Promise.all([this.askPresent(context), this.askMap(context)]);
  }

  private async askPresent(context: FigureContext): Promise<void> {
    const [x, y] = this.point();
    this.present = { x, y, theory: await context.run('propagation', settingOf(context.state)) };
    context.show(0.1);
  }

  private async askMap(context: FigureContext): Promise<void> {
    const { state, quality } = context;
    const domain = this.handle.held && this.result ? this.result.domain : this.domainOf(state);
    const { length, tokens, correlation, asymmetry } = state;
    const common = { length, tokens, correlation, asymmetry };
    const key = JSON.stringify([common, domain]);
    if (this.result?.key === key) return;
    const size = quality === 'quick' ? QUICK : FULL;
    const grid = gridOf(domain, size);
    const take = (map: Output<'map'>, done: boolean) => {
      this.result = { key: done && quality === 'full' ? key : '', domain, map };
      context.show(0.5);
    };
    take(await context.run('map', { ...common, ...grid }, (map) => take(map, false)), true);
  }

  *paint() {
    const { result, drawn } = this;
    if (!result) return;
    const spots = this.spots();
    const look = this.look(spots);
    // While the point is dragged it alone moves: contours and borders take longer than a frame.
    if (drawn?.map !== result.map || drawn.look !== look || drawn.ramp !== fieldRamp()) {
      const ramp = fieldRamp();
      yield* this.draw(result, spots);
      yield;
      this.drawn = { map: result.map, look, ramp };
    }
    const caption = this.caption();
    this.placePoint(result, caption);
    this.frame.say(caption);
  }

  /** What the picture depends on beside its numbers and colours, and the present point. */
  private look(spots: readonly Spot[]): string {
    const { state } = this.store;
    const { sample, head } = state;
    const places = spots.map(({ head: { model, id }, x, y }) => [model.name, id, x, y]);
    return JSON.stringify([this.frame.width, widthOf(state), sample, head, [...brushed(state)], places]);
  }

  private *draw(result: Result, spots: Spot[]) {
    const { width } = this.frame;
    const levels = levelPoints(result, width, spots);
    const taken = [...spots, ...levels, ...contourPoints(result)];
    yield;
    const names = yield* mapMarks(result, width, taken);
    this.chart = mapChart(this.frame, result, {
      label: NAME,
      entries: this.entries(),
      marks: [
        ...levelMarks(result, levels),
        ...names,
        ...this.reachMarks(),
        ...headMarks(spots, this.store.state.head, brushed(this.store.state)),
      ],
    });
    this.chart.svg.append(this.dot);
    const { chart: drawn } = this;
    this.pointer.place([spots, drawn]);
    this.tip.place(() => [[marksOf(result), drawn]]);
  }

  table(): Table | null {
    const { result, present } = this;
    if (!result) return null;
    const { columns, rows } = sizeOf(result.map);
    const { localization, rho_mean, regime, signal } = result.map;
    const { x, y } = cellsOf(result);
    const [across, up] = ['xi_over_lambda', 'sqrt_eta_f_over_lambda'];
    const heads = this.spots().map(({ head, x, y }) => ({ kind: 'head', [across]: x, [up]: y, head: head.id }));
    const point = present && { kind: 'present', [across]: present.x, [up]: present.y, ...present.theory, head: '' };
    const names = ['kind', across, up, 'localization', 'rho_mean', 'regime', 'signal', 'head'];
    return {
      ...tableOfRows(point ? [...heads, point] : heads, names),
      grid: {
        kind: 'cell',
        axes: [
          { name: up, at: Array.from({ length: rows }, (_, row) => y(row)) },
          { name: across, at: Array.from({ length: columns }, (_, column) => x(column)) },
        ],
        values: { localization, rho_mean },
        choices: { regime: { index: regime, names: REGIMES }, signal: { index: signal, names: SIGNALS } },
      },
    };
  }

  private entries() {
    const registry = this.registry.shown(this.store.state.sample);
    return [
      stripEntry(this.result as Result),
      levelEntry,
      WIDTH_LIMIT,
      ...(this.isWalk() ? [HALF_WAY_LINE] : []),
      ...modelEntries(registry, this.spots()),
    ];
  }

  /**
   * Below these lines nothing lies: no matrix of the present width, where its variance would be
   * negative, and no matrix of the heads' rank.
   */
  private reachMarks(): Markish[] {
    const { domain } = this.result as Result;
    const rank = this.floorWidth();
    const width = widthOf(this.store.state);
    return [
      widthMark(domain, width),
      ...(this.isWalk() ? [halfWayMark(domain, width)] : []),
      ...(rank ? [rankMark(domain, rank)] : []),
    ];
  }

  /** Whether the tokens are a walk, for which the line of half the fall holds. */
  private isWalk(): boolean {
    return !tokenProcesses[this.store.state.tokens].correlation;
  }

  /** How many heads lie where the variance is small against the mean, in a sentence. */
  private halfWayText(spots: readonly Spot[]): string {
    if (!this.isWalk() || spots.length === 0) return '';
    const slope = halfWaySlope(widthOf(this.store.state));
    const below = spots.filter(({ x, y }) => y < slope * Math.abs(x)).length;
    return `${count(below)} of ${count(spots.length)} heads lie below the line v = ${HALF_WAY} d m².`;
  }

  /** The rank of the heads that are shown, where they have one; 0 where they differ or none is shown. */
  private floorWidth(): number {
    const widths = new Set(this.spots().map(({ head }) => head.head_width));
    return widths.size === 1 ? [...widths][0] : 0;
  }

  private point(): [number, number] {
    const { mean, variance, temperature } = this.store.state;
    const width = widthOf(this.store.state);
    return [(mean * width) / temperature, Math.sqrt(width * (variance + mean * mean)) / temperature];
  }

  private spots(): Spot[] {
    const { sample, sigma } = this.store.state;
    const spots = traced(this.registry.heads(sample), sigma).map(({ head, traces }) => {
      const temperature = Math.sqrt(head.head_width);
      return { head, x: traces.xi / temperature, y: Math.sqrt(traces.eta_f) / temperature };
    });
    return distinct(spots);
  }

  /** Room for the point, the heads, and what is worth seeing in any case. */
  private domainOf(state: Readonly<State>) {
    const [x, y] = this.point();
    return domainAround([{ x, y }, ...this.spots()], state.tokens);
  }

  private placePoint(result: Result, caption: string): void {
    if (!this.chart) return;
    const { x, y, svg } = this.chart;
    const { domain } = result;
    const [px, py] = this.point();
    const place = Math.max(py, domain.y[0]); // the axis is logarithmic
    const isOn = py > 0;
    setAll(this.dot, { cx: x.apply(px), cy: y.apply(isOn ? py : place), visibility: isOn ? 'visible' : 'hidden' });
    svg.setAttribute('aria-label', `${NAME} ${caption}`);
    this.frame.put(svg, [this.canvas.paint(result, this.chart)]);
    const { mean, variance } = this.store.state;
    const text = `mean ${short(mean)}, variance ${short(variance)}; ξ/λ ${short(px)}, √η_F/λ ${short(py)}`;
    this.handle.place(x.apply(px), y.apply(place), { now: px, from: domain.x[0], to: domain.x[1], text });
  }

  private drag(px: number, py: number): void {
    if (!this.chart || !this.result) return;
    const { domain } = this.result;
    const inside = (value: number, [low, high]: Range) => Math.min(high, Math.max(low, value));
    const x = inside(this.chart.x.invert(px), domain.x);
    this.moveTo(x, inside(this.chart.y.invert(py), domain.y));
  }

  private step(dx: number, dy: number): void {
    const [x, y] = this.point();
    this.moveTo(x + 0.1 * dx, (y || 0.01) * 10 ** (0.05 * dy));
  }

  /** Sets the mean and the variance that lie at a point; the variance stops at zero. */
  private moveTo(x: number, y: number): void {
    const { temperature } = this.store.state;
    const width = widthOf(this.store.state);
    const mean = allowed('mean', Number(((x * temperature) / width).toPrecision(4)));
    const variance = allowed('variance', (y * temperature) ** 2 / width - mean * mean);
    this.store.set({ mean, variance: Number(variance.toPrecision(4)) }, false);
  }

  private caption(): string {
    const { present } = this;
    if (!present) return '';
    const { x, y, theory } = present;
    const { eta_s, eta_f } = theory.moments;
    const shown = this.store.state.asymmetry;
    const own = eta_f > 0 ? eta_s / eta_f : 1;
    const slice =
      Math.abs(own - shown) > 0.02 ? ` It has η_S/η_F = ${short(own)}, the map is drawn for ${short(shown)}.` : '';
    const { sample, sigma } = this.store.state;
    const heads = this.registry.heads(sample);
    const dots = heads.length > 0 ? ` Dots: heads with ${covarianceNames[sigma]}.` : '';
    return [
      `Current point: ξ/λ = ${short(x)}, √η_F/λ = ${short(y)}, ${signalNames[theory.signal]}, ` +
        `L = ${short(theory.localization)}, mean of ρ ${short(theory.rho_mean)}.${slice}${dots}`,
      this.halfWayText(this.spots()),
      untraced(heads, sigma),
    ]
      .filter(Boolean)
      .join(' ');
  }
}
