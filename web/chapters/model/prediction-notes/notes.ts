import { short, withSubscripts } from '../../../charts/format';
import type { Agreement, PredictedMeasure } from '../../../engine/protocol';
import { placeOf } from '../../../heads/brush';
import { child, html, refill } from '../../../ui/dom';
import { draw } from '../../../ui/queue';
import type { Checkpoints } from '../opening/checkpoints';
import type { HeadMeasurements } from '../reading/measurements';
import { LAWS, LEVELS, intervalOf, isDone, missesOf, rotaryRow, sourceNames, summaryRow } from '../predictors/words';
import { predictedMeasures, type Store } from '../state';

/** Heads in the list of those that are predicted worst. */
const LISTED = 6;

/** The sources of the statistics side by side, and the heads that the chosen level predicts worst. */
export class PredictionNotes {
  private root = child(document, '[data-prediction-notes]');
  private grid = child<HTMLTableElement>(this.root, 'table');
  private list = child(this.root, '[data-misses]');

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
  ) {
    measurements.changed.subscribe(() => draw(this.build));
    checkpoints.changed.subscribe(() => draw(this.build));
    store.changed.subscribe(({ names }) => {
      if (names.has('level') || names.has('quantity')) draw(this.build);
    });
    this.build();
  }

  private build = (): void => {
    const { level, quantity } = this.store.state;
    const { predictions, sources } = this.measurements;
    const done = predictions !== null && isDone(predictions);
    this.root.hidden = !this.measurements.readsText;
    if (!done) return;
    const { name } = LEVELS[level];
    this.grid.caption!.textContent =
      `Level ${level}, ${name}: ${predictedMeasures[quantity].label}, by source of the ` + 'statistics';
    const rows = sourceNames.map((source) => rowOf(LAWS[source], quantity, sources.get(source)?.summary[level]));
    const rotary = rotaryRow(predictions, quantity);
    if (rotary) rows.push(rowOf('rotary base alone', quantity, rotary));
    const others = { ceiling: 'ceiling', transfer: 'null: another text', null: 'null: one constant' };
    for (const [row, label] of Object.entries(others)) rows.push(rowOf(label, quantity, summaryRow(predictions, row)));
    this.grid.tBodies[0].replaceChildren(...rows);
    const misses = missesOf(predictions, quantity, level, LISTED);
    refill(
      this.list,
      misses.map(({ layer, head, predicted, measured, reason }) => {
        const textContent = `Layer ${layer}, head ${head}`;
        const button = html('button', { type: 'button', className: 'small', textContent });
        button.addEventListener('click', () => this.choose(placeOf({ stack: '', layer, head })));
        const said = ` predicted ${short(predicted)}, measured ${short(measured)}. `;
        return html('li', {}, button, said, ...withSubscripts(reason));
      }),
    );
  };

  private choose(place: string): void {
    const found = this.checkpoints.model.heads.find((head) => placeOf(head) === place);
    if (found) this.store.set({ head: found.id });
  }
}

function rowOf(label: string, quantity: PredictedMeasure, agreement?: Agreement): HTMLTableRowElement {
  const title = html('th', { scope: 'row', textContent: label });
  if (!agreement) return html('tr', {}, title, html('td', { colSpan: 2, textContent: 'not computed' }));
  const cells = (['rank_correlation', 'mean_absolute_error'] as const).map((compared) =>
    html('td', { textContent: intervalOf(agreement, `${quantity}_${compared}`) }),
  );
  return html('tr', {}, title, ...cells);
}
