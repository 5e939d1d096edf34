import { short } from '../../charts/format';
import { legend } from '../../charts/legend';
import { fieldRamp, stripOf, type Ramp } from '../../charts/palette';
import { element } from '../../charts/picture';
import { chart, partOf } from '../../charts/plot';
import type { Table } from '../../charts/table';
import { areEqual } from '../../state/equal';
import { child } from '../../ui/dom';
import { FINAL_LOSS } from './cell-picker';
import { CellsFigure } from './cells-figure';
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
import { chosenMark, trainedMark, type arranged, type Panel } from './panel-parts';
import { fillPredictions } from './predictions-table';
import { partText, PREDICTORS, type PublishedResults } from './published-results';
import type { Trials } from './trials';

const HEIGHT = 250;
/** Colours of cells. */
const SHADES = 32;

const columnsOf = (width: number) => (width >= 1100 ? 4 : width >= 560 ? 2 : 1);

/** The panels that were drawn, and what for. */
interface Picture extends ReturnType<typeof arranged> {
  key: string;
  /** Of a loss in a panel, by the panel's title. */
  colours: ReadonlyMap<string, (loss: number) => string>;
  /** What lies over the panels. */
  rings: SVGSVGElement;
}

/** Final loss over the energy-matched family of initializations. */
export class TrainabilityFigure extends CellsFigure {
  private cells: MapCell[] = [];
  private picture: Picture | null = null;

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
    fillPredictions(child(document, '[data-predictions]'), predictionsOf(results), this.cells);
  }

  protected *draw(width: number) {
    const ramp = fieldRamp();
    const key = JSON.stringify([width, ramp(0)]);
    if (this.picture?.key !== key) {
      const { panels, colours } = yield* this.panels(width, ramp);
      const strip = { text: 'final loss, lowest to highest', kind: 'strip' as const };
      const names = legend([{ ...strip, colours: stripOf(ramp) }, ...lineEntries], 0, width);
      const size = { columns: columnsOf(width), width, height: HEIGHT };
      const caption = this.caption(this.found);
      const rings = element('svg');
      const made = this.put(panels, size, names, 'Map of trainability', caption);
      made.svg.append(rings);
      this.picture = { key, colours, rings, ...made };
    }
    this.mark(this.picture);
  }

  /** Two panels for each norm and depth, one a step; and the colour of a loss in them. */
  private *panels(width: number, ramp: Ramp) {
    const { found } = this;
    const common = {
      size: { width: width / columnsOf(width), height: HEIGHT },
      ...{ alphas: valuesOf(found, 'alpha'), scales: valuesOf(found, 'init_scale') },
    };
    const freezing = freezingOf(found);
    const shades = stripOf(ramp, SHADES);
    const panels: Panel[] = [];
    const colours = new Map<string, (loss: number) => string>();
    for (const title of panelsOf(this.cells)) {
      const own = this.cells.filter(({ panel }) => panel === title);
      const [low, high] = lossRange(own);
      const span = Math.max(LEAST_RANGE, high - low);
      const place = (loss: number) => Math.round(((loss - low) / span) * (SHADES - 1));
      const colour = (loss: number) => shades[Math.min(SHADES - 1, Math.max(0, place(loss)))];
      colours.set(title, colour);
      const look: MapLook = { ...common, colour, freezing: freezing.get(title) ?? [] };
      panels.push(gridPanel(`${title}: scale s`, own, look));
      yield;
      panels.push(spectrumPanel('variance of the eigenspectrum', own, look));
      yield;
    }
    return { panels, colours };
  }

  /** Draws the chosen cell and those trained in this tab over the panels, which stay. */
  private mark(picture: Picture): void {
    const { axes } = this.picker.choice;
    const { places, svg, colours } = picture;
    const trained = this.trained().flatMap(({ choice, final }) =>
      places
        .filter((place) => areEqual(place.choice, choice.axes))
        .map(({ x, y }) => ({ x, y, panel: panelOf(choice.axes), loss: final.bits_per_byte })),
    );
    const pixels = { type: 'identity', axis: null } as const;
    const { width, height } = svg.viewBox.baseVal;
    const drawn = chart({
      label: 'chosen and trained cells',
      ...{ width, height, margin: 0, x: pixels, y: pixels },
      marks: [
        chosenMark(
          places.filter((place) => areEqual(place.choice, axes)),
          { x: 'x', y: 'y', r: 9, strokeWidth: 2 },
        ),
        trainedMark(trained, {
          ...{ x: 'x', y: 'y', strokeWidth: 2 },
          fill: ({ panel, loss }: (typeof trained)[0]) => colours.get(panel)!(loss),
        }),
      ],
    });
    const rings = partOf(drawn.svg);
    picture.rings.replaceWith(rings);
    picture.rings = rings;
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
      const [low, high] = lossRange(own);
      const [from, to] = [low, high].map((loss) => loss.toFixed(3));
      const name = `${title[0].toUpperCase()}${title.slice(1)}`;
      if (from === to)
        return `${name}: all ${own.length} cells end at ${to} bits per byte; what could be predicted is less than 0.001.`;
      const ends = `${name}: ${own.length} cells end between ${from} and ${to} bits per byte`;
      if (high - low < LEAST_RANGE) return `${ends}, a range too small to be predicted.`;
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
