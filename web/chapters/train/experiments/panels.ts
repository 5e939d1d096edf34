// What the panels of the figures of experiments have in common.
import type { DotOptions, Markish, ScaleOptions } from '@observablehq/plot';
import { padded, tick } from '../../../charts/format';
import { legend, type Entry } from '../../../charts/legend';
import { dashes, series, type LineLook } from '../../../charts/palette';
import { element } from '../../../charts/picture';
import { chart, compose, dot, gridY, line, link, ruleX, ruleY, text, type Chart } from '../../../charts/plot';
import { BARS } from '../../../charts/with-error';
import type { CellPlace } from './picker';
import { REFERENCES, type Reference } from './results';
import { isInsignificant, type Tested } from './rows';

/** Margins of a panel, with room for its title above. */
export const MARGINS = { marginLeft: 46, marginRight: 18, marginTop: 36, marginBottom: 40 };

/** A panel narrower than this, in pixels, has room for few ticks. */
export const NARROW = 230;

/** The title of a panel, above its upper left corner. */
export function titleMark(title: string): Markish {
  return text([title], {
    frameAnchor: 'top-left' as const,
    lineAnchor: 'bottom' as const,
    dx: -40,
    dy: -13,
    fontSize: 13,
    fontWeight: 600,
    ariaDescription: 'title',
  });
}

/** What hollow marks mean: no significant difference from the baseline. */
export const HOLLOW: Entry = {
  text: 'hollow: not significant (Holm’s p ≥ 0.05)',
  kind: 'ring',
  colours: ['currentColor'],
};

/** The look of the i-th line of a figure whose lines are no methods. */
export const lookAt = (i: number): LineLook => ({ colour: series[i], dash: dashes[i] });

/** The legend entry of a line. */
export const lineOf = (text: string, { colour, dash }: LineLook): Entry => ({
  text,
  kind: 'line',
  colours: [colour],
  dash,
});

/** A legend of lines, and what else it has, so many pixels wide. */
export function lineLegend(
  texts: readonly string[],
  width: number,
  more: readonly Entry[] = [],
  looks: readonly LineLook[] = texts.map((_, i) => lookAt(i)),
) {
  return legend([...texts.map((text, i) => lineOf(text, looks[i])), ...more], 0, width);
}

/** Dots at means, hollow where a test found no difference from the baseline. */
export function meanMark<Point>(
  points: readonly Point[],
  { r = 3.5, ...look }: Pick<DotOptions, 'x' | 'y'> & { r?: number },
  tested: (point: Point) => Pick<Tested, 'p'>,
  colour: string,
  ariaDescription: string,
): Markish {
  const fill = (point: Point) => (isInsignificant(tested(point)) ? 'var(--paper)' : colour);
  return dot(points, { ...look, r, fill, stroke: colour, strokeWidth: 1.5, ariaDescription });
}

/** Named lines, level or upright, at the losses of tables of unigrams, bigrams and trigrams that the axis has. */
export function referenceMarks(
  losses: Record<Reference, number>,
  [low, high]: readonly number[] = [-Infinity, Infinity],
  isUpright = false,
): Markish[] {
  const shown = REFERENCES.filter((name) => losses[name] >= low && losses[name] <= high);
  const at = (name: Reference) => losses[name];
  const rule = { stroke: 'var(--muted)', strokeDasharray: '6 3', ariaDescription: 'loss of a table of n-grams' };
  const names = {
    fontSize: 10,
    fill: 'var(--muted)',
    ariaDescription: 'which n-grams',
    text: (name: Reference) => name,
  };
  return isUpright
    ? [ruleX(shown, { x: at, ...rule }), text(shown, { x: at, ...names, frameAnchor: 'top', dy: -8 })]
    : [
        ruleY(shown, { y: at, ...rule }),
        text(shown, { y: at, ...names, frameAnchor: 'right', textAnchor: 'end', dy: -6 }),
      ];
}

/** The same losses in words, in the unit of a figure. */
export function referencesText(losses: Record<Reference, number>, unit: string): string {
  const named = REFERENCES.map((name) => `${name}s ${padded(losses[name])}`);
  return `Tables of n-grams of the training text reach on the same text: ${named.join(', ')} ${unit}.`;
}

