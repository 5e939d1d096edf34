// The maps with which the chapter and the presets of the figure open; presets of one map share it.
import type { BuildTools } from '../../../build-tools.mts';
import { CELLS, cellsInput, keyOf, linesInput, planeOf, stacksIn } from '../cells/cells';
import { collapsePresets } from '../presets';

const everyCell = Array.from({ length: CELLS * CELLS }, (_, at) => at);

/** Columns as rows. */
const turned = ([first, ...rest]: number[][]) => first.map((value, i) => [value, ...rest.map((row) => row[i])]);

export async function build(tools: BuildTools): Promise<void> {
  const presets = collapsePresets.filter(({ figure }) => figure === 'collapse-map');
  const maps = new Map(
    [{}, ...presets.map(({ state }) => state)].map((changes) => {
      const state = { ...tools.defaults('collapse'), ...changes };
      const plane = planeOf(state);
      return [keyOf(state, plane), { changes, state, plane }];
    }),
  );
  const computed = [...maps.values()].map(async ({ changes, state, plane }) => {
    const { mean: _, variance: __, ...question } = cellsInput(state, plane, everyCell, stacksIn(state));
    const [cells, { value }] = await Promise.all([
      tools.ask('collapse', question),
      tools.ask('lines', linesInput(state, plane)),
    ]);
    const list = (name: string, digits: number): number[] => tools.rounded(cells[name].flat(), digits);
    return {
      state: changes,
      residual: list('residual', 4),
      residual_error: list('residual_error', 2),
      entropy: list('entropy', 4),
      entropy_error: list('entropy_error', 2),
      samples: stacksIn(state),
      localization: tools.rounded(turned(value).flat(), 4), // one row a variance
    };
  });
  tools.write('collapse-first.json', await Promise.all(computed));
}
