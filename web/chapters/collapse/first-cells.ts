import maps from '../../generated/collapse-first.json';
import { CollapseCells, keyOf } from './collapse-cells';
import { planeOf, type Plane } from './plane';
import { type State, collapseView } from './state';

/** Maps that the build has computed, by their questions: that of the chapter's own state and those of presets. */
const MAPS = new Map(
  maps.map((map) => {
    const state = { ...collapseView.defaults, ...map.state } as State;
    return [keyOf(state, planeOf(state)), map];
  }),
);

/** The cells that a state asks for: those at hand or those of the build, if they are the ones. */
export function cellsFor(state: Readonly<State>, present: CollapseCells | null, held: boolean): CollapseCells {
  const plane = held && present ? present.plane : planeOf(state);
  return present?.key === keyOf(state, plane) ? present : known(state, plane);
}

/** The cells of a question as far as the build has them. */
function known(state: Readonly<State>, plane: Plane): CollapseCells {
  const map = MAPS.get(keyOf(state, plane));
  if (!map) return new CollapseCells(state, plane);
  const { residual, residual_error, entropy, entropy_error, samples, localization } = map;
  const cells = residual.map((_, at) => ({
    residual: residual[at] ?? NaN,
    residual_error: residual_error[at] ?? NaN,
    entropy: entropy[at] ?? NaN,
    entropy_error: entropy_error[at] ?? NaN,
    samples,
    refused: '',
    overflow: 0,
  }));
  const found = new CollapseCells(state, plane, cells);
  found.localization = Float64Array.from(localization, (value) => value ?? NaN);
  return found;
}
