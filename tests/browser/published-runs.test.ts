import { expect, test } from 'vitest';
import { browser, csv, host, openBrowser, settled, visit } from './browser';

openBrowser();

test('a link to the curves of runs shows published runs, and trains those of the link', async () => {
  const tiny = 'steps=12&width=16&depth=1&heads=2&length=16&batch=2&log_every=4';
  for (const viewport of [
    { width: 1280, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const address = `${host.address}#train?runs=none&${tiny}&figure=run-curves`;
    const { page, errors } = await visit(browser, address, { viewport, settle: false });
    const figure = page.locator('#figure-run-curves');
    await settled(page, 'run-curves');
    const ticks = figure.locator('[data-mark="x-axis tick label"]').first();
    await expect.poll(() => ticks.textContent()).toMatch(/^0.*1,000$/); // the steps of the published runs
    const published = await csv(page, 'run-curves');
    expect(new Set(published.map(({ run }) => run))).toEqual(new Set(['none', 'locater']));
    const losses = published.filter(({ run }) => run === 'none').map(({ bits_per_byte }) => Number(bits_per_byte));
    expect(losses.at(-1)).toBeLessThan(0.5 * losses[0]!);
    await settled(page, 'run-map');
    const heads = page.locator('#figure-run-map [data-mark="heads, LocAteR (recorded)"] circle');
    await expect.poll(() => heads.count()).toBe(8); // two layers of four
    await figure.getByRole('button', { name: 'Train these runs' }).click();
    await page.locator('[data-comparison-status]', { hasText: 'All runs have ended' }).waitFor();
    await expect.poll(() => ticks.textContent()).toMatch(/^0.*12$/); // the steps of the link
    expect(new Set((await csv(page, 'run-curves')).map(({ run }) => run))).toEqual(new Set(['none']));
    expect(await figure.getByRole('button', { name: 'Train these runs' }).count()).toBe(0);
    expect(errors).toEqual([]);
  }
});
