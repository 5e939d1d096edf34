// The heads that a predictor level gets wrong, and the reason that is shown.
import { expect, test } from 'vitest';
import { missesOf } from '../../web/chapters/model/predictors/words.ts';
import { LEVELS } from '../../web/chapters/model/predictors/words.ts';

const place = (name: string) => LEVELS.findIndex((level) => level.name === name);
const KEYS = place('keys');

/** Heads of layer 0 with a measured entropy of 0.5; predictions of 0.5 + error, by level's name. */
function predictionsOf(...heads: Record<string, number>[]) {
  const predicted = heads.flatMap((errors) => LEVELS.map(({ name }) => 0.5 + (errors[name] ?? errors.keys)));
  return {
    layer: new Float64Array(heads.length),
    head: Float64Array.from(heads, (_, i) => i),
    entropy: Float64Array.from(predicted),
    measured_entropy: new Float64Array(heads.length).fill(0.5),
  };
}

test('the largest errors come first, over or under alike', () => {
  const predictions = predictionsOf({ keys: 0.1 }, { keys: -0.3 }, { keys: 0.2 });
  const found = missesOf(predictions, 'entropy', KEYS, 2);
  expect(found.map(({ head }) => head)).toEqual([1, 2]);
  expect(found[0].predicted).toBeCloseTo(0.2, 12);
  expect(found[0].measured).toBe(0.5);
});

test('each reason is that of its numbers', () => {
  const reason = (errors: Record<string, number>) => missesOf(predictionsOf(errors), 'entropy', KEYS, 1)[0].reason;
  expect(reason({ keys: 0.2, sequences: 0.15 })).toMatch(/still has an error of 0\.15: those sequences differ/);
  expect(reason({ keys: 0.2, sequences: 0.01 })).toMatch(/an error of only 0\.01: .* share a sequence/);
  expect(reason({ keys: 0.2, position: 0.04, sequences: 0.01 })).toBe(
    `Level ${place('position')}, position, has an error of 0.04: it adds ${LEVELS[place('position')].adds}.`,
  );
});

test('there are none before a text is measured', () => {
  const found = predictionsOf({ keys: 0.1 });
  found.measured_entropy.fill(NaN);
  expect(missesOf(found, 'entropy', KEYS, 3)).toEqual([]);
});
