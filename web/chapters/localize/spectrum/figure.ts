import { count, short } from '../../../charts/format';
import { Handle } from '../../../charts/handle';
import { textWidth } from '../../../charts/legend';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { colourOf, layerColour } from '../../../charts/palette';
import { element, setAll } from '../../../charts/picture';
import { chart, gridX, ruleX, shifted, type Chart } from '../../../charts/plot';
import { nameOf, type HeadRegistry, type PlacedHead } from '../../../heads/registry';
import { allowed, sliderOf } from '../../../state/control';
import { settingControls } from '../../../state/setting';
import type { Point } from '../answers';
import { Panel, pathOf, type Scene } from '../panel';
import { showsAll, showsHeads, type Store } from '../state';

/** Eigenvalues up to this are linear on the axis, larger ones logarithmic. */
const LINEAR = 0.1;
/** Pixels beside the axis, and between two labels of it. */
const [SIDE, LABEL_GAP] = [10, 8];
/** The axis reaches at least so far to either side: the handles then move, not the axis under them. */
const LEAST = { linear: 15, symlog: 30 };
/** Standard deviations that the axis has room for. */
const ROOM = { linear: 2.5, symlog: 3 };
/** Where the axis of a linear scale ends, over a power of ten. */
const ENDS = [1.5, 5, 15];
/** Heights of the parts of the panel: the density ends at 1; real eigenvalues lie on a line below 0. */
const LINE = -0.33;
const LOWEST = -0.62;
const HIGHEST = 1.12;
const OWN = colourOf('softmax', 'clipped');
/** Names of the handles, readable on the density; pixels between one and the middle of its handle. */
const NAME = { fill: OWN, 'font-weight': 600, stroke: 'var(--paper)', 'stroke-width': 4, 'paint-order': 'stroke' };
const BESIDE = 14;
/** Pixels of a point under a handle. */
const POINT = 6;
/** Pixels between the line of the real eigenvalues and its name. */
const ABOVE_LINE = 6;
/** Factor of the standard deviation for one arrow key: a tenth of a decade of the variance. */
const STEP = 10 ** 0.05;

type Complex = readonly [re: number, im: number];

/** Pairs of real and imaginary parts. */
export function pairsOf(values: Float64Array): Complex[] {
  return Array.from({ length: values.length / 2 }, (_, i) => [values[2 * i], values[2 * i + 1]]);
}

/** The parts of the picture that follow the point. */
interface Marks {
  mean: SVGLineElement;
  spread: SVGPathElement;
  density: SVGPathElement;
  dots: SVGPathElement;
  meanPoint: SVGCircleElement;
  spreadPoint: SVGCircleElement;
  meanName: SVGTextElement;
  spreadName: SVGTextElement;
  head: SVGGElement;
}

/** The eigenspectrum: density and eigenvalues, with handles for the mean and for the standard deviation. */
export class SpectrumPanel extends Panel {
  private meanHandle: Handle;
  private spreadHandle: Handle;
  private tip: MarkTip;
  private chart: Chart | null = null;
  private own: Chart | null = null;
  private marks: Marks | null = null;
  private range = LEAST.linear;

  constructor(
    area: HTMLElement,
    private store: Store,
    private registry: HeadRegistry,
  ) {
    super();
    const rest = () => store.settle();
    this.tip = new MarkTip(area, () => registry.hovered !== '');
    this.meanHandle = new Handle(area, 'Mean of the eigenspectrum', {
      drag: (x) => this.setMean(this.chart?.x.invert(x) ?? NaN),
      step: (dx, dy) => this.setMean(store.state.mean + 0.01 * (dx + dy)),
      end: (mean) => this.setMean(mean),
      keep: () => store.keep('mean'),
      rest,
    });
    this.spreadHandle = new Handle(area, 'Standard deviation of the eigenspectrum', {
      drag: (x) => this.setDeviation(Math.abs((this.chart?.x.invert(x) ?? NaN) - store.state.mean)),
      step: (dx, dy) => this.setDeviation((this.deviation || 1e-3) * STEP ** (dx + dy)),
      end: (deviation) => this.setDeviation(deviation),
      keep: () => store.keep('variance'),
      rest,
    });
    this.meanHandle.element.classList.add('along');
    this.spreadHandle.element.classList.add('along', 'spread');
  }