/** Rings around the chosen points. */
export function chosenMark<Point>(points: readonly Point[], look: DotOptions): Markish {
  const ring = { stroke: 'var(--ink)', strokeWidth: 1.5, ariaDescription: 'chosen' };
  return dot(points, { ...ring, ...look });
}

/** Hollow diamonds for runs that were trained in this tab. */
export function trainedMark<Point>(points: readonly Point[], look: DotOptions): Markish {
  const diamond = { r: 5, symbol: 'diamond', stroke: 'var(--ink)', strokeWidth: 2.5 } as const;
  return dot(points, { ...diamond, ...look, ariaDescription: 'trained here' });
}

/** A scale in pixels of the chart. */
export type Scale = (value: number) => number;

/**
 * Marks of many points, as so many paths of each colour: far fewer elements than points. Where marks are
 * see-through, those of several paths show how many lie on each other.
 */
export function manyMarks<Point>(
  points: readonly Point[],
  fill: (point: Point) => string,
  outline: (point: Point, x: Scale, y: Scale) => string,
  look: Record<string, string | number>,
  layers = 1,
): Markish {
  return (_, scales) => {
    const [x, y] = [scales.x as Scale, scales.y as Scale];
    const paths = Array.from({ length: layers }, () => new Map<string, string>());
    for (const [i, point] of points.entries()) {
      const layer = paths[i % layers];
      const colour = fill(point);
      layer.set(colour, (layer.get(colour) ?? '') + outline(point, x, y));
    }
    const group = element('g', look);
    for (const [colour, d] of paths.flatMap((layer) => [...layer])) group.append(element('path', { fill: colour, d }));
    return group;
  };
}

/** The outline of a circle. */
export function circle(x: number, y: number, r: number): string {
  const halves = [1, -1].map((side) => `a${r},${r} 0 1,0 ${2 * r * side},0`);
  return `M${x - r},${y}${halves.join('')}`;
}

/** The outline of a diamond about as large as the circle of that radius. */
export function diamond(x: number, y: number, r: number): string {
  const [half, height] = [0.95 * r, 1.65 * r];
  return `M${x},${y - height}l${half},${height}l${-half},${height}l${-half},${-height}Z`;
}

