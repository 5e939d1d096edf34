import type { Markish } from '@observablehq/plot';
import { decade, short, tick } from '../../../charts/format';
import { legend, type Entry } from '../../../charts/legend';
import { dashes, fieldRamp, series, stripOf } from '../../../charts/palette';
import { contour } from '../../../charts/contour';
import { chart, line, partOf, ruleX } from '../../../charts/plot';
import { areEqual } from '../../../state/control';
import { child } from '../../../ui/dom';
import { fieldsOf, tableOf, type PanelsDescription } from '../experiments/figure';
import {
  chosenMark,
  circle,
  ends,
  manyMarks,
  panelOf,
  trainedMark,
  type Panel,
  type Size,
} from '../experiments/panels';
import { FINAL_LOSS } from '../experiments/picker';
import { PREDICTORS, type Predictor } from '../experiments/results';
import {
  fillPredictions,
  freezingOf,
  LEAST_RANGE,
  lossRange,
  mapCellsOf,
  medianOf,
  panelName,
  panelsOf,
  placeAmong,
  predictionsOf,
  PREDICTOR_NAMES,
  valuesOf,
  type FreezingPoint,
  type MapCell,
} from './words';

const HEIGHT = 250;
/** Colours of cells. */
const SHADES = 32;

const columnsOf = (width: number) => (width >= 1100 ? 4 : width >= 560 ? 2 : 1);

const cellsOf = (cells: readonly MapCell[], title: string) => cells.filter(({ panel }) => panel === title);

/** The colour of a final loss: a panel's shades span its own losses. */
function colourOf(cells: readonly MapCell[]): (loss: number) => string {
  const shades = stripOf(fieldRamp(), SHADES);
  const [low, high] = lossRange(cells);
  const span = Math.max(LEAST_RANGE, high - low);
  const place = (loss: number) => Math.round(((loss - low) / span) * (SHADES - 1));
  return (loss) => shades[Math.min(SHADES - 1, Math.max(0, place(loss)))];
}

/** Final loss over the energy-matched family of initializations. */
export const trainabilityFigure: PanelsDescription<MapCell[]> = {
  id: 'trainability',
  experiments: [
    {
      name: 'trainability-map',
      subject: 'initializations',
      choosing: {
        names: {
          layer_norm: { name: 'LayerNorm' },
          depth: { name: 'Depth' },
          init_scale: { name: 'Scale s' },
          alpha: { name: 'Alpha' },
        },
        first: { init_scale: '1.3195', alpha: '0.4667' },
        outcome: FINAL_LOSS,
      },
    },
  ],
  title: 'Map of trainability',
  rows(results) {
    const cells = mapCellsOf(results);
    fillPredictions(child(document, '[data-predictions]'), predictionsOf(results), cells);
    return cells;
  },
  /** Two panels for each norm and depth, one a step. */
  *panels({ rows, results: [found] }, width) {
    const columns = columnsOf(width);
    const common = {
      size: { width: width / columns, height: HEIGHT },
      alphas: valuesOf(found, 'alpha'),
      scales: valuesOf(found, 'init_scale'),
    };
    const freezing = freezingOf(found);
    const panels: Panel[] = [];
    for (const title of panelsOf(rows)) {
      const own = cellsOf(rows, title);
      const colour = colourOf(own);
      const look: MapLook = { ...common, colour, freezing: freezing.get(title) ?? [] };
      panels.push(gridPanel(`${title}: scale s`, own, look));
      yield;
      panels.push(spectrumPanel('variance of the eigenspectrum', own, look));
      yield;
    }
    const strip = { text: 'final loss, lowest to highest', kind: 'strip' as const };
    const shades = { ...strip, colours: stripOf(fieldRamp()) };
    return { columns, height: HEIGHT, names: legend([shades, ...lineEntries], 0, width), panels };
  },
  overlay({ rows, choice: { axes }, trained: [trials] }, { places, svg }) {
    const trained = trials.flatMap(({ choice, final }) => {
      const fill = colourOf(cellsOf(rows, panelName(choice.axes)))(final.bits_per_byte);
      return places.filter((place) => areEqual(place.choice, choice.axes)).map(({ x, y }) => ({ x, y, fill }));
    });
    const pixels = { type: 'identity', axis: null } as const;
    const { width, height } = svg.viewBox.baseVal;
    const drawn = chart({
      label: 'chosen and trained cells',
      width,
      height,
      margin: 0,
      x: pixels,
      y: pixels,
      marks: [
        chosenMark(
          places.filter((place) => areEqual(place.choice, axes)),
          { x: 'x', y: 'y', r: 9, strokeWidth: 2 },
        ),
        trainedMark(trained, { x: 'x', y: 'y', strokeWidth: 2, fill: ({ fill }: { fill: string }) => fill }),
      ],
    });
    return partOf(drawn.svg);
  },
  caption: ({ rows }) =>
    panelsOf(rows).map((title) => {
      const [low, high] = lossRange(cellsOf(rows, title)).map((loss) => loss.toFixed(3));
      return `${title}: final losses from ${low} to ${high} bits per byte.`;
    }),
  unit: 'bits per byte',
  table: ({ rows, results: [results] }) =>
    tableOf(
      rows,
      [
        ['layer_norm', ({ axes }) => axes.layer_norm],
        ['depth', ({ axes }) => Number(axes.depth)],
        ...fieldsOf('alpha'),
        ['init_scale', ({ scale }) => scale],
        ['bits_per_byte', ({ loss }) => loss],
        ...fieldsOf(...PREDICTORS),
      ],
      results,
    ),
};

