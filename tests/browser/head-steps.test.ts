// The heads of several checkpoints of one training run, over its steps.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { json, temporaryFolder } from '../cli/eigenscope';
import { browser, caption, csv, host, openBrowser, settled, visit } from './browser';

openBrowser();

test('checkpoints at the steps of a run are shown in their order, and a single one is not', async () => {
  const out = temporaryFolder(onTestFinished);
  json('train', { width: 16, depth: 2, heads: 2, length: 16, steps: 12, step_weights: 5, log_every: 12, out });
  const folder = join(out, 'none-seed1', 'steps');
  const { heads } = json('heads', {}, folder);
  const { page, errors } = await visit(browser, `${host.address}#model?head=file:1.0`);
  const figure = page.locator('#figure-head-steps');
  expect(await figure.getAttribute('hidden')).not.toBeNull();
  await page.locator('[data-folder]').setInputFiles(folder);
  await page.locator('[data-report]', { hasText: '4 heads of step10:' }).waitFor();
  await settled(page, 'head-steps');
  const rows = await csv(page, 'head-steps');
  const key = (it: { step: unknown; layer: unknown; head: unknown }) => `${it.step} ${it.layer} ${it.head}`;
  const found = new Map(rows.map((row) => [key(row as never), Number(row.variance)]));
  expect([...found.keys()].sort()).toEqual(heads.map(key).sort());
  for (const head of heads) expect(found.get(key(head))).toBeCloseTo(head.variance, 6);
  expect(await caption(page, 'head-steps')).toMatch(/^3 checkpoints\. Thick: layer 1, head 0, /);
  await page.locator('[data-folder]').setInputFiles(join(folder, 'step05'));
  await page.locator('[data-report]', { hasText: /^4 heads of step05:/ }).waitFor();
  expect(await figure.getAttribute('hidden')).not.toBeNull();
  expect(errors).toEqual([]);
});
