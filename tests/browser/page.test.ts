import { describe, expect, test } from 'vitest';
import { browser, ALWAYS, fileAddress, host, openBrowser, settled, visit, QUICK } from './browser';
import { enter } from './gestures';

openBrowser();

test('the page from the disk draws every figure and asks no other origin for anything', async () => {
  const { page, errors, foreign } = await visit(browser, `${fileAddress}#${QUICK}`);
  for (const id of ALWAYS) {
    await settled(page, id);
    expect(await page.locator(`#figure-${id} .chart svg[role="img"]`).count(), id).toBe(1);
    expect(await page.locator(`#figure-${id} .message`).textContent(), id).toBe('');
  }
  // No name of a variable, no 1e+12; names of files and in code are as they are.
  const said = await page.evaluate(() => {
    for (const it of document.querySelectorAll('code, option, [data-map-form]')) it.remove();
    return document.body.textContent;
  });
  expect(said.match(/\b[a-z]{2,}_\w+|\b\d+e[+-]?\d+\b|undefined|NaN/gi)).toBeNull();
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
});

describe.each([
  ['a sub-path of a plain static host', () => host.address],
  ['a file opened from the disk', () => fileAddress],
])('the page from %s', (_, address) => {
  test('keeps its state in the address', async () => {
    const { page } = await visit(browser, address());
    await enter(page.locator('#field-localize-variance'), '0.3');
    await page.waitForFunction(() => location.hash === '#localize?variance=0.3');
    await page.getByRole('link', { name: 'Mean near zero', exact: true }).first().click();
    await page.waitForFunction(() => location.hash === '#localize?mean=0.004&variance=0.0001');
    await settled(page, 'lead');
    const text = await page.locator('#figure-lead [data-live]').textContent();
    expect(text).toMatch(/Regime: uniform, L = 0\.00406/);
  });

  test('shows the 72 heads of the sample', async () => {
    const { page } = await visit(browser, `${address()}#localize?detail=heads`);
    const dots = page.locator('#figure-lead [data-mark="heads of the sample"] circle');
    await expect.poll(() => dots.count()).toBe(72);
    await settled(page, 'phase-map');
    const onMap = page.locator('#figure-phase-map [data-mark="heads of the sample"] circle');
    await expect.poll(() => onMap.count()).toBe(72);
    await expect.poll(() => page.locator('[data-heads] button').count()).toBe(72);
  });
});

test('the engine that does not load is reported, and the first picture stays', async () => {
  const { page } = await visit(browser, 'about:blank', { settle: false });
  await page.route('**/*.wasm', (route) => route.abort());
  await page.goto(host.address);
  await page.locator('#figure-lead .message', { hasText: /engine|fetch/i }).waitFor();
  await expect.poll(() => page.locator('#figure-lead svg[role="img"]').count()).toBe(1);
});

test('chapters whose script does not load are reported, and the first one works', async () => {
  const { page } = await visit(browser, 'about:blank', { settle: false });
  await page.route('**/others-*.js', (route) => route.abort());
  await page.goto(`${host.address}#localize?variance=1`);
  await settled(page, 'lead');
  await page.locator('#tab-train').click();
  await page.locator('[data-link-notice]', { hasText: 'This chapter cannot start' }).waitFor();
  expect(await page.locator('#figure-lead .message').textContent()).toBe('');
});

test('a page without its script says so, one with it does not', async () => {
  const { page } = await visit(browser, 'about:blank', { settle: false });
  const notice = page.locator('[data-not-started]');
  await page.goto(host.address);
  await notice.waitFor({ state: 'detached' });
  await page.route('**/index-*.js', (route) => route.fulfill({ status: 404 }));
  await page.goto(`${host.address}?again`);
  expect(await notice.isVisible()).toBe(false); // it may still come
  await notice.waitFor({ state: 'visible', timeout: 15_000 });
  expect((await notice.boundingBox())!.height).toBeGreaterThan(30);
});