  /** The head whose eigenvalues are shown too: that under the pointer, or the chosen one. */
  get head(): PlacedHead | undefined {
    return this.registry.find(this.registry.hovered || this.store.state.head);
  }

  /** The handle of the standard deviation. */
  get handle(): HTMLElement {
    return this.spreadHandle.element;
  }

  protected sources(scene: Scene) {
    const { point, state } = scene;
    if (!this.meanHandle.held && !this.spreadHandle.held) this.range = this.rangeFor(point, this.scaleIn(state));
    return [this.scaleIn(state), this.range, this.hasImaginary(scene), point.head.eigenvalues.length];
  }

  protected draw(scene: Scene): SVGSVGElement {
    const { point, state } = scene;
    const { x, y, width, height } = this.box;
    const scale = this.scaleIn(state);
    const few = scale === 'linear' ? linearTicks(this.range) : logTicks(this.range, width / 2 - SIDE);
    const ticks = [...few.map((it) => -it), 0, ...few];
    const isNarrow = width < 260;
    const unusual = [
      scale === 'symlog' ? ` ${isNarrow ? 'log' : 'logarithmic'} beyond ${LINEAR}` : '',
      this.range > LEAST[scale] ? ` axis to ±${short(this.range)}` : '',
    ].filter(Boolean);
    const isComplex = this.hasImaginary(scene);
    const part = isComplex && !(isNarrow && unusual.length > 0) ? ' (real part)' : '';
    const name = `${isNarrow ? '' : 'query-key '}eigenvalue${part}`;
    this.own = chart({
      label: 'eigenspectrum',
      width,
      height,
      marginLeft: SIDE,
      marginRight: SIDE,
      marginTop: 26,
      marginBottom: 40,
      x: {
        ...(scale === 'symlog' && { type: 'symlog', constant: LINEAR }),
        domain: [-this.range, this.range],
        ticks,
        label: `${[name, ...unusual].join(',')} →`,
        labelAnchor: 'center',
        tickFormat: (it: number) => short(it),
      },
      y: { domain: [LOWEST, HIGHEST], axis: null },
      marks: [gridX(ticks, { strokeOpacity: 0.08 }), ruleX([0], { strokeOpacity: 0.2 })],
    });
    this.chart = shifted(this.own, x, y);
    const line = this.own.y.apply(LINE);
    const [left, right] = [this.own.x.apply(-this.range), this.own.x.apply(this.range)];
    const base = this.own.y.apply(0);
    const rule = { stroke: 'currentColor', 'stroke-opacity': 0.3 };
    this.marks = {
      density: element('path', { fill: OWN, 'fill-opacity': 0.25, stroke: OWN, 'stroke-width': 2 }),
      mean: element('line', { stroke: OWN, 'stroke-opacity': 0.7, 'stroke-width': 1.5 }),
      spread: element('path', { fill: 'none', stroke: OWN, 'stroke-width': 1.5 }),
      dots: element('path', { fill: OWN, 'fill-opacity': 0.55 }),
      // Under the handles, for a saved picture.
      meanPoint: element('circle', { r: POINT, fill: OWN }),
      spreadPoint: element('circle', { r: POINT, fill: 'var(--paper)', stroke: OWN, 'stroke-width': 2.5 }),
      meanName: element('text', NAME, 'mean m'),
      spreadName: element('text', NAME, 'spread √v'),
      head: element('g'),
    };
    const dotsName = isComplex
      ? `↑ imaginary${isNarrow ? '' : ' part'}`
      : `${isNarrow ? '' : `${count(point.head.eigenvalues.length / 2)} `}eigenvalues`;
    const place = { x: left, y: line - ABOVE_LINE, 'text-anchor': 'start' };
    const names: [keyof Marks, string][] = [
      ['density', 'density of the ensemble'],
      ['dots', 'eigenvalues'],
      ['mean', 'mean'],
      ['spread', 'standard deviation'],
      ['meanPoint', 'mean'],
      ['spreadPoint', 'standard deviation'],
      ['meanName', 'name of the handle of the mean'],
      ['spreadName', 'name of the handle of the spread'],
    ];
    for (const [key, name] of names) this.marks[key].setAttribute('data-mark', name);
    this.own.svg.append(
      element('line', { x1: left, x2: right, y1: base, y2: base, ...rule }),
      element('line', { x1: left, x2: right, y1: line, y2: line, ...rule, 'stroke-dasharray': '2 3' }),
      ...Object.values(this.marks),
      element('text', { ...NAME, 'font-weight': 400, ...place }, dotsName),
    );
    return this.own.svg;
  }

