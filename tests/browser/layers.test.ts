// A text that takes seconds to go through a model: its layers appear as they are done, whatever ends the pass.
import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { spoil } from '../checkpoints';
import { browser, caption, host, openBrowser, visit } from './browser';
import { enter } from './gestures';
import { LAYER_HEADS as HEADS, writeLayers } from './trained';

openBrowser();

/** Rows that the table shows at first. */
const ROWS = 200;
/** The last of the layers that are done is named where there are two or more. */
const SOME = /^Layers? 0(?: to (\d+))? (?:is|are) computed/;
const [SHORT, LONG] = ['A whale swam.', 'The ship followed the whale. '.repeat(5)];

/** Opens the page with a sentence on which the model is run as soon as its heads are read. */
async function opened(files: string[], reading: string): Promise<{ page: Page; errors: string[] }> {
  const visited = await visit(browser, `${host.address}#model?passages=1&reading=${encodeURIComponent(reading)}`);
  await visited.page.locator('[data-files]').setInputFiles(files);
  return visited;
}

const words = (page: Page, text: string | RegExp) => page.locator('[data-head-words]', { hasText: text });
const message = (page: Page) => page.locator('#figure-head-text .message');

/** Types a sentence, and waits until some layers have read it, and not all. */
async function readSome(page: Page, reading: string): Promise<void> {
  await enter(page.locator('#field-model-reading'), reading);
  await words(page, SOME).waitFor({ timeout: 120_000 });
}

/** Waits until all layers have read a sentence of so many tokens. */
async function readAll(page: Page, tokens: number): Promise<void> {
  const live = page.locator('#figure-head-text [data-live]', { hasText: `on ${tokens} tokens` });
  await live.waitFor({ state: 'attached', timeout: 120_000 }); // partial or whole
  await expect.poll(() => words(page, SOME).count(), { timeout: 120_000 }).toBe(0);
}

/** Rows of the table, in the order of the layers, that have an entropy on the sentence. */
async function measured(page: Page): Promise<number> {
  return page.evaluate(() => {
    const table = document.querySelector<HTMLTableElement>('[data-head-table] table')!;
    const { cellIndex } = table.querySelector<HTMLTableCellElement>('th:has([data-sort="text_entropy"])')!;
    return [...table.tBodies[0].rows].filter(({ cells }) => /\d/.test(cells[cellIndex].textContent)).length;
  });
}

test('a NaN in layer 4 is named, and the heads of the layers before it are shown', { timeout: 300_000 }, async () => {
  const files = writeLayers(5);
  const values = 'model.layers.4.self_attn.v_proj.weight';
  for (const shard of files.filter((name) => name.includes('00001-of'))) spoil(shard, values);
  const { page, errors } = await opened(files, SHORT);
  await message(page)
    .filter({ hasText: `${values}: it holds NaN` })
    .waitFor({ timeout: 120_000 });
  await words(page, /^Layers 0 to 3 are computed/).waitFor();
  const chosen = page.locator('[data-head-select]');
  for (const [layer, drawn] of [
    [3, 1],
    [4, 0],
  ]) {
    await chosen.selectOption(`${layer}.3`);
    await expect.poll(() => page.locator('#figure-head-text svg[role="img"]').count()).toBe(drawn);
  }
  expect(await page.locator('[data-no-text]').isHidden()).toBe(true);
  expect(errors).toEqual([]);
});

test('layers are shown as they are done; a cancel brings the answer before back', { timeout: 300_000 }, async () => {
  const { page, errors } = await opened(writeLayers(4), SHORT);
  await readAll(page, SHORT.length);
  await expect.poll(() => measured(page)).toBe(4 * HEADS);
  const before = await caption(page, 'head-text');
  await readSome(page, LONG);
  expect((await measured(page)) % HEADS).toBe(0);
  expect(await measured(page)).toBeLessThan(4 * HEADS);
  const wait = page.locator('#figure-head-text .wait');
  await wait.filter({ hasText: /^Computing for .* left\./ }).waitFor();
  await wait.locator('button').click();
  await words(page, `Shown is the attention on “${SHORT}”`).waitFor();
  await expect.poll(() => measured(page)).toBe(4 * HEADS);
  await expect.poll(() => caption(page, 'head-text')).toBe(before);
  await wait.locator('button', { hasText: 'Compute' }).click();
  await readAll(page, 128);
  expect(await words(page, 'Shown is').count()).toBe(0);
  expect(errors).toEqual([]);
});

test('files that vanish in mid-pass are named, and what was read of them stays', { timeout: 300_000 }, async () => {
  const files = writeLayers(6); // some of which are still to be read when the files are removed
  const { page, errors } = await opened(files, SHORT);
  await readAll(page, SHORT.length);
  await readSome(page, LONG);
  for (const file of files) rmSync(file);
  await message(page).filter({ hasText: 'is it still there?' }).waitFor({ timeout: 60_000 });
  const layers = 1 + Number(SOME.exec((await words(page, SOME).textContent()) ?? '')?.[1] ?? 0);
  const rows = Math.min(layers * HEADS, ROWS);
  await expect.poll(() => measured(page)).toBe(rows);
  // Another sentence cannot be read either, and takes nothing away.
  await enter(page.locator('#field-model-reading'), 'Sails.');
  await message(page).filter({ hasText: 'is it still there?' }).waitFor();
  expect(await page.locator('[data-no-text]').isHidden()).toBe(true);
  expect(await measured(page)).toBe(rows);
  expect(errors).toEqual([]);
});
