import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { changesIn, MODELS, type ModelChanges } from '../../web/chapters/train/surgery/words';

interface Published extends ModelChanges {
  surgeries: { surgery: string; doses: { dose: number; slope: { value: number } }[] }[];
}
const published: Published[] = JSON.parse(
  readFileSync(new URL('../../web/results/head-surgery.json', import.meta.url), 'utf8'),
);

describe.each(MODELS)('the dots of surgery on %s', (name) => {
  const model = published.find((it) => it.name === name)!;
  test.each(['mean', 'shrink'])('have at each dose of %s the published slope of the entropy', (surgery) => {
    for (const dose of [-0.5, -0.25, 0.25, 0.5, 1]) {
      const dots = changesIn(model, 'entropy', dose).filter((it) => !it.isRandom && it.surgery.surgery === surgery);
      expect(dots).toHaveLength(model.places.length);
      const product = dots.reduce((sum, { predicted, measured }) => sum + predicted * measured, 0);
      const square = dots.reduce((sum, { predicted }) => sum + predicted ** 2, 0);
      const { doses } = model.surgeries.find((it) => it.surgery === surgery)!;
      expect(product / square).toBeCloseTo(doses.find((it) => it.dose === dose)!.slope.value, 2);
    }
  });

  test('are of every head once a surgery, and of its null before', () => {
    const dots = changesIn(model, 'entropy', 0.5);
    expect(new Set(dots.map((it) => `${it.place} ${it.surgery.surgery} ${it.isRandom}`)).size).toBe(dots.length);
    expect(dots.map(({ isRandom }) => isRandom).lastIndexOf(true)).toBe(2 * model.places.length - 1);
    expect(dots).toHaveLength(4 * model.places.length);
  });
});
