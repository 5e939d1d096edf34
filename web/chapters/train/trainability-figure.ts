import { short } from '../../charts/format';
import { legend } from '../../charts/legend';
import { fieldRamp, stripOf } from '../../charts/palette';
import { chart, partOf } from '../../charts/plot';
import { areEqual } from '../../state/equal';
import { child } from '../../ui/dom';
import { FINAL_LOSS } from './cell-picker';
import {
  freezingOf,
  LEAST_RANGE,
  lossRange,
  mapCellsOf,
  panelOf,
  panelsOf,
  predictionsOf,
  PREDICTOR_NAMES,
  valuesOf,
  type MapCell,
  type Prediction,
} from './map-cells';
import { gridPanel, lineEntries, spectrumPanel, type MapLook } from './map-panels';
import { chosenMark, referencesText, trainedMark, type Panel } from './panel-parts';
import type { PanelsDescription } from './panels-figure';
import { fillPredictions } from './predictions-table';
import { partText, PREDICTORS, referenceCells, REFERENCES } from './published-results';

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
      const fill = colourOf(cellsOf(rows, panelOf(choice.axes)))(final.bits_per_byte);
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
  caption({ rows: cells, results: [results] }) {
    const predictions = predictionsOf(results);
    const sentences = panelsOf(cells).map((title) => {
      const own = cellsOf(cells, title);
      const [low, high] = lossRange(own);
      const [from, to] = [low, high].map((loss) => loss.toFixed(3));
      const name = `${title[0].toUpperCase()}${title.slice(1)}`;
      if (from === to)
        return (
          `${name}: all ${own.length} cells end at ${to} bits per byte; what could be predicted is ` +
          'less than 0.001.'
        );
      const ends = `${name}: ${own.length} cells end between ${from} and ${to} bits per byte`;
      if (high - low < LEAST_RANGE) return `${ends}, a range too small to be predicted.`;
      const rows = predictions.filter(({ panel }) => panel === title);
      const size = (row: Prediction) => Math.abs(row.rank_correlation ?? 0);
      const scale = rows.find(({ predictor }) => predictor === 'init_scale');
      const best = rows.reduce((a, b) => (size(b) > size(a) ? b : a));
      const isotropic = rows.find(({ predictor }) => predictor === 'localization');
      return (
        `${ends}; ${PREDICTOR_NAMES[best.predictor]} at initialization has the largest rank ` +
        `correlation with the final loss, ${short(best.rank_correlation)}, the scale s alone ` +
        `${short(scale?.rank_correlation)}, the isotropic localization ${short(isotropic?.rank_correlation)}.`
      );
    });
    const references = referencesText(results.references, 'bits per byte');
    return `${sentences.join(' ')} ${references}${partText(results)}`;
  },
  table: ({ rows, results: [found] }) => ({
    columns: ['layer_norm', 'depth', 'alpha', 'init_scale', 'bits_per_byte', ...PREDICTORS, ...REFERENCES],
    rows: rows.map(({ axes, alpha, scale, loss, ...measures }) => [
      axes.layer_norm,
      Number(axes.depth),
      alpha,
      scale,
      loss,
      ...PREDICTORS.map((name) => measures[name]),
      ...referenceCells(found),
    ]),
  }),
};
