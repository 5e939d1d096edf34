// The sentences above the table of heads, from heads with known numbers.
import { expect, test } from 'vitest';
import { diagnosisOf } from '../../web/chapters/model/table/words.ts';
import type { Found } from '../../web/chapters/model/table/columns.ts';
import type { PlacedHead } from '../../web/heads/registry.ts';

/** A head of width 100 with ||W||_F = 10: its mean is near zero up to a trace of 2. */
const head = (at: number, own: Partial<PlacedHead>) =>
  ({ stack: '', layer: at, head: 0, width: 100, eta_f: 100, xi: 0, signal: 'uniform-alive', ...own }) as PlacedHead;

const found = (entropy: number[] | null) =>
  ({
    measurements: {
      predictions: entropy && {
        layer: Float64Array.from(entropy, (_, i) => i),
        head: new Float64Array(entropy.length),
        entropy: Float64Array.from(entropy.flatMap((value) => Array<number>(11).fill(value))),
      },
    },
    state: { level: 4, qk_clip: 100, length: 24 },
  }) as unknown as Found;

test('localized heads, means near zero and the largest bound are counted and named', () => {
  const heads = [
    head(0, { xi: 2, logit_bound: 10 }),
    head(1, { xi: -1.9, signal: 'localized', logit_bound: 30 }),
    head(2, { xi: -2.1, signal: 'localized', logit_bound: null }),
  ];
  const said = diagnosisOf(heads, found(null));
  expect(said).toContain('At T = 24 the theory predicts from the weights alone that 2 of 3 heads localize.');
  expect(said).toContain('2 heads have a mean near zero');
  expect(said).toContain('; of these, 1 localizes by the theory.');
  expect(said).toContain('The logits of layer 1, head 0 have the largest bound, 30.');
  expect(said).not.toContain('level');
});

test('predicted entropies are counted at the chosen level, and what is not known is left out', () => {
  const heads = [head(0, { xi: 5 }), head(1, { xi: 5 })];
  const said = diagnosisOf(heads, found([0.49, 0.5]));
  expect(said).toContain('0 heads have a mean near zero (|tr W| ≤ 2‖W‖/√d, as in a random matrix).');
  expect(said).toMatch(/Level 4 of figure \d+ predicts an entropy below 0.5 for 1 of 2 heads\.$/);
  expect(diagnosisOf([], found(null))).toBe('');
});
