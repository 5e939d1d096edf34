// The page under the Content-Security-Policies that a host may send; every figure is computed under them in
// walk.test.ts.
import { expect, test } from 'vitest';
import { browser, openBrowser, serve, visit } from './browser';
import { serveStrictly } from './policies';

openBrowser();

test('runs train under what docs/hosting.md and a strict host ask together', async () => {
  const host = await serveStrictly();
  const { page, errors, foreign } = await visit(browser, `${host.address}#train`);
  await page.locator('[data-comparison] [data-action="advance"]').click();
  await page.locator('[data-comparison-runs]', { hasText: /step [1-9]/ }).waitFor();
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
  host.close();
});

test('a policy that forbids WebAssembly is named', async () => {
  const host = await serve({ 'content-security-policy': "script-src 'self'; worker-src blob:" });
  const { page } = await visit(browser, host.address, { settle: false });
  const message = page.locator('#figure-lead .message', { hasText: "'wasm-unsafe-eval'" });
  await message.waitFor();
  expect(await message.textContent()).not.toContain('memory');
  host.close();
});

test('a policy that forbids workers is named after a few attempts', async () => {
  const host = await serve({ 'content-security-policy': "worker-src 'none'" });
  const { page } = await visit(browser, 'about:blank', { settle: false });
  await page.addInitScript(() => {
    const counted = { workers: 0 };
    Object.assign(window, { counted });
    window.Worker = new Proxy(Worker, {
      construct(target, [url, options]) {
        counted.workers++;
        return new target(url, options);
      },
    });
  });
  await page.goto(host.address);
  await page.locator('#figure-lead .message', { hasText: 'blocks the workers' }).waitFor();
  await page.locator('#field-localize-variance').fill('0.5');
  await page.waitForTimeout(2000);
  const { workers } = await page.evaluate(() => (window as unknown as Counted).counted);
  expect(workers).toBeGreaterThan(0);
  expect(workers).toBeLessThan(20);
  host.close();
});

interface Counted {
  counted: { workers: number };
}
