// What the figure of the experiment on initializations shows.
import { capitalized, short } from '../../../charts/format';
import { html } from '../../../ui/dom';
import { analysed, labelsOf, PREDICTORS, type Predictor, type PublishedResults } from '../experiments/results';

/** The scale of the initialization, a measure of the untrained model, or what theory predicts of it. */
type Predicting = 'init_scale' | Predictor | 'freezing';

/** What the page calls them. */
export const PREDICTOR_NAMES: Record<Predicting, string> = {
  init_scale: 'scale s alone',
  entropy: 'attention entropy',
  last_residual: 'relative residual of the last layer',
  self_mass: 'attention of tokens to themselves',
  localization: 'isotropic localization index',
  logit_variance: 'variance of the logits',
  mean: 'mean of the eigenspectrum',
  variance: 'variance of the eigenspectrum',
  variance_frobenius: 'Frobenius variance of the eigenspectrum',
  sensitivity: 'sensitivity of attention',
  freezing: 'predicted variance of the logits',
};

/** A cell of the map of initializations: means over its runs. */
export interface MapCell extends Record<Predictor, number> {
  /** "post-norm, depth 2". */
  panel: string;
  axes: Record<string, string>;
  alpha: number;
  scale: number;
  runs: number;
  /** Final loss in bits per byte. */
  loss: number;
}

/** What the panel of a cell is called. */
export function panelName(axes: Record<string, string>): string {
  return `${axes.layer_norm}-norm, depth ${axes.depth}`;
}

const meanOf = (values: readonly (number | null | undefined)[]) =>
  values.reduce<number>((sum, value) => sum + (value ?? NaN), 0) / values.length;

/** The cells that have a run that did not fail. */
export function mapCellsOf(results: PublishedResults): MapCell[] {
  const found = new Map<string, PublishedResults['cells']>();
  for (const cell of results.cells) {
    if (cell.failure) continue;
    const key = JSON.stringify(cell.axes);
    found.set(key, [...(found.get(key) ?? []), cell]);
  }
  return [...found.values()].map((runs) => {
    const [{ axes }] = runs;
    const initial = PREDICTORS.map((name) => [name, meanOf(runs.map((it) => it.initial[name]))]);
    return {
      panel: panelName(axes),
      axes,
      alpha: Number(axes.alpha),
      scale: Number(axes.init_scale),
      runs: runs.length,
      loss: meanOf(runs.map(({ final }) => final.bits_per_byte)),
      ...(Object.fromEntries(initial) as Record<Predictor, number>),
    };
  });
}

/** The panels of the map that have cells, in alphabetical order. */
export function panelsOf(cells: readonly MapCell[]): string[] {
  return [...new Set(cells.map(({ panel }) => panel))].sort();
}

/** Bits per byte that the final losses of a panel must span: less is no difference to predict. */
export const LEAST_RANGE = 0.1;

/** The lowest and the highest final loss. */
export function lossRange(cells: readonly MapCell[]): [number, number] {
  const losses = cells.map(({ loss }) => loss);
  return [Math.min(...losses), Math.max(...losses)];
}

/** Values of an axis in rising order. */
export function valuesOf(results: PublishedResults, axis: 'alpha' | 'init_scale'): number[] {
  return labelsOf(results, axis)
    .map(Number)
    .sort((a, b) => a - b);
}

/** The value with half of the values on each side. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** How well a measure of the untrained model, or its prediction, tells the final loss, over the cells of one panel. */
export interface Prediction {
  panel: string;
  predictor: Predicting;
  cells: number;
  rank_correlation: number | null;
  /** Mean over the scales of the rank correlation at equal scale; undefined of what is not a measure. */
  within?: number | null;
  area_under_curve: number | null;
}

export function predictionsOf(results: PublishedResults): Prediction[] {
  type Row = Omit<Prediction, 'panel'> & { axes: Record<string, string> };
  const freezing = analysed<Row>(results, 'freezing').map((row) => ({ ...row, predictor: 'freezing' as const }));
  return [...analysed<Row>(results, 'predictors'), ...freezing].map(({ axes, ...row }) => ({
    panel: panelName(axes),
    predictor: row.predictor,
    cells: row.cells,
    rank_correlation: row.rank_correlation,
    within: row.within,
    area_under_curve: row.area_under_curve,
  }));
}

/** The scale from which on the logits of an untrained model freeze (web/results/experiments/analyses.py). */
export interface FreezingPoint {
  alpha: number;
  init_scale: number;
}

/** Those of each panel, by rising alpha. */
export function freezingOf(results: PublishedResults): Map<string, FreezingPoint[]> {
  type Row = { axes: Record<string, string>; scales: FreezingPoint[] };
  const rows = analysed<Row>(results, 'freezing');
  return new Map(rows.map(({ axes, scales }) => [panelName(axes), scales]));
}

/** The place of a value among rising ones, between two of them by its logarithm: 0 is the first. */
export function placeAmong(values: readonly number[], value: number): number {
  const above = values.findIndex((it) => it >= value);
  const at = Math.max(1, above < 0 ? values.length - 1 : above);
  const [low, high] = [values[at - 1], values[at]];
  return at - 1 + Math.log(value / low) / Math.log(high / low);
}

const shown = (value: number | null) => (value === null ? 'none' : value.toFixed(2).replace('-', '−'));

/** How far apart the final losses of a panel are where that is too little to be predicted; else ''. */
export function flatText(panel: string, cells: readonly MapCell[]): string {
  const [low, high] = lossRange(cells.filter((cell) => cell.panel === panel));
  if (high - low >= LEAST_RANGE) return '';
  return (
    `${capitalized(panel)}: the final losses of all cells differ by at most ` +
    `${short(high - low)} bits per byte. The correlations rank differences that are too small to matter.`
  );
}

/**
 * Fills a table: how well each measure of the untrained model predicts the final loss, panel by panel, and
 * below it in which panels there is nothing to predict.
 */
export function fillPredictions(
  table: HTMLElement,
  predictions: readonly Prediction[],
  cells: readonly MapCell[],
): void {
  const panels = [...new Set(predictions.map(({ panel }) => panel))].sort();
  const titles = ['At initialization', ...panels].map((textContent) => html('th', { scope: 'col', textContent }));
  const notes = new Map(panels.map((panel) => [panel, flatText(panel, cells)]));
  const names = Object.entries(PREDICTOR_NAMES) as [Predicting, string][];
  const rows = names.map(([name, textContent]) => {
    const cells = panels.map((panel) => {
      const found = predictions.find((it) => it.panel === panel && it.predictor === name);
      const numbers = found ? [found.rank_correlation, found.area_under_curve] : [];
      if (found?.within !== undefined) numbers.splice(1, 0, found.within);
      const textContent = numbers.map(shown).join('; ');
      return html('td', { textContent, className: notes.get(panel) ? 'flat' : '' });
    });
    return html('tr', {}, html('th', { scope: 'row', textContent }), ...cells);
  });
  table.append(html('thead', {}, html('tr', {}, ...titles)), html('tbody', {}, ...rows));
  const said = [...notes.values()].filter(Boolean);
  if (said.length === 0) return;
  const foot = html('td', { colSpan: 1 + panels.length, textContent: said.join(' ') });
  table.append(html('tfoot', {}, html('tr', {}, foot)));
}
