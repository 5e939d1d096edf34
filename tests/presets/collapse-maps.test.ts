// The maps of collapses that the build computes: whole for every preset of the map, with the command line's numbers.
import { expect, test } from 'vitest';
import { cellsInput, stacksIn } from '../../web/chapters/collapse/cells/cells.ts';
import { cellsFor, mapsByQuestion } from '../../web/chapters/collapse/cells/first.ts';
import { CELLS } from '../../web/chapters/collapse/cells/cells.ts';
import { collapsePresets } from '../../web/chapters/collapse/presets.ts';
import { collapseView } from '../../web/chapters/collapse/state.ts';
import built from '../../web/generated/collapse-first.json';
import { json, optionsOf } from '../cli/eigenscope.ts';

const maps = mapsByQuestion(built);
const presets = collapsePresets.filter(({ figure }) => figure === 'collapse-map');

/** Cells in which the command line computes again, one in each part of the map. */
const TRIED = [25, 301, 550];

test.each([['the chapter', {}], ...presets.map(({ id, state }) => [id, state] as const)] as const)(
  'the map of %s is that of the command line',
  (_, own) => {
    const state = { ...collapseView.defaults, ...own };
    const { plane, cells, localization } = cellsFor(state, null, false, maps);
    expect(cells.filter((cell) => cell?.samples === stacksIn(state)).length).toBe(CELLS ** 2);
    expect(localization).not.toBeNull();
    const { mean, variance, ...input } = cellsInput(state, plane, TRIED, stacksIn(state));
    const found = json('collapse', optionsOf(input));
    TRIED.forEach((at, i) => {
      for (const measure of ['residual', 'entropy'] as const) {
        const [shown, computed] = [cells[at]![measure], found[measure][i][0]];
        expect(shown, `${measure} of cell ${at}`).toBeCloseTo(computed, 4);
      }
    });
  },
);

test('another stack has no map of the build', () => {
  const state = { ...collapseView.defaults, depth: collapseView.defaults.depth + 1 };
  expect(cellsFor(state, null, false, maps).isBegun()).toBe(false);
});
