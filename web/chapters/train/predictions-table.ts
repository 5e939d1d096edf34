import { html } from '../../ui/dom';
import { short } from '../../charts/format';
import { LEAST_RANGE, lossRange, PREDICTOR_NAMES, type MapCell, type Predicting, type Prediction } from './map-cells';

const shown = (value: number | null) => (value === null ? 'none' : value.toFixed(2).replace('-', '−'));

/** How far apart the final losses of a panel are where that is too little to be predicted; else ''. */
export function flatText(panel: string, cells: readonly MapCell[]): string {
  const [low, high] = lossRange(cells.filter((cell) => cell.panel === panel));
  if (high - low >= LEAST_RANGE) return '';
  return (
    `${panel[0].toUpperCase()}${panel.slice(1)}: the final losses of all cells differ by at most ` +
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
  const head = html('tr', {});
  const corner = html('th', { scope: 'col', textContent: 'At initialization' });
  head.append(corner, ...panels.map((textContent) => html('th', { scope: 'col', textContent })));
  const notes = new Map(panels.map((panel) => [panel, flatText(panel, cells)]));
  const names = Object.entries(PREDICTOR_NAMES) as [Predicting, string][];
  const rows = names.map(([name, textContent]) => {
    const row = html('tr', {});
    row.append(html('th', { scope: 'row', textContent }));
    for (const panel of panels) {
      const found = predictions.find((it) => it.panel === panel && it.predictor === name);
      const numbers = found ? [found.rank_correlation, found.area_under_curve] : [];
      if (found?.within !== undefined) numbers.splice(1, 0, found.within);
      const textContent = numbers.map(shown).join('; ');
      row.append(html('td', { textContent, className: notes.get(panel) ? 'flat' : '' }));
    }
    return row;
  });
  const [thead, tbody] = [html('thead', {}), html('tbody', {})];
  thead.append(head);
  tbody.append(...rows);
  table.append(thead, tbody);
  const said = [...notes.values()].filter(Boolean);
  if (said.length === 0) return;
  const [tfoot, row] = [html('tfoot', {}), html('tr', {})];
  row.append(html('td', { colSpan: 1 + panels.length, textContent: said.join(' ') }));
  tfoot.append(row);
  table.append(tfoot);
}
