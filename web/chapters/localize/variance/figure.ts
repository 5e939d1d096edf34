import type { Markish } from '@observablehq/plot';
import { decade, short, tick, count } from '../../../charts/format';
import { Handle } from '../../../charts/handle';
import { legend, lineEntry, type Entry } from '../../../charts/legend';
import { MarkTip, type Mark } from '../../../charts/mark-tip';
import { series, dashes } from '../../../charts/palette';
import { element, setAll } from '../../../charts/picture';
import { chart, gridX, gridY, shifted, type Chart, dot, line, rect, ruleX } from '../../../charts/plot';
import { BARS, withError } from '../../../charts/with-error';
import type { SweepPoint } from '../../../engine/protocol';
import { brushed } from '../../../heads/brush';
import { HeadPointer, headMarks, modelEntries } from '../../../heads/head-dots';
import { spreadNames, type HeadRegistry } from '../../../heads/registry';
import { spectrumNames } from '../../../heads/traces';
import { sliderOf } from '../../../state/control';
import { settingControls } from '../../../state/setting';
import { type Curves, valueOn, type Lines, type OtherLine } from '../answers';
import { Panel, type Scene } from '../panel';
import { AXES, fails, risesOf } from '../lead/words';
import { showsAll, showsHeads, type Store } from '../state';
import { HeadSpots, type HeadSpot } from './words';

/** Pixels from the top of the panel to its legend, where the name of the vertical axis stands. */
const AXIS_NAME = 26;
/** Pixels of a panel below which the labels of five ticks would touch. */
const LOW = 200;
/** Measures that are shares of 1, whose axis ends there. */
const SHARES: readonly string[] = ['entropy', 'participation', 'rho_mean'];

/** Milliseconds in which the heads fall from their predicted to their measured values. */
const FALLING = 1400;
const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

/** The legend's entry of the places from which measured heads fell. */
const PREDICTED: Entry = { text: 'predicted for these heads', kind: 'ring', colours: ['var(--muted)'] };

/** The parts of the picture that follow the point or the pointer. */
interface Marks {
  rule: SVGLineElement;
  dot: SVGCircleElement;
  floor: SVGPathElement;
}

/** A measure of localization against the variance, with the present point on the first line. */
export class VariancePanel extends Panel {
  private handle: Handle;
  private pointer: HeadPointer;
  private tip: MarkTip;
  private heads: HeadSpots;
  private chart: Chart | null = null;
  private own: Chart | null = null;
  private curves: Curves | null = null;
  private marks: Marks | null = null;
  /** Where the vertical axis ends. */
  private top = 1;
  /** The heads with a value, and those with a place on the axes. */
  private placed: HeadSpot[] = [];
  private spots: HeadSpot[] = [];
  /** Where the dots of the heads were, by their ids: other values are reached from there. */
  private before = new Map<string, number>();

  constructor(
    area: HTMLElement,
    private store: Store,
    private registry: HeadRegistry,
  ) {
    super();
    this.heads = new HeadSpots(store, registry);
    this.pointer = new HeadPointer(area, registry, store, (spot) => this.heads.numbersOf(spot));
    this.tip = new MarkTip(area, () => registry.hovered !== '');
    this.handle = new Handle(area, 'Variance of the eigenspectrum', {
      drag: (x) => this.moveTo(this.chart?.x.invert(x) ?? NaN),
      step: (dx, dy) => this.moveTo(store.state.variance * 10 ** (0.05 * (dx + dy))),
      end: (variance) => this.moveTo(variance),
      rest: () => store.settle(),
      keep: () => store.keep('variance'),
    });
  }

  /** The heads that are drawn. */
  get drawnHeads(): readonly HeadSpot[] {
    return this.spots;
  }

  /** What of the heads is drawn and what is not, in sentences; '' where none is shown. */
  headsCaption({ state, curves }: Scene): string {
    return showsHeads(state) ? this.heads.caption(this.placed, this.spots, curves.lines.measure, this.top) : '';
  }

  protected sources({ state, curves }: Scene) {
    const looks = ['detail', 'spread', 'sample', 'head', 'brush', 'dots', 'sigma'] as const;
    const shown = showsAll(state) ? curves : curves.lines;
    return [shown, curves.domain, this.registry.predictions, ...looks.map((name) => state[name])];
  }

