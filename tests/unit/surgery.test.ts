import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { changesIn, MEASURES, MODELS, type ModelChanges } from '../../web/chapters/train/surgery/words';

interface Published extends ModelChanges {
  surgeries: {
    surgery: string;
    measures: { measure: string; slope: { value: number } }[];
    doses: { dose: number }[];
  }[];
}
const published: Published[] = JSON.parse(
  readFileSync(new URL('../../web/results/head-surgery.json', import.meta.url), 'utf8'),
);

describe.each(MODELS)('the dots of surgery on %s', (name) => {
  const model = published.find((it) => it.name === name)!;
  const surgeryOf = (surgery: string) => model.surgeries.find((it) => it.surgery === surgery)!;
  const doses = (surgery: string) => surgeryOf(surgery).doses.map(({ dose }) => dose);

  test.each(['mean', 'shrink'])('have over all doses of %s the published slopes', (surgery) => {
    for (const { measure } of MEASURES) {
      const dots = doses(surgery)
        .flatMap((dose) => changesIn(model, measure, dose))
        .filter((it) => !it.isRandom && it.surgery.surgery === surgery);
      expect(dots).toHaveLength(7 * model.places.length);
      const product = dots.reduce((sum, { predicted, measured }) => sum + predicted * measured, 0);
      const square = dots.reduce((sum, { predicted }) => sum + predicted ** 2, 0);
      const { slope } = surgeryOf(surgery).measures.find((it) => it.measure === measure)!;
      expect(product / square).toBeCloseTo(slope.value, 2);
    }
  });

  test('are of every head once a surgery, and of its null before', () => {
    const dots = changesIn(model, 'entropy', 0.5);
    expect(new Set(dots.map((it) => `${it.place} ${it.surgery.surgery} ${it.isRandom}`)).size).toBe(dots.length);
    expect(dots.map(({ isRandom }) => isRandom).lastIndexOf(true)).toBe(2 * model.places.length - 1);
    expect(dots).toHaveLength(4 * model.places.length);
  });
});