  protected move({ point: { head, mean, variance } }: Scene): void {
    const { own, marks } = this;
    if (!own || !marks) return;
    const { x, y } = own;
    const values = pairsOf(head.eigenvalues);
    const deviation = Math.sqrt(variance);
    marks.density.setAttribute('d', this.densityPath(values));
    const { chart: drawn } = this;
    if (drawn) this.tip.place(() => [[this.tipsOf(values), drawn]]);
    marks.dots.setAttribute('d', this.dotsPath(values, 2.2));
    const at = this.inside(x.apply(mean));
    setAll(marks.mean, { x1: at, x2: at, y1: y.apply(1), y2: y.apply(LOWEST) });
    const [left, right] = [-1, 1].map((side) => this.inside(x.apply(mean + side * deviation)));
    const level = y.apply(0.42);
    marks.spread.setAttribute('d', `M${left},${level - 5}v10M${left},${level}H${right}m0,-5v10`);
    setAll(marks.meanPoint, { cx: at, cy: y.apply(1) });
    setAll(marks.spreadPoint, { cx: right, cy: level });
    this.placeName(marks.meanName, at, y.apply(1));
    this.placeName(marks.spreadName, right, level);
    this.followHead();
    this.placeHandles(mean, deviation);
  }

  /** Shows the eigenvalues of the head under the pointer, or takes them away. */
  followHead(): void {
    const { own, marks, head } = this;
    if (!own || !marks) return;
    marks.head.replaceChildren();
    if (!head) return;
    const values = pairsOf(head.eigenvalues);
    const colour = layerColour(head.layer, head.model.layers);
    marks.head.append(
      element('path', {
        d: this.densityPath(values),
        fill: 'none',
        stroke: colour,
        'stroke-width': 1.75,
        'data-mark': 'density of the head',
      }),
      element('path', { d: this.dotsPath(values, 3), fill: colour, 'data-mark': 'eigenvalues of the head' }),
    );
  }

  /** What the panel shows, as rows of the figure's table: kind, real and imaginary part. */
  rows(point: Point): [kind: string, re: number, im: number][] {
    const { head } = this;
    const own = pairsOf(point.head.eigenvalues);
    const others = head ? pairsOf(head.eigenvalues) : [];
    return [
      ...own.map(([re, im]): [string, number, number] => ['eigenvalue', re, im]),
      ...others.map(([re, im]): [string, number, number] => ['eigenvalue of head', re, im]),
    ];
  }

  /** The moments of the ensemble and of the head, in words. */
  caption({ head: { moments } }: Point): string {
    const own = `Ensemble: mean ${short(moments.mean)}, ${variancesOf(moments)}.`;
    const { head } = this;
    if (!head) return own;
    const zeros = head.width - head.head_width;
    return `${own} ${nameOf(head)}: mean ${short(head.mean)}, ${variancesOf(head)}; ${zeros} more eigenvalues are zero.`;
  }

  private get deviation(): number {
    return Math.sqrt(this.store.state.variance);
  }

  /** Linear where no head of a model is shown, whose eigenvalues have many scales. */
  private scaleIn(state: Scene['state']): 'linear' | 'symlog' {
    return showsAll(state) || showsHeads(state) ? 'symlog' : 'linear';
  }