  protected draw({ state, curves }: Scene): SVGSVGElement {
    const { box } = this;
    const { lines, points, domain, fresh } = curves;
    const { dots } = state;
    this.curves = curves;
    this.placed = showsHeads(state) ? this.heads.placed(lines.measure) : [];
    this.top = topOf(curves, this.placed, showsAll(state));
    this.spots = this.heads.on(this.placed, this.top);
    const { spots, top } = this;
    const predicted = dots === 'measured' ? this.predictedPlaces() : [];
    const rises = risesOf(lines);
    const inside = (variance: number) => variance >= domain[0] && variance <= domain[1];
    const known = showsAll(state)
      ? points.filter((point) => point.refused === '' && point[lines.measure] !== null && inside(point.variance))
      : [];
    const ofMeans = lines.means.map((mean, i) => lineEntry(`m = ${short(mean)}`, i));
    const entries = showsAll(state) ? [...ofMeans, ...otherEntries(lines)] : [];
    if (known.length > 0) entries.push({ text: 'simulation', kind: 'ring', colours: [series[0]] });
    if (spots.length > 0) {
      const shown = this.registry.shown(state.sample);
      entries.push(...modelEntries(shown, spots, dots, spectrumNames[state.sigma]));
      if (predicted.length > 0) entries.push(PREDICTED);
    }
    if (rises.length > 0) entries.push(riseEntry(lines));
    const key = legend(entries, 8, box.width - 4, AXIS_NAME);
    const ticks = decades(domain, box.width);
    this.own = chart({
      label: 'localization against the variance',
      width: box.width,
      height: box.height,
      marginTop: entries.length > 0 ? key.height + 12 : AXIS_NAME,
      marginLeft: 44,
      marginRight: 12,
      marginBottom: 40,
      x: {
        type: 'log',
        domain: [...domain],
        label: this.axis(box.width, spots.length > 0),
        ticks,
        tickFormat: decade,
        labelAnchor: 'center',
      },
      y: { domain: [0, top], label: null, tickFormat: tick, ticks: box.height < LOW ? 2 : 5 },
      marks: [
        gridX(ticks, { strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        () => key.render(),
        riseMark(rises, top),
        ...(showsAll(state) ? otherMarks(lines) : []),
        ...lineMarks(lines, showsAll(state) ? lines.means.length : 1),
        ...pointMarks(known, lines, fresh),
        predictedMark(predicted),
        ...headMarks(spots, state.head, brushed(state), dots),
      ],
    });
    const ink = { stroke: 'var(--ink)', 'stroke-opacity': 0.35, 'stroke-dasharray': '3 3' };
    this.marks = {
      floor: element('path', { fill: 'none', stroke: 'var(--muted)', 'stroke-width': 1.5 }),
      rule: element('line', ink),
      dot: element('circle', { r: 7, fill: series[0], stroke: 'var(--paper)', 'stroke-width': 2 }),
    };
    const { floor, rule, dot } = this.marks;
    floor.setAttribute('data-mark', 'rank floor of the head');
    dot.setAttribute('data-mark', 'present point');
    const end = top < 1 ? `, axis to ${short(top)}` : '';
    const name = { fill: 'currentColor', 'text-anchor': 'start', y: 18 };
    this.own.svg.append(floor, rule, dot, element('text', name, `↑ ${AXES[lines.measure]}${end}`));
    this.chart = shifted(this.own, box.x, box.y);
    const { chart: drawn } = this;
    this.pointer.place([spots, drawn]);
    this.tip.place(() => [[tipsOf(lines, known, showsAll(state)), drawn]]);
    this.fall();
    return this.own.svg;
  }

  /** The places on the axes that the theory predicts for the heads that are drawn. */
  private predictedPlaces(): { x: number; y: number }[] {
    const { value } = this.registry.predictions;
    return this.spots.map(({ head, x }) => ({ x, y: value.get(head.id) ?? NaN })).filter(({ y }) => y <= this.top);
  }

  /** Lets the dots come from where they were; measured ones that are new fall from their predicted values. */
  private fall(): void {
    const { own, spots, before } = this;
    const { dots } = this.store.state;
    const { value } = this.registry.predictions;
    this.before = new Map(spots.map(({ head, y }) => [head.id, y]));
    if (!own || REDUCED.matches) return;
    for (const key of ['sample', 'file']) {
      const group = own.svg.querySelector(`[data-mark="heads of the ${key}"]`);
      const drawn = spots.filter(({ head }) => head.model.key === key);
      [...(group?.children ?? [])].forEach((dot, i) => {
        const { head, y } = drawn[i];
        const from = before.get(head.id) ?? (dots === 'measured' ? value.get(head.id) : undefined);
        if (from === undefined || from === y) return;
        const frames = [{ translate: `0 ${own.y.apply(from) - own.y.apply(y)}px` }, { translate: '0 0' }];
        dot.animate(frames, { duration: FALLING, easing: 'cubic-bezier(0.5, 0, 0.8, 0.6)' });
      });
    }
  }

  /** Moves the present point along the first line. */
  protected move({ state, curves, point }: Scene): void {
    const { own, chart: drawn, marks } = this;
    if (!own || !drawn || !marks) return;
    this.curves = curves;
    const { lines, domain } = curves;
    const { variance } = state; // under a hand it is ahead of the point
    const [low, high] = domain;
    const x = Math.min(high, Math.max(low, variance));
    const y = valueOn(lines, 0, x);
    const [px, py] = [own.x.apply(x), own.y.apply(Number.isFinite(y) ? Math.min(y, this.top) : 0)];
    setAll(marks.rule, { x1: px, x2: px, y1: own.y.apply(0), y2: own.y.apply(this.top) });
    setAll(marks.dot, { cx: px, cy: py, visibility: Number.isFinite(y) ? 'visible' : 'hidden' });
    const [from, to] = this.travel(domain);
    const measured = `variance ${short(variance)}, ${AXES[lines.measure]} ${short(y)}`;
    const text = `${measured}; L = ${short(point.head.localization)}, m = ${short(point.mean)}`;
    this.handle.place(this.box.x + px, this.box.y + py, { now: variance, from, to, text });
    this.followHead();
  }

  /** Shows the rank floor of the head under the pointer, or of the chosen one. */
  followHead(): void {
    const { own, marks, curves, registry } = this;
    if (!own || !marks || !curves) return;
    const id = registry.hovered || this.store.state.head;
    const spot = this.spots.find(({ head }) => head.id === id);
    const isShown = spot && spot.floor > curves.domain[0] && spot.floor < spot.x;
    const cross = 'm-3,-3l6,6m0,-6l-6,6';
    const floor = isShown && `M${own.x.apply(spot.floor)},${own.y.apply(spot.y)}`;
    const d = isShown ? `${floor}H${own.x.apply(spot.x)}${floor}${cross}` : '';
    marks.floor.setAttribute('d', d);
  }

  private axis(width: number, hasHeads: boolean): string {
    const own = width < 480 ? 'variance v' : 'variance v of the eigenspectrum';
    return hasHeads ? `${own} (heads: ${spreadNames[this.store.state.spread]}) →` : `${own} →`;
  }

  private moveTo(variance: number): void {
    if (!this.curves || !Number.isFinite(variance)) return;
    const [low, high] = this.travel(this.curves.domain);
    const inside = Math.min(high, Math.max(low, variance)); // the library allows both ends
    this.store.set({ variance: Number(inside.toPrecision(3)) }, false);
  }

  /** Where the handle may be: on the axis, or where the slider goes, to which the axis then grows. */
  private travel([low, high]: Curves['domain']): [number, number] {
    const slider = sliderOf(settingControls.variance, this.store.state);
    return slider ? [Math.min(low, slider.from), Math.max(high, slider.to)] : [low, high];
  }
}

/**
 * The upper end of the vertical axis: 1, so that states can be compared; where all is shown room for lines, points and
 * heads, or for the lines where the claim fails.
 */
function topOf({ lines, points }: Curves, heads: readonly HeadSpot[], all: boolean): number {
  if (!all || SHARES.includes(lines.measure)) return 1;
  const ends = points.map((point) => point[lines.measure] ?? 0);
  const closer = fails(lines);
  const beside = lines.others.flatMap(({ value }) => [...value]);
  const known = [...lines.value, ...beside, ...ends, ...(closer ? [] : heads.map(({ y }) => y))].filter(
    Number.isFinite,
  );
  const step = closer ? 50 : 10;
  const most = Math.max(0, ...known);
  return Math.min(1, Math.max(1 / step, Math.ceil(1.05 * step * most) / step));
}

/** Powers of ten on the axis, every other one where there is little room. */
function decades([low, high]: Curves['domain'], width: number): number[] {
  const [from, to] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const each = (to - from) * 38 > width - 60 ? 2 : 1;
  return Array.from({ length: Math.floor((to - from) / each) + 1 }, (_, i) => 10 ** (from + each * i));
}

/** Pixels of a circle. */
const RADIUS = 3.5;

const SHADE = 'var(--series-4)';

/** How the lines of other token processes look, in their order. */
const OTHER_DASHES = ['1 3', '8 3 1 3'];
const otherText = ({ means }: Lines, { tokens }: OtherLine) =>
  `${settingControls.tokens.choices[tokens]}, m = ${short(means[0])}`;

/** Legend entries of the other token processes. */
function otherEntries(lines: Lines): Entry[] {
  return lines.others.map((other, i) => ({
    text: settingControls.tokens.choices[other.tokens],
    kind: 'line',
    colours: ['var(--ink)'],
    dash: OTHER_DASHES[i],
  }));
}

/** The theory at the first mean with other token processes. */
function otherMarks(lines: Lines): Markish[] {
  return lines.others.map((other, i) =>
    line(
      lines.variances.map((v, at) => [v, other.value[at]] as [number, number]),
      {
        stroke: 'var(--ink)',
        strokeWidth: 1.75,
        strokeDasharray: OTHER_DASHES[i],
        ariaDescription: `theory, ${otherText(lines, other)}`,
      },
    ),
  );
}

/** The first lines of the theory, so many; the first is the strongest. */
function lineMarks({ means, variances, value }: Lines, count: number): Markish[] {
  return means.slice(0, count).map((mean, row) =>
    line(
      variances.map((v, i) => [v, value[row * variances.length + i]] as [number, number]),
      {
        stroke: series[row],
        strokeWidth: row === 0 ? 2.5 : 1.75,
        strokeDasharray: dashes[row],
        ariaDescription: `theory, mean ${mean}`,
      },
    ),
  );
}

/** Simulated points with error bars; pale where they are not fresh, and so lag behind the lines. */
function pointMarks(points: SweepPoint[], { means, measure }: Lines, fresh: boolean): Markish[] {
  return means.flatMap((mean, row) => {
    const own = points.filter((point) => point.mean === mean);
    const end = (side: number) => (point: SweepPoint) =>
      (point[measure] ?? NaN) + side * BARS * (point[`${measure}_error`] ?? NaN);
    const look = { x: 'variance', stroke: series[row], opacity: fresh ? 1 : 0.3 };
    const bars = { ...look, y1: end(-1), y2: end(1), strokeWidth: 1.5 };
    const value = (point: SweepPoint) => point[measure];
    return [
      ruleX(own, { ...bars, ariaDescription: `error bars, mean ${mean}` }),
      dot(own, { ...look, y: value, r: RADIUS, fill: 'var(--paper)', ariaDescription: `simulation, mean ${mean}` }),
    ];
  });
}

/** What the theory's lines and the simulated points say. */
function tipsOf(all: Lines, points: SweepPoint[], isWhole: boolean): Mark[] {
  const { variances, value, measure } = all;
  const [means, others] = isWhole ? [all.means, all.others] : [all.means.slice(0, 1), []];
  const name = (mean: number, variance: number) => `m = ${short(mean)}, v = ${short(variance)}: ${AXES[measure]}`;
  const lines = means.flatMap((mean, row) =>
    variances.map((x, i) => {
      const y = value[row * variances.length + i];
      return { x, y, text: `${name(mean, x)} ${short(y)} in theory` };
    }),
  );
  const circles = points.map((point) => {
    const { mean, variance: x, samples } = point;
    const y = point[measure] ?? NaN;
    const text = `${name(mean, x)} ${withError(y, point[`${measure}_error`])}, ${count(samples)} simulated sequences`;
    return { x, y, text, radius: RADIUS };
  });
  const beside = others.flatMap((other) =>
    variances.map((x, i) => {
      const y = other.value[i];
      return { x, y, text: `${otherText(all, other)}, v = ${short(x)}: ${AXES[measure]} ${short(y)} in theory` };
    }),
  );
  return [...lines, ...beside, ...circles];
}

/** Rings at the places that the theory predicts, faint below the measured heads. */
function predictedMark(places: { x: number; y: number }[]): Markish {
  const look = { x: 'x', y: 'y', r: 3, stroke: 'var(--muted)', strokeWidth: 1, strokeOpacity: 0.6 };
  return dot(places, { ...look, ariaDescription: 'predicted places of the heads' });
}

/** Shades the parts of the axis, as ranges of variances, in which the index of the first line rises. */
function riseMark(rises: [number, number][], top: number): Markish {
  const areas = rises.map(([x1, x2]) => ({ x1, x2, y1: 0, y2: top }));
  const look = { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', fill: SHADE, fillOpacity: 0.15 };
  return rect(areas, { ...look, ariaDescription: 'the index rises' });
}

/** The legend's entry of that shading, which is for the chosen mean alone. */
function riseEntry({ means }: Lines): Entry {
  const text = `L of m = ${short(means[0])} rises: the claim fails for it`;
  return { text, kind: 'area', colours: [SHADE] };
}
