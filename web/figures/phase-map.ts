import { decade, short, tick } from '../charts/format';
import { Handle } from '../charts/handle';
import { paintGrid } from '../charts/heatmap';
import { legend } from '../charts/legend';
import { fieldRamp, stripOf } from '../charts/palette';
import { element } from '../charts/picture';
import { chart, dot, line, text, type Chart } from '../charts/plot';
import type { Table } from '../charts/table';
import type { Output, Theory } from '../engine/protocol';
import type { Models } from '../model/models';
import { SETTING, settingOf, widthOf } from '../state/setting';
import type { Store } from '../state/store';
import { allowed, type State } from '../state/table';
import { Frame } from './frame';
import { HeadPointer, headMarks, modelEntries, type Spot } from './head-dots';
import type { Ask, Part } from './part';
import { borders, labelPlaces } from './regions';

/** The engine's numbers of regimes. */
const REGIMES = ['uniform', 'late', 'middle', 'early', 'none'] as const;

type Range = [number, number];
interface Domain {
  x: Range;
  y: Range;
}
interface Result {
  key: string;
  domain: Domain;
  map: Output<'map'>;
}

const FULL = { columns: 256, rows: 192 };
const QUICK = { columns: 48, rows: 36 };

/** Figure 2: localization over the two numbers that the theory asks of a head. */
export class PhaseMapFigure implements Part {
  readonly id = 'phase-map';
  readonly inputs = [...SETTING.filter((name) => name !== 'samples'), 'asymmetry'] as const;
  readonly looks = ['sample', 'head'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private canvas = document.createElement('canvas');
  private handle: Handle;
  private pointer: HeadPointer;
  private chart: Chart | null = null;
  private result: Result | null = null;
  /** The theory at a point: where the point was when the engine was asked. */
  private present: { x: number; y: number; theory: Theory } | null = null;

  constructor(
    private store: Store,
    private models: Models,
  ) {
    this.canvas.className = 'bitmap';
    const { chart } = this.frame;
    const say = ({ x, y }: Spot) => `ξ/λ ${short(x)}, √η_F/λ ${short(y)}`;
    this.pointer = new HeadPointer(chart, models, store, say);
    this.handle = new Handle(chart, 'Mean and spread of the eigenspectrum', {
      drag: (x, y) => this.drag(x, y),
      step: (dx, dy) => this.step(dx, dy),
      rest: () => store.settle(),
    });
  }

  async compute(ask: Ask): Promise<void> {
    // Each shows what it has: a point that the ensemble cannot have leaves the map as it is.
    await Promise.all([this.askPresent(ask), this.askMap(ask)]);
  }

  private async askPresent(ask: Ask): Promise<void> {
    const [x, y] = this.point();
    this.present = { x, y, theory: await ask.run('theory', settingOf(ask.state)) };
    ask.show(0.1);
  }

  private async askMap(ask: Ask): Promise<void> {
    const { state, quality } = ask;
    const domain = this.handle.held && this.result ? this.result.domain : this.domainOf(state);
    const { length, tokens, correlation, asymmetry } = state;
    const common = { length, tokens, correlation, asymmetry };
    const key = JSON.stringify([common, domain]);
    if (this.result?.key === key) return;
    const size = quality === 'quick' ? QUICK : FULL;
    const grid = {
      x: { from: domain.x[0], to: domain.x[1], count: size.columns },
      y: { from: domain.y[0], to: domain.y[1], count: size.rows },
    };
    const take = (map: Output<'map'>, done: boolean) => {
      this.result = { key: done && quality === 'full' ? key : '', domain, map };
      ask.show(0.5);
    };
    take(await ask.run('map', { ...common, ...grid }, (map) => take(map, false)), true);
  }

  paint(): void {
    if (!this.result) return;
    const { domain } = this.result;
    const { width } = this.frame;
    const spots = this.spots();
    const key = legend(this.entries(), 56, width - 8, 22);
    this.chart = chart({
      label: this.describe(),
      width,
      height: Math.round(Math.max(300, Math.min(460, width * 0.66))) + key.height,
      marginTop: key.height + 12,
      marginLeft: 56,
      marginRight: 12,
      marginBottom: 44,
      x: { domain: domain.x, label: 'ξ/λ →', labelAnchor: 'center', tickFormat: tick },
      y: { type: 'log', domain: domain.y, label: '√η_F/λ', tickFormat: decade },
      marks: [
        () => key.render(),
        (_, { x, y }) => this.borderMark(x as Scale, y as Scale),
        this.reachMark(),
        this.labelMarks(),
        ...headMarks(spots, this.store.state.head),
        dot([this.point()], {
          r: 8,
          fill: 'var(--series-1)',
          stroke: 'var(--paper)',
          strokeWidth: 2.5,
          ariaDescription: 'present point',
        }),
      ],
    });
    this.frame.put(this.chart.svg, [{ canvas: this.canvas, ...this.area(this.chart) }]);
    this.paintField();
    this.pointer.place(spots, this.chart);
    this.placeHandle();
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const { result } = this;
    if (!result) return null;
    const { columns, rows, localization, regime } = result.map;
    const { x, y } = this.cells(result);
    const spots = this.spots();
    const { present } = this;
    function* cells(): Generator<(string | number | null)[]> {
      for (let at = 0; at < columns * rows; at++) {
        const value = Number.isNaN(localization[at]) ? null : localization[at];
        const place = [x(at % columns), y(Math.floor(at / columns))];
        yield ['cell', ...place, value, REGIMES[regime[at]], ''];
      }
      for (const spot of spots) yield ['head', spot.x, spot.y, null, '', spot.head.id];
      if (!present) return;
      const { localization: own, regime: name } = present.theory;
      yield ['present', present.x, present.y, own, name, ''];
    }
    const names = ['kind', 'xi_over_lambda', 'root_eta_f_over_lambda'];
    return { columns: [...names, 'localization', 'regime', 'head'], rows: cells() };
  }

  /** Cell numbers to the units of the axes, at the cells' centres: the grid's own points. */
  private cells({ domain, map }: Result) {
    const [left, right] = domain.x;
    const [low, high] = domain.y;
    return {
      x: (column: number) => left + ((right - left) * column) / (map.columns - 1),
      y: (row: number) => low * (high / low) ** (row / (map.rows - 1)),
    };
  }

  private entries() {
    const colours = stripOf(fieldRamp());
    const text = `localization 0 to ${short(this.strongest())}`;
    const models = this.models.shown(this.store.state.sample);
    return [{ text, kind: 'strip' as const, colours }, ...modelEntries(models)];
  }

  private strongest(): number {
    let most = 0.1;
    for (const value of this.result?.map.localization ?? []) if (value > most) most = value;
    return Math.min(1, Math.ceil(10 * most) / 10);
  }

  private paintField(): void {
    if (!this.result) return;
    const { columns, rows, localization } = this.result.map;
    const values = new Float32Array(columns * rows);
    for (let row = 0; row < rows; row++) {
      const from = localization.subarray(row * columns, (row + 1) * columns);
      values.set(from, (rows - 1 - row) * columns); // the canvas counts from the top
    }
    const most = this.strongest();
    void paintGrid(this.canvas, { columns, rows, values }, fieldRamp(), (value) => value / most);
  }

  /** Edges of cells in pixels. Cells are centred on the grid's points: half of one hangs over. */
  private edges(x: Scale, y: Scale) {
    const { domain, map } = this.result as Result;
    const along =
      ([from, to]: number[], count: number) =>
      (edge: number) =>
        round(from + ((to - from) * (edge - 0.5)) / (count - 1));
    return {
      x: along(domain.x.map(x), map.columns),
      y: along(domain.y.map(y), map.rows),
    };
  }

  private area(chart: Chart) {
    const { map } = this.result as Result;
    const { x, y } = this.edges(chart.x.apply, chart.y.apply);
    const [left, top] = [x(0), y(map.rows)];
    return { x: left, y: top, width: x(map.columns) - left, height: y(0) - top };
  }

  private borderMark(xScale: Scale, yScale: Scale): SVGElement {
    const { columns, rows, regime } = (this.result as Result).map;
    const { x, y } = this.edges(xScale, yScale);
    const d = borders({ columns, rows, region: regime }, x, y);
    const look = { fill: 'none', stroke: 'var(--ink)', 'stroke-opacity': 0.55 };
    return element('path', { d, ...look, 'aria-label': 'borders of the regimes' });
  }

  /** Below this line no matrix of the present width lies: there its variance is zero. */
  private reachMark() {
    const { domain } = this.result as Result;
    const root = Math.sqrt(widthOf(this.store.state));
    const steps = Array.from(
      { length: 101 },
      (_, i) => domain.x[0] + (i / 100) * (domain.x[1] - domain.x[0]),
    );
    const inside = steps.map((x) => [x, Math.max(domain.y[0], Math.abs(x) / root)] as Range);
    return line(inside, {
      stroke: 'var(--ink)',
      strokeOpacity: 0.5,
      strokeDasharray: '2 4',
      clip: true,
      ariaDescription: 'zero variance at the present width',
    });
  }

  private labelMarks() {
    const result = this.result as Result;
    const { columns, rows, regime } = result.map;
    const room: Range = [(70 * columns) / this.frame.width, rows / 16];
    const places = labelPlaces({ columns, rows, region: regime }, rows / 24, room);
    const { x, y } = this.cells(result);
    return text(places, {
      x: (place) => x(place.column),
      y: (place) => y(place.row),
      text: (place) => REGIMES[place.region],
      fontSize: 14,
      fontWeight: 600,
      fill: 'var(--ink)',
      stroke: 'var(--paper)',
      strokeWidth: 4,
      ariaDescription: 'regimes',
    });
  }

  private point(): [number, number] {
    const { mean, variance, temperature } = this.store.state;
    const width = widthOf(this.store.state);
    return [
      (mean * width) / temperature,
      Math.sqrt(width * (variance + mean * mean)) / temperature,
    ];
  }

  private spots(): Spot[] {
    return this.models.heads(this.store.state.sample).map((head) => {
      const temperature = Math.sqrt(head.head_width);
      return { head, x: head.xi / temperature, y: Math.sqrt(head.eta_f) / temperature };
    });
  }

  /** Room for the point, the heads, and what is worth seeing in any case. */
  private domainOf(state: Readonly<State>): Domain {
    const [px, py] = this.point();
    const spots = this.spots();
    const xs = [px, ...spots.map((spot) => spot.x)];
    const ys = [py, ...spots.map((spot) => spot.y)].filter((value) => value > 0);
    const most = state.tokens === 'random-walk' ? 30 : 300;
    const half = (value: number, round: (x: number) => number) =>
      10 ** (round(2 * Math.log10(value)) / 2);
    return {
      x: [Math.floor(1.05 * Math.min(-4, ...xs)), Math.ceil(1.05 * Math.max(4, ...xs))],
      y: [half(Math.min(0.04, ...ys), Math.floor), half(Math.max(most, ...ys), Math.ceil)],
    };
  }

  private placeHandle(): void {
    if (!this.chart || !this.result) return;
    const { x, y } = this.chart;
    const { domain } = this.result;
    const [px, py] = this.point();
    const { mean, variance } = this.store.state;
    const text = `mean ${short(mean)}, variance ${short(variance)}; ξ/λ ${short(px)}, √η_F/λ ${short(py)}`;
    const place = Math.max(py, domain.y[0]);
    this.handle.place(x.apply(px), y.apply(place), {
      now: px,
      from: domain.x[0],
      to: domain.x[1],
      text,
    });
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
      Math.abs(own - shown) > 0.02
        ? ` It has η_S/η_F = ${short(own)}, the map is drawn for ${short(shown)}.`
        : '';
    return (
      `Present point: ξ/λ = ${short(x)}, √η_F/λ = ${short(y)}, ` +
      `regime ${theory.regime}, L = ${short(theory.localization)}.${slice}`
    );
  }

  private describe(): string {
    return `Map of the localization index. ${this.caption()}`;
  }
}

type Scale = (value: number) => number;

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