  /** Whether eigenvalues that are not real may be shown. */
  private hasImaginary({ point, state }: Scene): boolean {
    const isFactored = state.ensemble === 'factored'; // as trained heads are
    return this.scaleIn(state) === 'symlog' || isFactored || pairsOf(point.head.eigenvalues).some(([, im]) => im !== 0);
  }

  private rangeFor({ mean, head }: Point, scale: 'linear' | 'symlog'): number {
    const values = [...pairsOf(head.eigenvalues), ...pairsOf(this.head?.eigenvalues ?? NONE)];
    const far = values.reduce((most, [re, im]) => Math.max(most, Math.abs(re), Math.abs(im)), 0);
    const most = Math.max(far, Math.abs(mean) + ROOM[scale] * this.deviation);
    if (most <= LEAST[scale]) return LEAST[scale];
    if (scale === 'symlog') return 3 * 10 ** Math.ceil(Math.log10(most / 3));
    const power = 10 ** Math.floor(Math.log10(most));
    return power * ENDS.find((end) => end * power >= most)!;
  }

  /** Density of the real parts over the axis. */
  private densityOf(values: readonly Complex[]): { x: number; y: number }[] {
    const { x } = this.own!;
    const [from, to] = [x.apply(-this.range), x.apply(this.range)];
    const places = Array.from({ length: PLACES + 1 }, (_, i) => x.invert(from + ((to - from) * i) / PLACES));
    const real = values.map(([re]) => re);
    return densityOf(real, places).filter((it) => Math.abs(it.x) <= 1.001 * this.range);
  }

  /** Down to zero at the ends of the axis, which may cut it. */
  private densityPath(values: readonly Complex[]): string {
    const { x, y } = this.own!;
    const curve = this.densityOf(values);
    const ends = [curve[0], curve[curve.length - 1]].map((it) => ({ x: it.x, y: 0 }));
    return pathOf([ends[0], ...curve, ends[1]].map((it) => [x.apply(it.x), y.apply(it.y)] as const));
  }

  /** What the curve and the eigenvalues say. */
  private tipsOf(values: readonly Complex[]): Mark[] {
    const curve = this.densityOf(values).map((it) => ({
      ...it,
      text: `density at ${short(it.x)}: ${short(it.y)} of its largest value`,
    }));
    const dots = values.map(([re, im]) => {
      const sign = im < 0 ? '−' : '+';
      const text = `eigenvalue ${short(re)}${im === 0 ? '' : ` ${sign} ${short(Math.abs(im))}i`}`;
      return { x: re, y: this.levelOf(im), text };
    });
    return [...curve, ...dots];
  }

  /** Height of an imaginary part: on the scale of the axis, around the line of the real ones. */
  private levelOf(im: number): number {
    const { x, y } = this.own!;
    const up = (y.apply(LINE) - y.apply(0)) / (x.apply(this.range) - x.apply(0));
    return y.invert(y.apply(LINE) - up * (x.apply(Math.abs(im)) - x.apply(0)) * Math.sign(im));
  }

  /** Eigenvalues as dots. */
  private dotsPath(values: readonly Complex[], radius: number): string {
    const { x, y } = this.own!;
    const turn = `a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`;
    return values
      .map(([re, im]) => `M${(x.apply(re) - radius).toFixed(1)},${y.apply(this.levelOf(im)).toFixed(1)}${turn}`)
      .join('');
  }

  /** A pixel within the axis. */
  private inside(pixel: number): number {
    const { x } = this.own!;
    return Math.min(x.apply(this.range), Math.max(x.apply(-this.range), pixel));
  }

  /** Writes the name of a handle beside it: to its right where there is room, or else above the line to its left. */
  private placeName(name: SVGTextElement, handle: number, level: number): void {
    const isRight = handle + BESIDE + textWidth(name.textContent) <= this.box.width;
    setAll(name, {
      x: isRight ? handle + BESIDE : handle - BESIDE,
      y: level + (isRight ? 4 : -10),
      'text-anchor': isRight ? 'start' : 'end',
    });
  }

