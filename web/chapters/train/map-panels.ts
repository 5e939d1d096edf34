// The panels of the map of initializations: cells over alpha and s, and over mean and variance.
import type { Markish } from '@observablehq/plot';
import { decade, short, tick } from '../../charts/format';
import type { Entry } from '../../charts/legend';
import { dashes, series } from '../../charts/palette';
import { chart, contour, line, ruleX } from '../../charts/plot';
import { medianOf, placeAmong, PREDICTOR_NAMES, type FreezingPoint, type MapCell } from './map-cells';
import { circle, ends, manyMarks, MARGINS, titleMark, type Panel } from './panel-parts';
import type { Predictor } from './published-results';

/** The measures of the untrained model whose medians are drawn over the cells. */
const LINES: readonly Predictor[] = ['entropy', 'last_residual', 'self_mass', 'localization'];

const FREEZING = { text: 'where logits freeze', colour: series[1] };

/** Legend entries of those lines, and of the one where logits freeze. */
export const lineEntries: readonly Entry[] = [
  ...LINES.map((name, i) => ({
    text: PREDICTOR_NAMES[name],
    kind: 'line' as const,
    colours: ['currentColor'],
    dash: dashes[i],
  })),
  { text: FREEZING.text, kind: 'line', colours: [FREEZING.colour] },
];

/** What all panels of one picture have in common. */
export interface MapLook {
  size: { width: number; height: number };
  /** CSS colour of a final loss; one of few. */
  colour: (loss: number) => string;
  alphas: readonly number[];
  scales: readonly number[];
  /** Where logits freeze, by rising alpha. */
  freezing: readonly FreezingPoint[];
}

const describe = ({ alpha, scale, loss }: MapCell) =>
  `α = ${short(alpha)}, s = ${short(scale)}: ${short(loss)} bits per byte`;

/** Where each measure has its median over the cells of a whole panel. */
function medianLines(cells: readonly MapCell[], { alphas, scales }: MapLook): Markish[] {
  if (cells.length < alphas.length * scales.length) return [];
  const at = (alpha: number, scale: number) => cells.find((cell) => cell.alpha === alpha && cell.scale === scale)!;
  // One cell more on each side: contours are closed along the border of what they are made of.
  const padded = <Value>(values: readonly Value[]) => [values[0], ...values, values.at(-1)!];
  const [columns, rows] = [padded(alphas), padded(scales)];
  const grid = rows.flatMap((scale) => columns.map((alpha) => at(alpha, scale)));
  const edges = { x1: -1.5, x2: columns.length - 1.5, y1: -1.5, y2: rows.length - 1.5 };
  return LINES.flatMap((name, i) => {
    const thresholds = [medianOf(cells.map((cell) => cell[name]))];
    // Light below dark: seen on light and on dark cells.
    return (['--paper', '--ink'] as const).map((colour, layer) =>
      contour(
        grid.map((cell) => cell[name]),
        {
          width: columns.length,
          height: rows.length,
          thresholds,
          ...edges,
          x: null,
          y: null,
          clip: true,
          stroke: `var(${colour})`,
          strokeWidth: layer === 0 ? 4 : 1.5,
          strokeOpacity: layer === 0 ? 0.8 : 1,
          strokeDasharray: dashes[i],
          ariaDescription: PREDICTOR_NAMES[name],
        },
      ),
    );
  });
}

/** Where logits freeze, over the cells. */
function freezingMarks({ alphas, scales, freezing }: MapLook): Markish[] {
  const x = ({ alpha }: FreezingPoint) => alphas.indexOf(alpha);
  const y = ({ init_scale }: FreezingPoint) => placeAmong(scales, init_scale);
  return [
    line(freezing, { x, y, stroke: 'var(--paper)', strokeWidth: 5, strokeOpacity: 0.8 }),
    line(freezing, { x, y, stroke: FREEZING.colour, strokeWidth: 2.5, ariaDescription: FREEZING.text }),
  ];
}

/** The places of values that get a label: at most eight, or their labels would touch. */
function labelled(values: readonly number[]): number[] {
  const step = Math.ceil((values.length - 1) / 7);
  return [...values.keys()].filter((i) => i % step === 0);
}

/** Cells over alpha and s, with the lines of the measures. */
export function gridPanel(title: string, cells: readonly MapCell[], look: MapLook): Panel {
  const { alphas, scales, size, colour } = look;
  const column = ({ alpha }: MapCell) => alphas.indexOf(alpha);
  const row = ({ scale }: MapCell) => scales.indexOf(scale);
  const drawn = chart({
    label: title,
    ...size,
    ...MARGINS,
    x: {
      domain: [-0.5, alphas.length - 0.5],
      label: 'correlation α →',
      labelAnchor: 'center',
      ticks: labelled(alphas),
      tickFormat: (i: number) => tick(Number(alphas[i].toFixed(1))),
    },
    y: {
      domain: [-0.5, scales.length - 0.5],
      label: null,
      ticks: labelled(scales),
      tickFormat: (i: number) => short(Number(scales[i].toPrecision(2))),
    },
    marks: [
      manyMarks(
        cells,
        ({ loss }) => colour(loss),
        (cell, x, y) => {
          const [left, right] = [x(column(cell) - 0.5), x(column(cell) + 0.5)];
          return `M${left},${y(row(cell) - 0.5)}H${right}V${y(row(cell) + 0.5)}H${left}Z`;
        },
        { 'aria-label': 'cells', 'shape-rendering': 'crispEdges' }, // no light between neighbours
      ),
      ...medianLines(cells, look),
      ...freezingMarks(look),
      titleMark(title),
    ],
  });
  return {
    drawn,
    places: cells.map((cell) => ({
      x: drawn.x.apply(column(cell)),
      y: drawn.y.apply(row(cell)),
      text: describe(cell),
      choice: cell.axes,
    })),
  };
}

/** Radius of the dots, in pixels. */
const DOT = 3.5;
/** Means nearer to zero than this are drawn on a linear scale. */
const NEAR_ZERO = 0.1;

/** The same cells over mean and variance of the eigenspectrum at initialization. */
export function spectrumPanel(title: string, cells: readonly MapCell[], look: MapLook): Panel {
  const { size, colour } = look;
  const positive = cells.filter(({ variance }) => variance > 0);
  const drawn = chart({
    label: title,
    ...size,
    ...MARGINS,
    x: {
      type: 'symlog',
      constant: NEAR_ZERO,
      label: 'mean of the eigenspectrum →',
      domain: ends([0, ...positive.map(({ mean }) => mean)]),
      labelAnchor: 'center',
      ticks: [-8, -1, 0, 1, 8],
      tickFormat: tick,
    },
    y: {
      type: 'log',
      domain: ends(positive.map(({ variance }) => variance)),
      label: null,
      ticks: 5,
      tickFormat: decade,
    },
    marks: [
      ruleX([0], { strokeOpacity: 0.15 }),
      manyMarks(
        positive,
        ({ loss }) => colour(loss),
        ({ mean, variance }, x, y) => circle(x(mean), y(variance), DOT),
        { 'aria-label': 'cells', stroke: 'var(--muted)', 'stroke-width': 0.75 },
      ),
      titleMark(title),
    ],
  });
  return {
    drawn,
    places: cells.map((cell) => ({
      x: drawn.x.apply(cell.mean),
      y: drawn.y.apply(cell.variance),
      text: describe(cell),
      choice: cell.axes,
    })),
  };
}
