import type { Markish } from '@observablehq/plot';
import { decade, short, tick } from '../../charts/format';
import { paintGrid } from '../../charts/heatmap';
import { fieldRamp, stripOf, type Ramp } from '../../charts/palette';
import { element, type Bitmap } from '../../charts/picture';
import { chartWithLegend, text, type Chart } from '../../charts/plot';
import type { Output, Signal, TokenProcess } from '../../engine/protocol';
import { tokenProcesses } from '../../state/setting';
import { textWidth, type Entry } from '../../charts/legend';
import type { Frame, Shape } from '../../ui/frame';
import { borders } from '../../charts/borders';
import { cellsAround, labelPlaces } from '../../charts/regions';

/** The engine's numbers of regimes. */
export const REGIMES = ['uniform', 'late', 'middle', 'early', 'none'] as const;

/** The engine's numbers of signals. */
export const SIGNALS = ['localized', 'uniform-alive', 'uniform-dead', 'none'] as const;

/** What a signal is called. */
export const signalNames: Record<Signal, string> = {
  localized: 'localized',
  'uniform-alive': 'uniform, many pass',
  'uniform-dead': 'uniform, few pass',
  none: 'no propagation',
};

export type Range = [number, number];

/** What a phase map covers: xi/lambda, and sqrt(eta_F)/lambda on a logarithmic axis. */
export interface Domain {
  x: Range;
  y: Range;
}

/** Columns and rows of a map. */
export function sizeOf(map: Output<'map'>) {
  return { columns: map.xi_over_lambda.length, rows: map.sqrt_eta_f_over_lambda.length };
}

/** Localization and regimes over a domain. */
export interface Field {
  domain: Domain;
  map: Output<'map'>;
}

/** Columns and rows of a map at full quality. */
export const FULL = { columns: 256, rows: 192 };

/** What the engine is asked of a domain. */
export function gridOf({ x, y }: Domain, size: typeof FULL) {
  return { x_from: x[0], x_to: x[1], x_count: size.columns, y_from: y[0], y_to: y[1], y_count: size.rows };
}

/** Room for points, and for what is worth seeing in any case. */
export function domainAround(points: { x: number; y: number }[], tokens: TokenProcess): Domain {
  const most = tokenProcesses[tokens].last_variance_power > 0 ? 30 : 300;
  const reach: Domain = { x: [-4, 4], y: [0.04, most] };
  for (const { x, y } of points) {
    reach.x = [Math.min(reach.x[0], x), Math.max(reach.x[1], x)];
    if (y > 0) reach.y = [Math.min(reach.y[0], y), Math.max(reach.y[1], y)];
  }
  const half = (value: number, round: (x: number) => number) => 10 ** (round(2 * Math.log10(value)) / 2);
  return {
    x: [Math.floor(1.05 * reach.x[0]), Math.ceil(1.05 * reach.x[1])],
    y: [half(reach.y[0], Math.floor), half(reach.y[1], Math.ceil)],
  };
}

/** The picture of a map, below its legend. */
export function mapChart(
  frame: Frame,
  { domain }: Field,
  { label, entries, marks }: { label: string; entries: Entry[]; marks: Markish[] },
): Chart {
  return chartWithLegend({
    label,
    entries,
    width: frame.width,
    height: frame.height(MAP_SHAPE),
    ...MAP_MARGINS,
    x: { domain: domain.x, label: 'mean, ξ/λ →', labelAnchor: 'center', tickFormat: tick },
    y: { type: 'log', domain: domain.y, label: 'spread, √η_F/λ', tickFormat: decade },
    marks,
  });
}

/** Where points lie in columns and rows of the grid. */
export function onGrid({ domain, map }: Field, points: readonly { x: number; y: number }[]) {
  const [left, right] = domain.x;
  const [low, high] = domain.y;
  const { columns, rows } = sizeOf(map);
  return points.map(({ x, y }) => ({
    column: ((x - left) / (right - left)) * (columns - 1),
    row: (Math.log(y / low) / Math.log(high / low)) * (rows - 1),
  }));
}

/** Cell numbers to the units of the axes, at the cells' centres: the grid's own points. */
export function cellsOf({ domain, map }: Field) {
  const [left, right] = domain.x;
  const [low, high] = domain.y;
  const { columns, rows } = sizeOf(map);
  return {
    x: (column: number) => left + ((right - left) * column) / (columns - 1),
    y: (row: number) => low * (high / low) ** (row / (rows - 1)),
  };
}

/** Pixels below which a map has no room for long names. */
const NARROW = 560;

/** Where a profile is localized its regime says at which tokens; elsewhere the signal says the rest. */
const PLACES: readonly string[] = [
  ...REGIMES.map((regime) => (regime === 'uniform' ? 'localized' : `localized, ${regime}`)),
  ...SIGNALS.slice(1).map((signal) => signalNames[signal]),
];

/** A name without its first part, for a small region. */
function shortName(name: string): string {
  return name.replace(/^(localized|uniform), /, '');
}

/** The number of the place of every cell among `PLACES`. */
function placesOf({ regime, signal }: Output<'map'>): Uint8Array {
  return regime.map((where, at) => (SIGNALS[signal[at]] === 'localized' ? where : REGIMES.length + signal[at] - 1));
}

