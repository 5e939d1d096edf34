// The second trained model that comes with the page.
import { expect, test } from 'vitest';
import { json } from '../cli/eigenscope';
import { browser, caption, fileAddress, host, openBrowser, visit } from './browser';
import { enter } from './gestures';

openBrowser();

const BUTTON = '[data-action="load-use-lite"]';

test('Universal Sentence Encoder-lite opens by a button and reads a sentence as in the terminal', async () => {
  const { page, errors, foreign } = await visit(browser, `${host.address}#model`);
  expect(await page.locator(BUTTON).textContent()).toBe('Open Universal Sentence Encoder-lite (13.5 MB)');
  await page.locator(BUTTON).click();
  await page.locator('[data-report]', { hasText: '8 heads of Universal Sentence Encoder-lite' }).waitFor();
  const text = 'The whale swam away.';
  const { heads, passages } = json('attend', { text }, 'web/generated/use-lite');
  await enter(page.locator('#field-model-reading'), text);
  await page.locator('[data-head-select]').selectOption('1.3');
  const said = () => caption(page, 'head-text');
  await expect.poll(said, { timeout: 30_000 }).toContain(`layer 1, head 3 on ${passages[0].tokens.length} tokens`);
  const [, entropy] = /entropy ([\d.]+)/.exec((await said()) ?? '')!;
  expect(Number(entropy)).toBeCloseTo(heads[7].entropy, 3);
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
});

test('the page of a single file does not have it', async () => {
  const { page } = await visit(browser, `${fileAddress}#model`);
  expect(await page.locator(BUTTON).isVisible()).toBe(false);
});
