// What the panels of the figures of experiments have in common.
import type { DotOptions, Markish } from '@observablehq/plot';
import { legend, lineEntry, type Entry } from '../../charts/legend';
import { padded } from '../../charts/format';
import { element } from '../../charts/picture';
import { compose, dot, link, ruleY, text, type Chart } from '../../charts/plot';
import { BARS } from '../../charts/with-error';
import type { CellPlace } from './cell-pointer';
import { REFERENCES, type MeanError, type Reference } from './published-results';
import { isInsignificant, type Tested } from './published-rows';

/** Margins of a panel, with room for its title above. */
export const MARGINS = { marginLeft: 46, marginRight: 14, marginTop: 36, marginBottom: 40 };

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

/**
 * A legend of lines in the colours and dashes of these places of the series, and what else it has, so many pixels wide.
 */
export function lineLegend(
  texts: readonly string[],
  width: number,
  more: readonly Entry[] = [],
  places: readonly number[] = [...texts.keys()],
) {
  return legend([...texts.map((text, i) => lineEntry(text, places[i])), ...more], 0, width);
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

/** Upright error bars of those points that have one. */
export function errorBars<Point>(
  points: readonly Point[],
  x: (point: Point) => number,
  value: (point: Point) => MeanError,
  look: { stroke: string },
): Markish {
  return link(
    points.filter((point) => Number.isFinite(value(point).error)),
    {
      x1: x,
      x2: x,
      strokeWidth: 1.5,
      ...look,
      ariaDescription: 'error bars',
      y1: (point: Point) => value(point).mean - BARS * value(point).error,
      y2: (point: Point) => value(point).mean + BARS * value(point).error,
    },
  );
}

/** Named lines at the losses of tables of unigrams, bigrams and trigrams, those that the axis has. */
export function referenceMarks(
  losses: Record<Reference, number>,
  [low, high]: readonly [number, number] = [-Infinity, Infinity],
): Markish[] {
  const shown = REFERENCES.filter((name) => losses[name] >= low && losses[name] <= high);
  const y = (name: Reference) => losses[name];
  return [
    ruleY(shown, {
      y,
      stroke: 'var(--muted)',
      strokeDasharray: '6 3',
      strokeWidth: 1,
      ariaDescription: 'loss of a table of n-grams',
    }),
    text(shown, {
      y,
      text: (name: Reference) => name,
      frameAnchor: 'right' as const,
      dy: -6,
      textAnchor: 'end' as const,
      fontSize: 10,
      fill: 'var(--muted)',
      ariaDescription: 'which n-grams',
    }),
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
  return dot(points, {
    r: 5,
    symbol: 'diamond',
    stroke: 'var(--ink)',
    strokeWidth: 2.5,
    ...look,
    ariaDescription: 'trained here',
  });
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
