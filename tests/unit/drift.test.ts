import { expect, test } from 'vitest';
import { driftOf } from '../../web/chapters/model/compare/drift';

test('a drift is a change in units of the spread over the heads', () => {
  const { heads, rms } = driftOf([1, 3, NaN, 5, 7], [1.5, 3, 4, NaN, 6]);
  const spread = Math.sqrt(28 / 3); // of 1, 3 and 7
  const expected = [0.5, 0, NaN, NaN, -1].map((it) => (Number.isNaN(it) ? NaN : expect.closeTo(it, 12)));
  expect(heads.map((it) => it * spread)).toEqual(expected);
  expect(rms).toBeCloseTo(Math.sqrt(1.25 / 3) / spread, 12);
  expect(driftOf([2, 2], [3, 4]).heads).toEqual([NaN, NaN]);
  expect(driftOf([2], [3])).toEqual({ heads: [NaN], rms: NaN });
});
