import first from '../../generated/collapse-first.json';
import { CollapseCells, keyOf } from './collapse-cells';
import { planeOf } from './plane';
import { type State, collapseView } from './state';

/** The cells of the chapter's own state, from the build; null for another state. */
export function firstCells(state: Readonly<State>): CollapseCells | null {
  const own = collapseView.defaults;
  if (keyOf(state, planeOf(state)) !== keyOf(own, planeOf(own))) return null;
  const { residual, residual_error, entropy, entropy_error, samples, localization } = first;
  const cells = residual.map((_, at) => ({
    residual: residual[at] ?? NaN,
    residual_error: residual_error[at] ?? NaN,
    entropy: entropy[at] ?? NaN,
    entropy_error: entropy_error[at] ?? NaN,
    samples,
    refused: '',
    overflow: 0,
  }));
  const known = new CollapseCells(state, planeOf(state), cells);
  known.localization = Float64Array.from(localization, (value) => value ?? NaN);
  return known;
}
