// What Your model shows of predictions without text, for the model that comes with the page.
import { expect, test } from 'vitest';
import measures from '../../web/generated/predicted-measures.json';
import levels from '../../web/generated/predictor-levels.json';
import sources from '../../web/generated/sample-predictions.json';
import { browser, caption, host, openBrowser, unfold, visit } from './browser';

openBrowser();

const LEVEL = 8;

test('three sources of statistics stand side by side, with the ceiling and both nulls', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?level=${LEVEL}`);
  const notes = page.locator('[data-prediction-notes]');
  await unfold(notes.locator('table'));
  await notes.scrollIntoViewIfNeeded();
  expect(await notes.locator('caption').textContent()).toContain(`Level ${LEVEL}, ${levels[LEVEL].name}: entropy`);
  const rows = await notes.locator('tbody tr').allTextContents();
  expect(rows).toHaveLength(6);
  for (const [i, { summary }] of Object.values(sources).entries()) {
    const numbers = rows[i].match(/0\.\d+/g)!.map(Number);
    expect(numbers[0]).toBeCloseTo(summary[LEVEL].entropy_rank_correlation!, 3);
    expect(numbers[3]).toBeCloseTo(summary[LEVEL].entropy_mean_absolute_error, 3);
  }
  expect(rows[3]).toContain('ceiling');
  const transfer = sources.zipf.summary.find(({ name }) => name === 'transfer')!;
  expect(rows[4]).toMatch(/^null: another text0\.\d/);
  const [rank] = rows[4]!.match(/0\.\d+/)!;
  expect(Number(rank)).toBeCloseTo(transfer.entropy_rank_correlation!, 3);
  expect(rows[5]).toMatch(/^null: one constant–/);
  expect(errors).toEqual([]);
});

test('another source and level change the figure and the heads predicted worst', async () => {
  const { page } = await visit(browser, `${host.address}#model?level=${LEVEL}`);
  const misses = page.locator('[data-misses] li');
  await unfold(page.locator('[data-misses]'));
  await misses.first().waitFor();
  const before = await misses.allTextContents();
  expect(before).toHaveLength(6);
  await page.locator('#model [data-control="tokens_source"] label', { hasText: 'uniform' }).click();
  const predictors = page.locator('#figure-predictors [data-live]', { hasText: 'equally frequent' });
  await predictors.waitFor({ state: 'attached' });
  expect(await caption(page, 'predictors')).toContain('ceiling');
  await expect.poll(() => misses.allTextContents()).not.toEqual(before);
  const { entropy, measured_entropy } = sources.uniform;
  const worst = Math.max(...measured_entropy.map((it, i) => Math.abs(entropy[i][LEVEL]! - it)));
  const [, said, is] = /predicted (\S+), measured (\S+)\. /.exec((await misses.first().textContent()) ?? '')!;
  expect(Math.abs(Number(said) - Number(is))).toBeCloseTo(worst, 2);
  await misses.first().locator('button').click();
  await page.locator('[data-head-table] tr[aria-current="true"]').waitFor({ state: 'attached' });
});

test.each(['distance', 'decay'] as const)('%s has axes that reach all heads', async (quantity) => {
  const { page } = await visit(browser, `${host.address}#model?level=${LEVEL}`);
  const { label, meaning } = measures[quantity];
  await page.locator('#model [data-control="quantity"] label', { hasText: label }).click();
  const figure = page.locator('#figure-predictors');
  await figure.locator('[data-live]', { hasText: meaning }).waitFor({ state: 'attached' });
  const { summary, ...found } = sources.zipf;
  const said = /rank correlation (\S+) \[.* mean absolute error (\S+) /.exec(
    (await caption(page, 'predictors')) ?? '',
  )!;
  expect(Number(said[1])).toBeCloseTo(summary[LEVEL][`${quantity}_rank_correlation`]!, 3);
  expect(Number(said[2])).toBeCloseTo(summary[LEVEL][`${quantity}_mean_absolute_error`]!, 2);
  const dots = figure.locator('[data-mark="heads of the sample"] circle');
  const places = await dots.evaluateAll((all) => all.map((it) => Number(it.getAttribute('cx'))));
  const spread = (values: number[]) => Math.max(...values) - Math.min(...values);
  const measured = found[`measured_${quantity}`].map(Number);
  // The places are a linear map of what is measured, inside the frame.
  places.sort((a, b) => a - b);
  measured.sort((a, b) => a - b);
  const share = (values: number[], i: number) => (values[i]! - values[0]!) / spread(values);
  expect(places).toHaveLength(measured.length);
  for (const i of places.keys()) expect(share(places, i)).toBeCloseTo(share(measured, i), 2);
  const right = Number(await figure.locator('.chart svg').getAttribute('width')) - 12;
  for (const place of places) {
    expect(place).toBeGreaterThanOrEqual(48);
    expect(place).toBeLessThanOrEqual(right);
  }
  expect(spread(places) / (right - 48)).toBeGreaterThan(0.5);
});
