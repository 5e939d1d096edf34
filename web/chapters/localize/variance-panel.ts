import { decade, short, tick } from '../../charts/format';
import { Handle } from '../../charts/handle';
import { legend } from '../../charts/legend';
import { MarkTip } from '../../charts/mark-tip';
import { series } from '../../charts/palette';
import { element } from '../../charts/picture';
import { chart, gridX, gridY, shifted, type Chart } from '../../charts/plot';
import { brushed } from '../../heads/brush';
import { HeadPointer, headMarks, modelEntries } from '../../heads/head-dots';
import { spreadNames, type HeadRegistry } from '../../heads/registry';
import { spectrumNames } from '../../heads/traces';
import { sliderOf } from '../../state/control';
import { settingControls } from '../../state/setting';
import { AXES, fails, risesOf } from './localization-claim';
import {
  lineEntries,
  lineMarks,
  otherEntries,
  otherMarks,
  pointMarks,
  riseEntry,
  riseMark,
  tipsOf,
} from './localization-marks';
import type { Curves } from './localization-answers';
import { valueOn } from './localization-questions';
import type { HeadSpots, HeadSpot } from './head-spots';
import type { Box } from './panel';
import type { Point } from './point';
import { readingOf } from './point-text';
import type { Store } from './state';

/** Measures that are shares of 1, whose axis ends there. */
const SHARES: readonly string[] = ['entropy', 'participation', 'rho_mean'];

/** The parts of the picture that follow the point or the pointer. */
interface Marks {
  rule: SVGLineElement;
  dot: SVGCircleElement;
  floor: SVGPathElement;
  /** The index at the present point, and the rest of its numbers. */
  index: SVGTSpanElement;
  rest: SVGTSpanElement;
}

/** A measure of localization against the variance, with the present point on the first line. */
export class VariancePanel {
  private handle: Handle;
  private pointer: HeadPointer;
  private tip: MarkTip;
  private chart: Chart | null = null;
  private own: Chart | null = null;
  private curves: Curves | null = null;
  private top = 1;
  private marks: Marks | null = null;
  private spots: HeadSpot[] = [];

  constructor(
    area: HTMLElement,
    private store: Store,
    private registry: HeadRegistry,
    heads: HeadSpots,
  ) {
    this.pointer = new HeadPointer(area, registry, store, (spot) => heads.numbersOf(spot));
    this.tip = new MarkTip(area, () => registry.hovered !== '');
    this.handle = new Handle(area, 'Variance of the eigenspectrum', {
      drag: (x) => this.move(this.chart?.x.invert(x) ?? NaN),
      step: (dx, dy) => this.move(store.state.variance * 10 ** (0.05 * (dx + dy))),
      end: (variance) => this.move(variance),
      rest: () => store.settle(),
      keep: () => store.keep('variance'),
    });
  }

