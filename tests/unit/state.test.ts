import { describe, expect, test } from 'vitest';
import { stackOf, collapseView, variancesOf } from '../../web/chapters/collapse/state';
import { localizeView } from '../../web/chapters/localize/state';
import { trainView } from '../../web/chapters/train/state';
import { VIEWS, viewNames } from '../../web/chapters/views';
import { inPageWords } from '../../web/controls/help';
import { parse, sliderOf, type Control, type Values } from '../../web/state/control';
import { described, quoted } from '../../web/state/described';
import { readLink, writeLink } from '../../web/state/link';
import { meansOf, settingOf, widthOf } from '../../web/state/setting';
import type { View } from '../../web/state/view';

/** Another value than a control begins with. */
function another(control: Control, begins: string | number): number | string {
  if (control.kind === 'choice') return Object.keys(control.choices).find((it) => it !== begins)!;
  if (control.kind === 'text')
    return ['blk.{n}.q & more: 1,2', 'AAAA.a\nb'].find((it) => control.allows?.(it) ?? true)!;
  if (control.kind === 'several') return Object.keys(control.choices).slice(0, control.most).join();
  if (control.kind === 'list') return [control.limits.minimum, control.limits.maximum].join('; ');
  const { integer, minimum, maximum } = control.limits;
  const middles = [minimum + maximum, maximum - minimum, 2 * maximum].map((sum) => sum / 2);
  return middles.map((it) => (integer ? Math.round(it) : it)).find((it) => it !== begins)!;
}

const present = (view: string) => (VIEWS as Record<string, View>)[view]!.defaults;

describe('the link', () => {
  test('of an earlier page names controls that are no more: their values have a place in the present state', () => {
    const read = (values: string) => readLink(`#localize?${values}`, VIEWS, present);
    const { state, unknown } = read('plot=heads&level=3&mean=0.5');
    expect(unknown).toEqual([]);
    expect(state).toEqual({ ...localizeView.defaults, mean: 0.5, detail: 'heads', dots: 'measured' });
    expect(read('plot=variance').state).toEqual(localizeView.defaults);
    expect(read('levels=3').unknown).toEqual(['levels']);
  });

  test('of a view as it begins is its name', () => {
    const links = viewNames.map((name) => writeLink(name, VIEWS[name], VIEWS[name].defaults));
    expect(links).toEqual(viewNames.map((name) => `#${name}`));
  });

  test.each(viewNames)('to %s holds every value: what is written is read', (name) => {
    const view: View = VIEWS[name];
    const entries = Object.entries(view.controls).map(
      ([it, control]) => [it, another(control, view.defaults[it]!)] as const,
    );
    for (const [it, value] of entries) expect(value, it).not.toBe(view.defaults[it]);
    const state: Values = Object.fromEntries(entries);
    const hash = writeLink(name, view, state, 'cosines');
    expect(hash).toMatch(new RegExp(`^#${name}[?]`));
    expect(readLink(hash, VIEWS, present)).toEqual({
      view: name,
      figure: 'cosines',
      state,
      isOld: false,
      refused: new Map(),
      unknown: [],
      repeated: [],
    });
  });

  test('of a page without views is old, and its values count for nothing', () => {
    expect(readLink('#m=0.5&D=24', VIEWS, present)).toMatchObject({
      view: 'localize',
      isOld: true,
      state: localizeView.defaults,
      unknown: [],
    });
  });

  test('with a refused text keeps the present value and remembers the text', () => {
    const current = () => ({ ...localizeView.defaults, width: 99 });
    const hash = '#localize?width=-3&mean=0.5&ensemble=nothing';
    const { state, refused } = readLink(hash, VIEWS, current);
    expect(state).toMatchObject({ width: 99, mean: 0.5 });
    expect(Object.fromEntries(refused)).toEqual({ width: '-3', ensemble: 'nothing' });
  });

  test('tells what it does not know and what it says twice', () => {
    const link = readLink('#collapse?depth=3&runs=none&nonsense=1&depth=4', VIEWS, present);
    expect(link.state.depth).toBe(3);
    expect(link.unknown).toEqual(['runs', 'nonsense']);
    expect(link.repeated).toEqual(['depth']);
  });
});

describe('a text for a number', () => {
  test.each([
    ['width', '2', 2],
    ['width', '1', undefined],
    ['width', '2.5', undefined],
    ['width', '', undefined],
    ['width', '0x10', undefined],
    ['width', '1e2', 100],
    ['temperature', '0', undefined],
    ['temperature', '.5', 0.5],
    ['correlation', '0', 0],
    ['correlation', '1', undefined],
    ['mean', '-1e-3', -0.001],
    ['mean', 'NaN', undefined],
    ['mean', 'Infinity', undefined],
    ['mean', '1,5', undefined],
    ['tokens', 'ar1', 'ar1'],
    ['tokens', 'toString', undefined],
    ['eigenvalues', '3 1;-2,0', '3 1;-2,0'],
    ['eigenvalues', '', undefined],
    ['eigenvalues', '5', undefined],
    ['eigenvalues', '1, x', undefined],
    ['eigenvalues', '1, 1e7', undefined],
  ] as const)('%s %j', (name, text, value) => {
    expect(parse(localizeView.controls[name], text)).toBe(value);
  });
});