  private placeHandles(mean: number, deviation: number): void {
    const { x, y } = this.chart!;
    const left = x.apply(0) - this.own!.x.apply(0);
    const at = (value: number) => left + this.inside(this.own!.x.apply(value));
    const { state } = this.store;
    const [means, variances] = [sliderOf(settingControls.mean, state), sliderOf(settingControls.variance, state)];
    this.meanHandle.place(at(mean), y.apply(1), {
      now: mean,
      from: means?.from ?? mean,
      to: means?.to ?? mean,
      text: `mean ${short(mean)}`,
    });
    this.spreadHandle.place(at(mean + deviation), y.apply(0.42), {
      now: deviation,
      from: Math.sqrt(variances?.from ?? 0),
      to: Math.sqrt(variances?.to ?? deviation ** 2),
      text: `standard deviation ${short(deviation)}, variance ${short(state.variance)}`,
    });
  }

  private setMean(mean: number): void {
    if (!Number.isFinite(mean)) return;
    const digits = Math.abs(mean) < 1 ? 3 : 2;
    this.store.set({ mean: allowed('mean', Number(mean.toFixed(digits))) }, false);
  }

  private setDeviation(deviation: number): void {
    if (!Number.isFinite(deviation)) return;
    const variance = Number((deviation ** 2).toPrecision(3));
    this.store.set({ variance: allowed('variance', variance) }, false);
  }
}

const NONE = new Float64Array();

function variancesOf(it: { variance: number; variance_modulus: number; variance_frobenius: number }): string {
  return (
    `variance ${short(it.variance)} (trace), ${short(it.variance_modulus)} (modulus), ` +
    `${short(it.variance_frobenius)} (Frobenius)`
  );
}

/** Ticks above 0 of a linear axis: round numbers, whichever of `ENDS` it has. */
const linearTicks = (range: number) => {
  const parts = Number(range.toExponential().split('e')[0]) === 5 ? [0.4, 0.8] : [1 / 3, 2 / 3];
  return parts.map((part) => Number((part * range).toPrecision(2)));
};

/** Decades above 0 whose labels have room on half the axis, of so many pixels: the outermost first. */
function logTicks(range: number, half: number): number[] {
  const ticks = [0.1, 1, 10, 100, 1000, 1e4].filter((it) => it < range);
  const place = (it: number) => (half * Math.log1p(it / LINEAR)) / Math.log1p(range / LINEAR);
  const room = (a: number, b: number) => (textWidth(short(-a)) + textWidth(short(-b))) / 2 + LABEL_GAP;
  const kept: number[] = [];
  for (const it of [...ticks].reverse()) {
    const [outer] = kept;
    const isFree = (other: number) => Math.abs(place(other) - place(it)) >= room(other, it);
    if (isFree(0) && (outer === undefined || isFree(outer))) kept.unshift(it);
  }
  return kept;
}

/** Bandwidth of the kernel over the standard deviation: narrow enough to part the two points of an ensemble. */
const BANDWIDTH = 0.5;
/** Places at which the curve is computed: so many over the axis, and as many around the mean. */
const PLACES = 90;
/** How far around the mean, in standard deviations. */
const AROUND = 4.5;

/**
 * Kernel estimate of the density of `values` at ascending places, relative to its largest; `axis` are places that the
 * curve has in any case. Equal values give a spike: three places, the outer two of height 0.
 */
function densityOf(values: readonly number[], axis: readonly number[]): { x: number; y: number }[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const deviation = Math.sqrt(square);
  if (!(deviation > 1e-12 * Math.max(1, Math.abs(mean)))) {
    return [0, 1, 0].map((y) => ({ x: mean, y }));
  }
  const near = Array.from({ length: PLACES + 1 }, (_, i) => mean + deviation * AROUND * ((2 * i) / PLACES - 1));
  const at = [...axis, ...near].sort((a, b) => a - b);
  const width = BANDWIDTH * deviation;
  const height = at.map((place) =>
    values.reduce((sum, value) => sum + Math.exp(-0.5 * ((place - value) / width) ** 2), 0),
  );
  const most = Math.max(...height);
  return at.map((place, i) => ({ x: place, y: height[i] / most }));
}
