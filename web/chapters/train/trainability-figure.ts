import { short } from '../../charts/format';
import { legend } from '../../charts/legend';
import { fieldRamp, stripOf } from '../../charts/palette';
import type { Table } from '../../charts/table';
import { child } from '../../ui/dom';
import { FINAL_LOSS } from './cell-picker';
import { CellsFigure } from './cells-figure';
import {
  freezingOf,
  mapCellsOf,
  panelsOf,
  predictionsOf,
  PREDICTOR_NAMES,
  valuesOf,
  type MapCell,
  type Prediction,
} from './map-cells';
import { gridPanel, lineEntries, spectrumPanel, type MapLook } from './map-panels';
import { fillPredictions } from './predictions-table';
import { partText, PREDICTORS, type PublishedResults } from './published-results';
import type { Trials } from './trials';

const HEIGHT = 250;
/** Bits per byte that the colours span at least: less is no difference to look at. */
const LEAST_RANGE = 0.1;

/** The lowest and the highest final loss. */
function rangeOf(cells: readonly MapCell[]): [number, number] {
  const losses = cells.map(({ loss }) => loss);
  return [Math.min(...losses), Math.max(...losses)];
}

/** Final loss over the energy-matched family of initializations. */
export class TrainabilityFigure extends CellsFigure {
  private cells: MapCell[] = [];

  constructor(trials: Trials) {
    const names = {
      ...{ layer_norm: { name: 'LayerNorm' }, depth: { name: 'Depth' } },
      ...{ init_scale: { name: 'Scale s' }, alpha: { name: 'Alpha' } },
    };
    const first = { init_scale: '1.3195', alpha: '0.4667' };
    super('trainability', 'trainability-map', { names, first, outcome: FINAL_LOSS }, trials);
  }

  protected read(results: PublishedResults): void {
    this.cells = mapCellsOf(results);
    fillPredictions(child(document, '[data-predictions]'), predictionsOf(results));
  }

  protected draw(width: number): void {
    const { found } = this;
    const ramp = fieldRamp();
    const range = 'final loss, lowest to highest';
    const strip = { text: range, kind: 'strip' as const, colours: stripOf(ramp) };
    const names = legend([strip, ...lineEntries], 0, width);
    const columns = width >= 1100 ? 4 : width >= 560 ? 2 : 1;
    const common = {
      size: { width: width / columns, height: HEIGHT },
      ...{ alphas: valuesOf(found, 'alpha'), scales: valuesOf(found, 'init_scale') },
      chosen: this.picker.choice.axes,
      trained: this.trained().map(({ choice, final }) => ({
        ...{ axes: choice.axes, loss: final.bits_per_byte },
      })),
    };
    const freezing = freezingOf(found);
    const panels = panelsOf(this.cells).flatMap((title) => {
      const own = this.cells.filter(({ panel }) => panel === title);
      const [low, high] = rangeOf(own);
      const span = Math.max(LEAST_RANGE, high - low);
      const colour = (loss: number) => `rgb(${ramp((loss - low) / span).join(' ')})`;
      const look: MapLook = { ...common, colour, freezing: freezing.get(title) ?? [] };
      return [
        gridPanel(`${title}: s (loss ${low.toFixed(2)} to ${high.toFixed(2)})`, own, look),
        spectrumPanel('variance of the eigenspectrum', own, look),
      ];
    });
    const size = { columns, width, height: HEIGHT };
    this.put(panels, size, names, 'Map of trainability', this.caption(found));
  }

  protected numbers(): Table {
    return {
      columns: ['layer_norm', 'depth', 'alpha', 'init_scale', 'bits_per_byte', ...PREDICTORS],
      rows: this.cells.map(({ axes, alpha, scale, loss, ...measures }) => [
        ...[axes.layer_norm, Number(axes.depth), alpha, scale, loss],
        ...PREDICTORS.map((name) => measures[name]),
      ]),
    };
  }

  private caption(results: PublishedResults): string {
    const predictions = predictionsOf(results);
    const sentences = panelsOf(this.cells).map((title) => {
      const own = this.cells.filter(({ panel }) => panel === title);
      const [low, high] = rangeOf(own);
      const ends =
        `${title[0].toUpperCase()}${title.slice(1)}: ${own.length} cells end between ${low.toFixed(3)} and ` +
        `${high.toFixed(3)} bits per byte`;
      if (high - low < LEAST_RANGE) return `${ends}, so that nothing is to be predicted.`;
      const rows = predictions.filter(({ panel }) => panel === title);
      const size = (row: Prediction) => Math.abs(row.rank_correlation ?? 0);
      const best = rows.reduce((a, b) => (size(b) > size(a) ? b : a));
      const isotropic = rows.find(({ predictor }) => predictor === 'localization');
      return (
        `${ends}; ${PREDICTOR_NAMES[best.predictor]} at initialization has the largest rank ` +
        `correlation with the final loss, ${short(best.rank_correlation)}, the isotropic ` +
        `localization ${short(isotropic?.rank_correlation)}.`
      );
    });
    return `${sentences.join(' ')}${partText(results)}`;
  }
}