/** Least and largest value. */
export function ends(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

/** A panel with what can be pointed at on it, in its own pixels. */
export interface Panel {
  drawn: Chart;
  places: CellPlace[];
}

/** Pixels of a panel. */
export interface Size {
  width: number;
  height: number;
}

/** A panel, and the points of it that stand for runs. */
interface PanelDescription<Point> {
  title: string;
  size: Size;
  x: ScaleOptions;
  y: ScaleOptions;
  marks: readonly Markish[];
  points: readonly Point[];
  at(point: Point): readonly [x: number, y: number];
  /** What pointing at a point says, and which run it chooses. */
  tell(point: Point): Omit<CellPlace, 'x' | 'y'>;
}

/** Draws a panel. */
export function panelOf<Point>({ title, size, x, y, marks, points, at, tell }: PanelDescription<Point>): Panel {
  const drawn = chart({
    label: title,
    ...size,
    ...MARGINS,
    x: { labelAnchor: 'center', tickFormat: tick, ...x },
    y: { label: null, ticks: 5, tickFormat: tick, ...y },
    marks: [...marks, titleMark(title)],
  });
  const places = points.map((point) => {
    const [px, py] = at(point);
    return { x: drawn.x.apply(px), y: drawn.y.apply(py), ...tell(point) };
  });
  return { drawn, places };
}

/** A mean with the ends of its bar, and the p value of its test against the baseline. */
export interface Value {
  mean: number;
  ends: readonly [low: number, high: number] | null;
  p: number | null;
}

/** A mean over runs with a bar of two standard errors; without a bar for a single run. */
export function valueOf({ mean, error, p }: Tested): Value {
  return { mean, p, ends: Number.isFinite(error) ? [mean - BARS * error, mean + BARS * error] : null };
}

/** A line through means. */
interface PanelLine<Point> {
  name: string;
  look: LineLook;
  points: readonly Point[];
}

/** A panel of lines through means of runs, with bars. */
interface LinesDescription<Point> extends Omit<PanelDescription<Point>, 'marks' | 'points' | 'at'> {
  lines: readonly PanelLine<Point>[];
  /** Marks below the lines. */
  below?: readonly Markish[];
  /** Lines without a name. */
  others?: readonly (readonly Point[])[];
  /** Marks above the lines. */
  above?: readonly Markish[];
  /** Values of the horizontal lines; those of the ticks by default. */
  grid?: readonly number[];
  place(point: Point): number;
  value(point: Point): Value;
  /** Radius of the dots, in pixels. */
  r?: number;
  /** Points that can be pointed at; those of all lines by default. */
  points?: readonly Point[];
  /** Where a point stands that has not its mean's height. */
  height?(point: Point): number;
  isChosen(point: Point): boolean;
  trained: readonly { x: number; y: number }[];
}

/** Draws a panel of lines. */
export function linesPanel<Point>({
  lines,
  others = [],
  below = [],
  above = [],
  ...of
}: LinesDescription<Point>): Panel {
  const x = of.place;
  const mean = (point: Point) => of.value(point).mean;
  const height = of.height ?? mean;
  const points = of.points ?? [...lines.flatMap((it) => it.points), ...others.flat()];
  const unnamed = others.flatMap((list, z) => list.map((point) => ({ x: x(point), y: mean(point), z })));
  const faint = { stroke: 'currentColor', strokeOpacity: 0.2, strokeWidth: 1, ariaDescription: 'other methods' };
  const lineMarks = lines.flatMap(({ name, look, points: own }) => {
    const stroke = look.colour;
    const bars = own.flatMap((point) => {
      const { ends: bar } = of.value(point);
      return bar ? { x: x(point), low: bar[0], high: bar[1] } : [];
    });
    const bar = { x1: 'x', x2: 'x', y1: 'low', y2: 'high', stroke, strokeWidth: 1.5, ariaDescription: 'error bars' };
    return [
      line(own, { x, y: mean, stroke, strokeWidth: 2, strokeDasharray: look.dash, ariaDescription: name }),
      link(bars, bar),
      meanMark(own, { x, y: mean, ...(of.r && { r: of.r }) }, of.value, stroke, `${name}, mean`),
    ];
  });
  return panelOf({
    ...of,
    points,
    at: (point) => [x(point), height(point)],
    marks: [
      of.grid ? gridY(of.grid, { strokeOpacity: 0.08 }) : gridY({ ticks: of.y.ticks ?? 5, strokeOpacity: 0.08 }),
      ...below,
      line(unnamed, { x: 'x', y: 'y', z: 'z', ...faint }),
      ...lineMarks,
      ...above,
      chosenMark(points.filter(of.isChosen), { x, y: height, r: 7 }),
      trainedMark(of.trained, { x: 'x', y: 'y' }),
    ],
  });
}

/** Of a picture and its panels. */
export interface PanelSize {
  /** Panels in a row. */
  columns: number;
  /** Of the whole picture, in pixels. */
  width: number;
  /** Of one panel, in pixels. */
  height: number;
}

/** Panels in rows of `columns`, all of one size, below a legend; and their places in the whole picture. */
export function arranged(
  panels: readonly Panel[],
  { columns, width, height }: PanelSize,
  names: ReturnType<typeof legend>,
  label: string,
): { svg: SVGSVGElement; places: CellPlace[] } {
  const top = names.height + 6;
  const at = (i: number) => ({ x: ((i % columns) * width) / columns, y: top + Math.floor(i / columns) * height });
  const rows = Math.ceil(panels.length / columns);
  const svg = compose(
    panels.map(({ drawn }, i) => ({ svg: drawn.svg, ...at(i) })),
    { width, height: top + rows * height },
    label,
  );
  const legendPlace = element('g');
  legendPlace.append(names.render());
  svg.append(legendPlace);
  const places = panels.flatMap(({ places }, i) =>
    places.map((place) => ({ ...place, x: place.x + at(i).x, y: place.y + at(i).y })),
  );
  return { svg, places };
}
