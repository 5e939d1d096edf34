// The page under the Content-Security-Policies that a host may send.
import { expect, test } from 'vitest';
import { documentedHeaders } from '../headers';
import { browser, ALWAYS, openBrowser, serve, settled, showView, visit, QUICK } from './browser';

openBrowser();

const STRICT = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:";

test('every figure computes under what docs/hosting.md and a strict host ask together', async () => {
  const { 'content-security-policy': own, ...others } = documentedHeaders();
  const host = await serve({ ...others, 'content-security-policy': `${own}, ${STRICT}` });
  const { page, errors, foreign } = await visit(browser, `${host.address}#${QUICK}`);
  for (const id of ALWAYS) {
    await settled(page, id);
    expect(await page.locator(`#figure-${id} .message`).textContent(), id).toBe('');
  }
  await showView(page, 'train');
  await page.locator('[data-comparison] [data-action="advance"]').click();
  await page.locator('[data-comparison-runs]', { hasText: /step [1-9]/ }).waitFor();
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
  host.close();
}, 120_000);

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
