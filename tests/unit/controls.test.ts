import { describe, expect, test } from 'vitest';
import { placeOf, stepped, valueAt } from '../../web/controls/slider';
import { VIEWS } from '../../web/chapters/views';
import { helpFrom } from '../../web/state/meaning';
import type { Control, Slider } from '../../web/state/control';

const sliders = Object.entries(VIEWS).flatMap(([view, { controls }]) =>
  Object.entries<Control>(controls).flatMap(([name, control]) =>
    control.kind === 'number' && control.slider
      ? [[`${name} in ${view}`, control.slider, control.limits] as const]
      : [],
  ),
);

test('there are sliders to test', () => {
  expect(sliders.length).toBeGreaterThan(0);
});

/** The most that rounding moves a value of this size: to integers, 3 digits or 3 decimals. */
function rounding({ scale, integer }: Slider, value: number): number {
  if (integer) return 0.5;
  return scale === 'log' ? 0.005 * value : 0.0005;
}

describe.each(sliders)('the slider of %s', (_, slider, limits) => {
  test('reaches only what the library allows', () => {
    for (const place of [0, 0.123, 0.5, 0.987, 1]) {
      const value = valueAt(slider, place);
      expect(value).toBeGreaterThanOrEqual(limits.minimum);
      expect(value).toBeLessThanOrEqual(limits.maximum);
      if (limits.integer) expect(Number.isInteger(value)).toBe(true);
    }
  });

  test('comes back to the place of its value, but for rounding', () => {
    for (const place of [0, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 1]) {
      const value = valueAt(slider, place);
      const most = rounding(slider, value);
      expect(placeOf(slider, value - most)).toBeLessThanOrEqual(place + 1e-9);
      expect(placeOf(slider, value + most)).toBeGreaterThanOrEqual(place - 1e-9);
    }
    expect(valueAt(slider, 0)).toBeCloseTo(slider.from, 9);
    expect(valueAt(slider, 1)).toBeCloseTo(slider.to, 9);
  });

  test('moves with every arrow key until its end', () => {
    let value = valueAt(slider, 0.3);
    expect(value).toBeLessThan(slider.to);
    for (let i = 0; i < 100 && value < slider.to; i++) {
      const next = stepped(slider, value, 1);
      expect(next).toBeGreaterThan(value);
      value = next;
    }
    expect(value).toBe(slider.to);
    expect(stepped(slider, slider.to, 1)).toBe(slider.to);
    expect(stepped(slider, slider.from, -1)).toBe(slider.from);
  });
});

test('a value beyond the slider sits at its end', () => {
  const slider: Slider = { scale: 'log', from: 1, to: 100 };
  expect(placeOf(slider, 0)).toBe(0);
  expect(placeOf(slider, 1e9)).toBe(1);
});

test('a key moves a value beyond the slider from its end', () => {
  const slider: Slider = { scale: 'linear', from: 0, to: 2, integer: true };
  expect(stepped(slider, 12, -1)).toBe(1);
});

test('a slider without travel stays where it is', () => {
  const slider: Slider = { scale: 'linear', from: 0, to: 0, integer: true };
  expect(placeOf(slider, 12)).toBe(0);
  expect(valueAt(slider, 1)).toBe(0);
});

test.each([
  ['correlation alpha of W_Q with W_K', 'Correlation α of <i>W</i><sub>Q</sub> with <i>W</i><sub>K</sub>'],
  ['mimetic; correlated with alpha and init_scale', 'Mimetic; correlated with α and init scale'],
  ['rarer words become <unk>', 'Rarer words become &lt;unk>'],
  ['tr((W Sigma)^2) + 1e-6', 'tr((W Σ)<sup>2</sup>) + 10<sup>−6</sup>'],
  ['head width d_h, sqrt(d) times', 'Head width <i>d</i><sub>h</sub>, √(d) times'],
])('the meaning %s is the help %s', (meaning, help) => {
  expect(helpFrom(meaning)).toBe(help);
});
