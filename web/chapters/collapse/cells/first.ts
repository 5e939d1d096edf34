import { loadJson, type ShippedFile, once } from '../../../engine/shipped';
import type maps from '../../../generated/collapse-first.json';
import asset from '../../../generated/collapse-first.json?shipped';
import { type State, collapseView } from '../state';
import { CollapseCells, keyOf, planeOf, type Plane } from './cells';

export const mapsFile: ShippedFile = { ...asset, name: 'file of the collapse maps' };

/** Maps that the build has computed, by their questions: that of the chapter's own state and those of presets. */
export type FirstMaps = ReadonlyMap<string, (typeof maps)[number]>;

export function mapsByQuestion(all: typeof maps): FirstMaps {
  return new Map(
    all.map((map) => {
      const state = { ...collapseView.defaults, ...map.state } as State;
      return [keyOf(state, planeOf(state)), map];
    }),
  );
}

/** Throws as `loadJson`. */
export const firstMaps = once(() => loadJson<typeof maps>(mapsFile).then(mapsByQuestion));

/** The cells that a state asks for: those at hand or those of the build, if they are the ones. */
export function cellsFor(
  state: Readonly<State>,
  present: CollapseCells | null,
  held: boolean,
  maps: FirstMaps,
): CollapseCells {
  const plane = held && present ? present.plane : planeOf(state);
  return present?.key === keyOf(state, plane) ? present : known(state, plane, maps);
}

/** The cells of a question as far as the build has them. */
function known(state: Readonly<State>, plane: Plane, maps: FirstMaps): CollapseCells {
  const map = maps.get(keyOf(state, plane));
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