/** Of the picture of a map. */
const MAP_SHAPE: Shape = { share: 0.66, least: 300, most: 460 };
/** Margins of the picture beside and below the map; its legend stands above. */
export const MAP_MARGINS = { marginLeft: 56, marginRight: 12, marginBottom: 44 };
/** Pixels of the map itself, at least. */
const LEAST_HEIGHT = MAP_SHAPE.least - MAP_MARGINS.marginBottom - 12;
/** Size of the names, in pixels. */
const NAME = 14;
/** How far from a point, in pixels, a name does not touch its dot or number. */
const CLEAR = 8;

/** Least share of a name that fits its region; another has only its last word, or none where too little fits. */
const FITS = 0.97;
const LITTLE = 0.6;

/**
 * Borders and names of the regimes, in a chart `width` pixels wide; names keep clear of points where they can. Yields
 * between its steps.
 */
export function* mapMarks(
  field: Field,
  width: number,
  points: readonly { x: number; y: number }[] = [],
): Generator<void, Markish[]> {
  const { columns, rows } = sizeOf(field.map);
  const regions = { columns, rows, region: placesOf(field.map) };
  const cellsOfPixels = (across: number, up: number): Range => [
    (across * columns) / (width - MAP_MARGINS.marginLeft - MAP_MARGINS.marginRight),
    (up * rows) / LEAST_HEIGHT,
  ];
  const taken = cellsAround(regions, onGrid(field, points), cellsOfPixels(2 * CLEAR, CLEAR));
  const brief = new Set<number>();
  const nameOf = (place: number) => (width < NARROW || brief.has(place) ? shortName(PLACES[place]) : PLACES[place]);
  const half = (place: number) => cellsOfPixels((1.1 * textWidth(nameOf(place)) * NAME) / (2 * 12), NAME / 2);
  const placed = () => labelPlaces(regions, rows / 24, half, taken);
  let names = yield* placed();
  for (const { region, fit } of names) if (fit < FITS) brief.add(region);
  if (brief.size > 0) names = yield* placed();
  const path = borders(regions);
  yield;
  const { x, y } = cellsOf(field);
  return [
    (_, scales) => borderMark(field, path, scales.x as Scale, scales.y as Scale),
    text(
      names.filter(({ fit }) => fit >= LITTLE),
      {
        x: (place) => x(place.column),
        y: (place) => y(place.row),
        text: (place) => nameOf(place.region),
        fontSize: NAME,
        fontWeight: 600,
        fill: 'var(--ink)',
        stroke: 'var(--paper)',
        strokeWidth: 4,
        ariaDescription: 'regimes',
      },
    ),
  ];
}

/** The legend's entry of the colours. */
export function stripEntry(field: Field): Entry {
  const text = `localization 0 to ${short(strongest(field))}`;
  return { text, kind: 'strip', colours: stripOf(fieldRamp()) };
}

/** The cells of a map, on a canvas under its chart. */
export class MapCanvas {
  private canvas = document.createElement('canvas');
  /** What it shows, and in which colours. */
  private painted: { map: Field['map']; ramp: Ramp } | null = null;

  constructor() {
    this.canvas.className = 'bitmap';
  }

  /** Paints the field, if it or the colours are new; returns its place below the axes of a chart. */
  paint(field: Field, { x, y }: Chart): Bitmap {
    const { canvas } = this;
    const { columns, rows } = sizeOf(field.map);
    const ramp = fieldRamp();
    if (this.painted?.map !== field.map || this.painted.ramp !== ramp) {
      this.painted = { map: field.map, ramp };
      this.paintCells(field, ramp);
    }
    const edge = edges(field, x.apply, y.apply);
    const [left, top] = [edge.x(0), edge.y(rows)];
    return { canvas, x: left, y: top, width: edge.x(columns) - left, height: edge.y(0) - top };
  }

  private paintCells(field: Field, ramp: Ramp): void {
    const { columns, rows } = sizeOf(field.map);
    const { localization } = field.map;
    const values = new Float32Array(columns * rows);
    for (let row = 0; row < rows; row++) {
      const from = localization.subarray(row * columns, (row + 1) * columns);
      values.set(from, (rows - 1 - row) * columns); // the canvas counts from the top
    }
    const most = strongest(field);
    void paintGrid(this.canvas, { columns, rows, values }, ramp, (value) => value / most);
  }
}

type Scale = (value: number) => number;

function strongest({ map }: Field): number {
  const most = map.localization.reduce((a, b) => (b > a ? b : a), 0.1); // NaN is not above
  return Math.min(1, Math.ceil(10 * most) / 10);
}

/** Edges of cells in pixels. Cells are centred on the grid's points: half of one hangs over. */
function edges({ domain, map }: Field, x: Scale, y: Scale) {
  const along =
    ([from, to]: number[], count: number) =>
    (edge: number) =>
      from + ((to - from) * (edge - 0.5)) / (count - 1);
  const { columns, rows } = sizeOf(map);
  return { x: along(domain.x.map(x), columns), y: along(domain.y.map(y), rows) };
}

function borderMark(field: Field, path: ReturnType<typeof borders>, xScale: Scale, yScale: Scale): SVGElement {
  const { x, y } = edges(field, xScale, yScale);
  const d = path(x, y);
  const look = { fill: 'none', stroke: 'var(--ink)', 'stroke-opacity': 0.55 };
  return element('path', { d, ...look, 'aria-label': 'borders of the regimes' });
}
