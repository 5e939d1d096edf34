// The heads of several checkpoints of one training run, over its steps.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { json, temporaryFolder } from '../cli/eigenscope';
import { browser, caption, csv, host, openBrowser, settled, visit } from './browser';

openBrowser();

const key = (it: { step: unknown; layer: unknown; head: unknown }) => `${it.step} ${it.layer} ${it.head}`;

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
  const found = new Map(rows.map((row) => [key(row as never), row]));
  expect([...found.keys()].sort()).toEqual(heads.map(key).sort());
  for (const head of heads) {
    const row = found.get(key(head))!;
    expect(Number(row.trace)).toBeCloseTo(head.variance, 6);
    expect(Number(row.norm)).toBeCloseTo(head.spectral_norm, 6);
    expect(row.loss).toBe('');
  }
  expect(await caption(page, 'head-steps')).toMatch(/^3 checkpoints\. Thick: layer 1, head 0, Var\. Frobenius from /);
  await figure.locator('[data-steps-column]').selectOption('norm');
  await page.waitForFunction(() => location.hash.includes('steps_column=norm'));
  expect(await caption(page, 'head-steps')).toMatch(/^3 checkpoints\. Thick: layer 1, head 0, Spectral norm from /);
  await page.locator('[data-folder]').setInputFiles(join(folder, 'step05'));
  await page.locator('[data-report]', { hasText: /^4 heads of step05:/ }).waitFor();
  expect(await figure.getAttribute('hidden')).not.toBeNull();
  expect(errors).toEqual([]);
});

/** Takes away that the weights are those of `eigenscope train`. */
function anonymous(path: string): void {
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE(0));
  const { __metadata__: _, ...header } = JSON.parse(bytes.subarray(8, 8 + length).toString());
  const text = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([size, text, bytes.subarray(8 + length)]));
}

test('a run of the Hugging Face Trainer is shown with its losses, once where its last checkpoint is saved twice', async () => {
  const out = temporaryFolder(onTestFinished);
  json('train', { width: 16, depth: 1, heads: 2, length: 16, steps: 8, step_weights: 4, log_every: 8, out });
  const run = join(out, 'run');
  for (const [name, own, step] of [
    ['checkpoint-1000', 'step8', 1000],
    ['checkpoint-500', 'step4', 500],
    ['', 'step8', 1000],
  ] as const) {
    const folder = join(run, name);
    cpSync(join(out, 'none-seed1', 'steps', own), folder, { recursive: true });
    anonymous(join(folder, 'model.safetensors'));
    const state = { best_model_checkpoint: null, global_step: step, log_history: [{ loss: 2000 / step, step }] };
    writeFileSync(join(folder, 'trainer_state.json'), JSON.stringify(state));
  }
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await page.locator('[data-folder]').setInputFiles(run);
  await page.locator('[data-report]', { hasText: '2 heads of run:' }).waitFor();
  await settled(page, 'head-steps');
  const rows = await csv(page, 'head-steps');
  expect(rows.map(({ step, head, loss }) => [step, head, loss])).toEqual([
    ['500', '0', '4'],
    ['1000', '0', '2'],
    ['500', '1', '4'],
    ['1000', '1', '2'],
  ]);
  expect(await page.locator('#figure-head-steps .chart > svg').textContent()).toContain('training loss');
  expect(errors).toEqual([]);
});
