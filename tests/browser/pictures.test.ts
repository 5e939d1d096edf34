// Vision models on the page: the attention of a head over a picture that is drawn, chosen, dropped or pasted.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test, onTestFinished } from 'vitest';
import { LLAMA, LLAMA_CONFIG, safetensorsOf, VIT, VIT_CONFIG, type Tensors } from '../checkpoints';
import { json, root, temporaryFolder } from '../cli/eigenscope';
import { browser, caption, csv, host, openBrowser, visit } from './browser';
import { drop, openModel, picked } from './gestures';

openBrowser();

const picture = (name: string) => join(root, 'tests/pictures', name);

/** The same model and picture in the terminal. */
function attended(files: Record<string, string | Buffer>, image: string) {
  const folder = temporaryFolder(onTestFinished);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return json('attend', { image }, folder, '--weights');
}

async function open(page: Page, tensors: Tensors, config: string): Promise<void> {
  await openModel(page, [picked('model.safetensors', safetensorsOf(tensors)), picked('config.json', config)]);
}

const said = (page: Page, text: string) =>
  expect.poll(() => caption(page, 'head-text'), { timeout: 30_000 }).toContain(text);

test('a vision model shows its attention over a picture, with the numbers of the terminal', async () => {
  const { page, errors, foreign } = await visit(browser, `${host.address}#model`);
  await open(page, VIT, VIT_CONFIG);
  await said(page, 'layer 0, head 0 on the drawn picture: keys of [CLS]');
  expect(await page.locator('#title-head-text').textContent()).toContain('Attention of layer 0, head 0 over a picture');
  await page.locator('[data-picture]').setInputFiles(picture('waves.png'));
  await said(page, 'on waves.png: keys of [CLS]');
  const files = { 'model.safetensors': safetensorsOf(VIT), 'config.json': VIT_CONFIG };
  const native = attended(files, picture('waves.png'));
  const row = native.weights[0].weights[0] as number[];
  const rows = await csv(page, 'head-text');
  expect(rows).toHaveLength(16);
  rows.forEach((it, i) => expect(Number(it.weight)).toBeCloseTo(row[i + 1], 5));

  // A patch of row 1 and column 2, as the query of its own.
  const box = (await page.locator('#figure-head-text canvas').boundingBox())!;
  await page.mouse.click(box.x + (2.5 * box.width) / 4, box.y + (1.5 * box.height) / 4);
  await said(page, 'keys of patch 1,2');
  const own = await csv(page, 'head-text');
  own.forEach((it, i) => expect(Number(it.weight)).toBeCloseTo(native.weights[0].weights[1 + 6][i + 1], 5));
  await page.locator('[data-action="all-queries"]').click();
  await said(page, 'keys of [CLS]');

  // What is predicted of texts is not there; heads can be chosen, and the table has what was measured.
  expect(await page.locator('#figure-predictors').isVisible()).toBe(false);
  expect(await page.locator('#field-model-reading').isVisible()).toBe(false);
  await page.locator('[data-head-select]').selectOption('1.1');
  await said(page, 'layer 1, head 1 on waves.png');
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
});

test('pictures are dropped and pasted where a model reads them', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await drop(page, [picture('waves.jpg')]);
  const problem = page.locator('[data-problem]');
  await expect.poll(() => problem.textContent()).toContain('A picture needs a vision model');
  await open(page, LLAMA, LLAMA_CONFIG);
  await drop(page, [picture('waves.jpg')]);
  await expect.poll(() => problem.textContent()).toContain('A picture needs a vision model');
  expect(await page.locator('[data-picture-tools]').isVisible()).toBe(false);
  await open(page, VIT, VIT_CONFIG);
  await said(page, 'on the drawn picture');
  await drop(page, [picture('waves.jpg')]);
  await said(page, 'on waves.jpg');
  await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 8, height: 8 });
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([blob!], 'pasted.png', { type: 'image/png' }));
    dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
  });
  await said(page, 'on pasted.png');
  await page.locator('[data-picture]').setInputFiles({ ...picked('broken.png', 'no picture'), mimeType: 'image/png' });
  const message = page.locator('#figure-head-text .message');
  await expect.poll(() => message.textContent()).toContain('broken.png must be a picture');
  await said(page, 'on pasted.png');
  expect(errors).toEqual([]);
});
