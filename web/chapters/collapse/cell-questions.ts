// What the map over mean and variance asks of the engine; the build asks the same for the first picture.
import type { Input } from '../../engine/protocol';
import { gridSettingOf } from '../../state/setting';
import { CELLS, centres, WIDE, widened, type Plane } from './plane';
import { type State, stackOf } from './state';

/** More stacks than this change little, since all cells share their draws. */
const MOST_STACKS = 4;

/** How many stacks each cell has at rest. */
export function stacksIn({ stacks }: Readonly<State>): number {
  return Math.min(MOST_STACKS, stacks);
}

/** What the engine is asked for the localization index over a plane, one row a mean. */
export function linesInput(state: Readonly<State>, plane: Plane): Input<'lines'> {
  const setting = { ...gridSettingOf(state), measure: 'localization' as const };
  return { ...setting, ...centres(widened(plane), WIDE) };
}

/** What the engine is asked of some cells of a plane. */
export function cellsInput(
  state: Readonly<State>,
  plane: Plane,
  cells: readonly number[],
  stacks: number,
): Input<'collapse'> {
  const { means, variances } = centres(plane);
  return {
    ...stackOf(state),
    stacks,
    first_stack: 0,
    layers: 'last',
    means: cells.map((at) => means[at % CELLS]),
    variances: cells.map((at) => variances[Math.floor(at / CELLS)]),
  };
}