  /** Draws the panel; `spots` are the heads that have a place on its axes, below its `top`. */
  draw(curves: Curves, spots: HeadSpot[], top: number, box: Box): SVGSVGElement {
    Object.assign(this, { curves, spots, top });
    const { lines, points, domain, fresh } = curves;
    const { state } = this.store;
    const { dots } = state;
    const rises = risesOf(lines);
    const inside = (variance: number) => variance >= domain[0] && variance <= domain[1];
    const known = points.filter(
      (point) => point.refused === '' && point[lines.measure] !== null && inside(point.variance),
    );
    const shown = this.registry.shown(state.sample);
    const entries = [...lineEntries(lines.means), ...otherEntries(lines)];
    if (known.length > 0) entries.push({ text: 'simulation', kind: 'ring', colours: [series[0]] });
    if (spots.length > 0) entries.push(...modelEntries(shown, spots, dots, spectrumNames[state.sigma]));
    if (rises.length > 0) entries.push(riseEntry(lines));
    const key = legend(entries, 8, box.width - 4, 46);
    const ticks = decades(domain, box.width);
    this.own = chart({
      label: 'localization against the variance',
      width: box.width,
      height: box.height,
      marginTop: key.height + 12,
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
      y: { domain: [0, top], label: null, tickFormat: tick, ticks: 6 },
      marks: [
        gridX(ticks, { strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        () => key.render(),
        riseMark(rises, top),
        ...otherMarks(lines),
        ...lineMarks(lines),
        ...pointMarks(known, lines, fresh),
        ...headMarks(spots, state.head, brushed(state), dots),
      ],
    });
    const ink = { stroke: 'var(--ink)', 'stroke-opacity': 0.35, 'stroke-dasharray': '3 3' };
    this.marks = {
      floor: element('path', { fill: 'none', stroke: 'var(--muted)', 'stroke-width': 1.5 }),
      rule: element('line', ink),
      index: element('tspan', { 'font-size': 17, 'font-weight': 700, fill: series[0] }),
      rest: element('tspan', { 'font-size': 12, dx: 8 }),
      dot: element('circle', { r: 7, fill: series[0], stroke: 'var(--paper)', 'stroke-width': 2 }),
    };
    const { floor, rule, dot, index, rest } = this.marks;
    floor.setAttribute('data-mark', 'rank floor of the head');
    dot.setAttribute('data-mark', 'present point');
    const text = { fill: 'currentColor', 'text-anchor': 'start' };
    const reading = element('text', { ...text, y: 16, 'data-mark': 'reading' });
    reading.append(index, rest);
    const axis = element('text', { ...text, y: 40 }, `↑ ${AXES[lines.measure]}`);
    this.own.svg.append(floor, rule, dot, reading, axis);
    this.chart = shifted(this.own, box.x, box.y);
    const { chart: drawn } = this;
    this.pointer.place([spots, drawn]);
    this.tip.place(() => [[tipsOf(lines, known), drawn]]);
    return this.own.svg;
  }

  /** Takes handle and names of heads away: another panel is in its place. */
  hide(): void {
    this.own = this.chart = this.marks = null;
    this.handle.element.hidden = true;
    this.pointer.place();
    this.tip.place(() => []);
  }

  /** Moves the present point, and reads out its numbers. */
  follow(point: Point): void {
    const { own, chart: drawn, marks, curves } = this;
    if (!own || !drawn || !marks || !curves) return;
    const { lines, domain } = curves;
    const { variance } = this.store.state; // under a hand it is ahead of the point
    const [low, high] = domain;
    const { index, rest } = readingOf(point);
    marks.index.textContent = index;
    marks.rest.textContent = rest;
    const x = Math.min(high, Math.max(low, variance));
    const y = valueOn(lines, 0, x);
    const [px, py] = [own.x.apply(x), own.y.apply(Number.isFinite(y) ? Math.min(y, this.top) : 0)];
    const ends = { x1: px, x2: px, y1: own.y.apply(0), y2: own.y.apply(this.top) };
    for (const [name, value] of Object.entries(ends)) marks.rule.setAttribute(name, String(value));
    marks.dot.setAttribute('cx', String(px));
    marks.dot.setAttribute('cy', String(py));
    marks.dot.setAttribute('visibility', Number.isFinite(y) ? 'visible' : 'hidden');
    const [from, to] = this.travel(domain);
    const text = `variance ${short(variance)}, ${AXES[lines.measure]} ${short(y)}; ${index}, ${rest}`;
    const offset = { x: drawn.x.apply(low) - own.x.apply(low), y: drawn.y.apply(0) - own.y.apply(0) };
    this.handle.place(px + offset.x, py + offset.y, { now: variance, from, to, text });
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

  private move(variance: number): void {
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

/** The upper end of the vertical axis: 1 for shares, otherwise room for lines, points and heads. */
export function topOf({ lines, points }: Curves, heads: readonly number[]): number {
  if (SHARES.includes(lines.measure)) return 1;
  const ends = points.map((point) => point[lines.measure] ?? 0);
  const closer = fails(lines);
  const beside = lines.others.flatMap(({ value }) => [...value]);
  const known = [...lines.value, ...beside, ...ends, ...(closer ? [] : heads)].filter(Number.isFinite);
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
