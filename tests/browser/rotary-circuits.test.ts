// Query-key circuits over the distance, of the published rotary model until one is open.
import { expect, test } from 'vitest';
import { json } from '../cli/eigenscope';
import { browser, caption, csv, host, openBrowser, settled, visit } from './browser';

openBrowser();

const LENGTH = 65;
const heads: { layer: number; head: number; previous_token: number; logit: number[]; variance: number[] }[] = json(
  'rotary-circuits',
  { length: LENGTH },
  'web/models/parallel-contexts/seed1.safetensors',
).heads;

test('the published model shows its head with the largest score, and opens for all figures', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await settled(page, 'rotary-circuits');
  const rows = await csv(page, 'rotary-circuits');
  expect(rows.length).toBe(heads.length * LENGTH);
  heads.forEach((head, i) => {
    const own = rows.slice(i * LENGTH, (i + 1) * LENGTH);
    expect(own.map(({ layer }) => Number(layer))).toEqual(own.map(() => head.layer));
    own.forEach((row, distance) => {
      expect(Number(row.logit)).toBeCloseTo(head.logit[distance], 5);
      expect(Number(row.variance)).toBeCloseTo(head.variance[distance], 5);
    });
  });
  const best = heads.reduce((a, b) => (b.previous_token > a.previous_token ? b : a));
  const placed = ({ layer, head }: typeof best) => `layer ${layer}, head ${head}: previous-token score`;
  expect(await caption(page, 'rotary-circuits')).toContain(`rotary byte model, ${placed(best)}`);
  await page.locator('[data-action="open-rotary"]').click();
  await page.locator('[data-report]', { hasText: `${heads.length} heads of rotary byte model` }).waitFor();
  const other = heads.find((it) => it !== best)!;
  await page.locator('[data-head-select]').selectOption(`${other.layer}.${other.head}`);
  await settled(page, 'rotary-circuits');
  await expect.poll(() => caption(page, 'rotary-circuits')).toContain(`rotary byte model, ${placed(other)}`);
  expect(await page.locator('#figure-rotary-circuits [data-mark="heads of the file"] path').count()).toBe(heads.length);
  expect(errors).toEqual([]);
});