/** The measures of the untrained model whose medians are drawn over the cells. */
const LINES: readonly Predictor[] = ['entropy', 'last_residual', 'self_mass', 'localization'];

const FREEZING = { text: 'where logits freeze', colour: series[1] };

/** Legend entries of those lines, and of the one where logits freeze. */
const lineEntries: readonly Entry[] = [
  ...LINES.map((name, i) => ({
    text: PREDICTOR_NAMES[name],
    kind: 'line' as const,
    colours: ['currentColor'],
    dash: dashes[i],
  })),
  { text: FREEZING.text, kind: 'line', colours: [FREEZING.colour] },
];

/** What all panels of one picture have in common. */
interface MapLook {
  size: Size;
  /** CSS colour of a final loss; one of few. */
  colour: (loss: number) => string;
  alphas: readonly number[];
  scales: readonly number[];
  /** Where logits freeze, by rising alpha. */
  freezing: readonly FreezingPoint[];
}

/** Radius of the dots, in pixels. */
const DOT = 3.5;
/** Means nearer to zero than this are drawn on a linear scale. */
const NEAR_ZERO = 0.1;

const tell = ({ alpha, scale, loss, axes }: MapCell) => ({
  text: `α = ${short(alpha)}, s = ${short(scale)}: ${short(loss)} bits per byte`,
  choice: axes,
});

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
        { width: columns.length, height: rows.length, thresholds, ...edges, ariaDescription: PREDICTOR_NAMES[name] },
        {
          stroke: `var(${colour})`,
          'stroke-width': layer === 0 ? 4 : 1.5,
          'stroke-opacity': layer === 0 ? 0.8 : 1,
          'stroke-dasharray': dashes[i],
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
function gridPanel(title: string, cells: readonly MapCell[], look: MapLook): Panel {
  const { alphas, scales, size, colour } = look;
  const column = ({ alpha }: MapCell) => alphas.indexOf(alpha);
  const row = ({ scale }: MapCell) => scales.indexOf(scale);
  return panelOf({
    title,
    size,
    x: {
      domain: [-0.5, alphas.length - 0.5],
      label: 'correlation α →',
      ticks: labelled(alphas),
      tickFormat: (i: number) => tick(Number(alphas[i].toFixed(1))),
    },
    y: {
      domain: [-0.5, scales.length - 0.5],
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
    ],
    points: cells,
    at: (cell) => [column(cell), row(cell)],
    tell,
  });
}

/** The same cells over mean and variance of the eigenspectrum at initialization. */
function spectrumPanel(title: string, cells: readonly MapCell[], { size, colour }: MapLook): Panel {
  const positive = cells.filter(({ variance }) => variance > 0);
  return panelOf({
    title,
    size,
    x: {
      type: 'symlog',
      constant: NEAR_ZERO,
      label: 'mean of the eigenspectrum →',
      domain: ends([0, ...positive.map(({ mean }) => mean)]),
      ticks: [-8, -1, 0, 1, 8],
    },
    y: { type: 'log', domain: ends(positive.map(({ variance }) => variance)), tickFormat: decade },
    marks: [
      ruleX([0], { strokeOpacity: 0.15 }),
      manyMarks(
        positive,
        ({ loss }) => colour(loss),
        ({ mean, variance }, x, y) => circle(x(mean), y(variance), DOT),
        { 'aria-label': 'cells', stroke: 'var(--muted)', 'stroke-width': 0.75 },
      ),
    ],
    points: cells,
    at: ({ mean, variance }) => [mean, variance],
    tell,
  });
}
