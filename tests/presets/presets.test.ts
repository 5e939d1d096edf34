// A sentence and its numbers must not part.
import { expect, test } from 'vitest';
import { computed, holds, pageSource, presetsOf, written } from './presets.ts';

const presets = presetsOf(pageSource());

test('there are presets, and every number in them has its stack', () => {
  expect(presets.length).toBeGreaterThan(6);
  for (const { stacks, quotes } of presets) {
    const names = stacks.map(({ name }) => name);
    for (const quote of quotes) expect(names).toContain(quote.stack);
  }
});

test.each(presets.map((preset) => [preset.claim, preset] as const))('%s', (_, preset) => {
  const numbers = computed(preset);
  expect(holds(preset, numbers)).toBe(true);
  for (const { stack, measure, layer, text } of preset.quotes) {
    const value = numbers[stack]![measure][layer]!;
    // Residuals that are nothing but rounding differ between machines.
    if (Math.abs(value) < 1e-9) expect(text).toMatch(/10⁻/);
    else expect(`${stack} ${measure} ${text}`).toBe(`${stack} ${measure} ${written(value)}`);
  }
});

test('a claim that is false is found false', () => {
  const [first] = presets;
  expect(holds({ ...first!, claim: `!(${first!.claim})` }, computed(first!))).toBe(false);
});
