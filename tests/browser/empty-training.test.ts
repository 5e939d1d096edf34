import { expect, test } from 'vitest';
import { browser, host, openBrowser, settled, visit } from './browser';

openBrowser();

test('a link to the curves of runs says that nothing is trained yet, and trains them', async () => {
  const tiny = 'steps=12&width=16&depth=1&heads=2&length=16&batch=2&log_every=4';
  for (const viewport of [
    { width: 1280, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const address = `${host.address}#train?runs=none&${tiny}&figure=run-curves`;
    const { page, errors, close } = await visit(browser, address, { viewport, settle: false });
    const figure = page.locator('#figure-run-curves');
    await settled(page, 'run-curves');
    const note = figure.locator('[data-mark="note"] text');
    await expect.poll(() => note.allTextContents()).toContain('Not trained yet');
    const ticks = figure.locator('[data-mark="x-axis tick label"]').first();
    expect(await ticks.textContent()).toMatch(/^0.*12$/); // the steps of the link
    await figure.getByRole('button', { name: 'Train these runs' }).click();
    await page.locator('[data-comparison-status]', { hasText: 'All runs have ended' }).waitFor();
    await expect.poll(() => note.allTextContents()).not.toContain('Not trained yet');
    expect(await figure.getByRole('button', { name: 'Train these runs' }).count()).toBe(0);
    expect(errors).toEqual([]);
    await close();
  }
});
