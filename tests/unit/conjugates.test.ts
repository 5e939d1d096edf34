import { expect, test } from 'vitest';
import { withConjugates, withoutConjugates } from '../../web/heads/conjugates';

test('eigenvalues come back with their conjugates', () => {
  const all = [
    [1, 2],
    [1, -2],
    [3, 0],
    [-4, 0.5],
    [-4, -0.5],
  ] as const;
  const kept = withoutConjugates(all);
  expect(kept).toEqual([
    [1, 2],
    [3, 0],
    [-4, 0.5],
  ]);
  expect([...withConjugates(kept.flat())]).toEqual(all.flat());
});

test.each([
  { all: [[1, 2]] },
  {
    all: [
      [1, 2],
      [3, 0],
    ],
  },
] as const)('a missing conjugate is an error: $all', ({ all }) => {
  expect(() => withoutConjugates(all)).toThrow('the conjugate of 1 + 2i must follow it');
});