describe('the slider', () => {
  test('of the layer ends at the depth', () => {
    const { controls, defaults } = collapseView;
    expect(sliderOf(controls.layer, { ...defaults, depth: 5 })).toMatchObject({ from: 0, to: 5 });
    expect(sliderOf(controls.depth, defaults)).toEqual(controls.depth.slider);
    expect(sliderOf(controls.seed, defaults)).toBeNull();
  });
});

describe('the setting', () => {
  test('has eigenvalues only for the list, whose length is the width', () => {
    expect(settingOf(localizeView.defaults).eigenvalues).toEqual([]);
    const list = { ...localizeView.defaults, ensemble: 'list' as const, eigenvalues: '3 1;-2,0' };
    expect(settingOf(list).eigenvalues).toEqual([3, 1, -2, 0]);
    expect(widthOf(list)).toBe(4);
    expect(widthOf(localizeView.defaults)).toBe(localizeView.defaults.width);
  });

  test('compares the mean with a quarter and twice of it, and zero with both signs', () => {
    expect(meansOf({ ...localizeView.defaults, mean: 0.4 })).toEqual([0.4, 0.1, 0.8]);
    expect(meansOf({ ...localizeView.defaults, mean: 0 })).toEqual([0, 0.25, -0.25]);
  });

  test('compares only means that the library allows', () => {
    expect(meansOf({ ...localizeView.defaults, mean: 6e5 })).toEqual([6e5, 1.5e5, 1e6]);
    expect(meansOf({ ...localizeView.defaults, mean: 1e6 })).toEqual([1e6, 2.5e5]);
  });

  test('compares the variance with a hundredth of it and a hundred times it', () => {
    expect(variancesOf({ ...collapseView.defaults, variance: 0.3 })).toEqual([0.3, 0.003, 30]);
    expect(variancesOf({ ...collapseView.defaults, variance: 0 })).toEqual([0, 0.001, 10]);
    expect(variancesOf({ ...collapseView.defaults, variance: 1e12 })).toEqual([1e12, 1e10]);
  });
});

describe('the stack', () => {
  test('is the setting with the mask and the block, and nothing of what is only looked at', () => {
    const begins = collapseView.defaults;
    const state = { ...begins, ensemble: 'list' as const, eigenvalues: '1 2', depth: 3 };
    const stack = stackOf(state);
    expect(stack).toMatchObject({ ...settingOf(state), depth: 3, mask: 'full', values: 'orthogonal' });
    for (const name of ['layer', 'collapse_threshold', 'rank', 'rows']) expect(stack).not.toHaveProperty(name);
  });
});

test('a message quotes a text of any length in one line that can be read', () => {
  expect(quoted('1e9')).toBe('1e9');
  expect(quoted('a\0b\nc\u202e')).toBe('a\uFFFDb\uFFFDc\uFFFD');
  expect(quoted('x'.repeat(100_000))).toBe(`${'x'.repeat(40)}…`);
});

test('a text of 100 kB is refused', () => {
  expect(parse(localizeView.controls.mean, `${'1'.repeat(100_000)}x`)).toBeUndefined();
});

test.each(['1e999', '-1e999', '1e-999', '2.5e+20', `${'9'.repeat(30)}e99999…`])(
  'the refusal of %s quotes it as it was typed, and gives the range in the words of the page',
  (text) => {
    const message = `temperature must be a number from 1e-06 to 1e+12: found ${text}`;
    const words = `Temperature must be a number from 10⁻⁶ to 10¹²: found ${text}`;
    expect(inPageWords('Temperature', message)).toBe(words);
  },
);

test('settings are told by labels and names of choices, without what is empty or of no use', () => {
  const { tokens, correlation, brush, head } = localizeView.defaults;
  const settings = { mean: 0.25, variance: 0.5, tokens, correlation, brush, head };
  expect(described(localizeView, settings)).toBe('Mean m: 0.25; Variance v: 0.5; Tokens: random walk');
  expect(described(localizeView, { tokens: 'ar1', correlation })).toBe('Tokens: stationary AR(1); Correlation a: 0.9');
  const run = { runs: 'none,locater', beta1: 0.9, experiment: 'regularizers' };
  expect(described(trainView, run)).toBe('Runs: baseline and LocAteR; AdamW β_1: 0.9; Experiment: regularizers');
});
