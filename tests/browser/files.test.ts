import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { safetensorsOf, waves, llamaGguf } from '../checkpoints';
import { json } from '../cli/eigenscope';
import {
  browser,
  caption,
  checkpoint,
  expectSampleHead,
  fileAddress,
  host,
  openBrowser,
  openTable,
  saved,
  settled,
  showInLead,
  visit,
} from './browser';
import { drop, dropFolder, enter, pickModel, picked } from './gestures';
import { writeLayers } from './trained';

openBrowser();

const weights = join(checkpoint, 'model.fp16.safetensors');
const config = join(checkpoint, 'config.json');
const own = '#figure-lead [data-mark="heads of the file"] path';

/** A .safetensors file of this header and so many bytes of data. */
function safetensors(header: string, data = 0): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  return Buffer.concat([size, Buffer.from(header), Buffer.alloc(data)]);
}

describe.each([
  ['over http', () => host.address],
  ['from the disk', () => fileAddress],
])('a dropped checkpoint, %s', (_, address) => {
  test('joins the figures after reading less than 10 MB of it', async () => {
    const { page, errors, foreign } = await visit(browser, address());
    await drop(page, [weights, config]);
    const report = page.locator('[data-report]', { hasText: '72 heads' });
    await report.waitFor();
    const read = /read ([\d.]+) of ([\d.]+) MB in ([\d.]+) s/.exec((await report.textContent()) ?? '');
    expect(Number(read?.[1])).toBeLessThan(10);
    expect(Number(read?.[2])).toBeGreaterThan(45);
    await showInLead(page, 'heads');
    await settled(page, 'lead');
    await page.locator(own).nth(71).waitFor({ state: 'attached' });
    await expect.poll(() => page.locator('[data-head^="file:"]').count()).toBe(72);
    await settled(page, 'phase-map');
    const onMap = page.locator('#figure-phase-map [data-mark="heads of the file"] path');
    await onMap.nth(71).waitFor({ state: 'attached' });
    expect(errors).toEqual([]);
    expect(foreign).toEqual([]);
  });
});

test('the dropped file gives the same heads as the sample that the page was built with', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await pickModel(page, [weights, config]);
  await page.locator('[data-report]', { hasText: '72 heads' }).waitFor();
  await expectSampleHead(page);
});

test('without config.json the head count is asked for, and a wrong one refused', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await pickModel(page, [weights]);
  const field = page.getByLabel('Attention heads per layer');
  await field.waitFor();
  await enter(field, '7');
  const problem = page.locator('[data-problem]');
  await problem.filter({ hasText: '7' }).waitFor();
  expect(await problem.textContent()).toMatch(/384/);
  await enter(field, '12');
  await page.locator('[data-report]', { hasText: '72 heads' }).waitFor();
  expect(await field.isVisible()).toBe(false);
  expect(await problem.textContent()).toBe('');
});

test('a GGUF file has its own configuration, and lacks the tokenizer only', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await pickModel(page, picked('llama.gguf', llamaGguf()));
  await page.locator('[data-report]', { hasText: '2 heads' }).waitFor();
  await expect
    .poll(() => page.locator('#model').textContent())
    .toContain('llama.gguf: tokenizer.json must be beside it');
  expect(errors).toEqual([]);
});

/** Heads of each of two layers, and their width. */
const [HEADS, WIDTH] = [4, 4];
const MODEL = HEADS * WIDTH;

/** A model of 8 heads. The queries of head 0 in layer 1 are zero, as after pruning. */
const PRUNED = safetensorsOf(
  Object.fromEntries(
    [0, 1].flatMap((layer) => [
      [`model.layers.${layer}.input_layernorm.weight`, { shape: [MODEL], value: () => 1 }],
      ...['q_proj', 'k_proj'].map((kind, at) => {
        const isPruned = (i: number) => layer === 1 && kind === 'q_proj' && i < WIDTH * MODEL;
        const value = (i: number) => (isPruned(i) ? 0 : waves(2 * layer + at)(i));
        return [`model.layers.${layer}.self_attn.${kind}.weight`, { shape: [MODEL, MODEL], value }];
      }),
    ]),
  ),
);
const CONFIG = JSON.stringify({ model_type: 'llama', num_attention_heads: HEADS, hidden_size: MODEL });

test('names of files as long as they may be make no view wider than its screen', async () => {
  const { page } = await visit(browser, `${host.address}#model`, { viewport: { width: 390, height: 844 } });
  await pickModel(page, [picked(`${'x'.repeat(180)}.safetensors`, PRUNED), picked('config.json', CONFIG)]);
  await page.locator('[data-report]', { hasText: '8 heads' }).waitFor();
  await expect.poll(() => page.locator('[data-table-status]').textContent()).toContain('xxx');
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await width()).toBe(390);
});

test('a head whose queries are zero is read with variance 0, and counted where it has no place', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await pickModel(page, [picked('pruned.safetensors', PRUNED), picked('config.json', CONFIG)]);
  await page.locator('[data-report]', { hasText: '8 heads' }).waitFor();
  const rows = page.locator('[data-head-table] tbody tr');
  await expect.poll(() => rows.count()).toBe(8);
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll('th, td')].map((it) => it.textContent)),
  );
  const pruned = cells.filter(([layer, head]) => layer === '1' && head === '0');
  expect(pruned.map((row) => row.slice(2, 8))).toEqual([Array(6).fill('0')]);
  expect(cells.flat().join()).not.toMatch(/NaN|∞|none/);
  await settled(page, 'head-spectra');
  expect(await caption(page, 'head-spectra')).toContain('2 layers (rows), 8 heads.');
  await showInLead(page, 'heads');
  await settled(page, 'lead');
  await expect
    .poll(() => caption(page, 'lead'))
    .toContain('Heads not shown, because their variance is not above 0: 1.');
  const dots = page.locator('#figure-lead [data-mark="heads of the file"] path');
  expect(await dots.count()).toBe(7);
  expect(errors).toEqual([]);
});

const QUERY = 'encoder.layer.0.attention.self.query.weight';
const huge = Buffer.alloc(16, 0x20);
huge.writeBigUInt64LE(2n ** 63n);
const tensor = (dtype: string, shape: string, from: number, to: number) =>
  `{"dtype":"${dtype}","shape":${shape},"data_offsets":[${from},${to}]}`;

/** What is wrong with a file, the file, and what is said of it: no two neighbours are told the same. */
const HOSTILE: [string, Buffer, RegExp][] = [
  ['empty', Buffer.alloc(0), /but it is empty/],
  ['truncated header', readFileSync(weights).subarray(0, 1000), /header/i],
  ['garbage', Buffer.from('not a checkpoint at all, only some text'), /plain text/],
  ['header of 2^63 bytes', huge, /header/i],
  ['GGUF', Buffer.from('GGUF\x03\0\0\0\x10\0\0\0'), /its header must end inside the file/],
  [
    'tensor past the end',
    safetensors(`{"${QUERY}":${tensor('F32', '[8,8]', 0, 256)}}`, 100),
    new RegExp(`${QUERY}: its data ends at byte 256`),
  ],
  ['unknown type', safetensors(`{"${QUERY}":${tensor('Q9', '[8,8]', 0, 256)}}`, 256), new RegExp(`${QUERY}: .*Q9`)],
];

test('hostile files are named, one after the other, and the page lives on', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const problem = page.locator('[data-problem]');
  for (const [what, buffer, words] of HOSTILE) {
    await pickModel(page, picked('hostile.safetensors', buffer));
    await expect.poll(() => problem.textContent(), { message: what }).toMatch(words);
  }
  await showInLead(page, 'heads');
  await settled(page, 'lead');
  await expect.poll(() => page.locator('#figure-lead [data-mark="heads of the sample"] circle').count()).toBe(72);
  await page.locator('#field-localize-mean').fill('0.5');
  await page.locator('#figure-lead svg[aria-label*="m = 0.5"]').waitFor();
  expect(errors).toEqual([]);
});

/** The beginning of what `torch.save` writes: an archive whose first file is data.pkl. */
const TORCH = `PK\x03\x04${'\0'.repeat(22)}\x10\0\0\0archive/data.pkl`;

/** Folders without a checkpoint that can be read, and what is said of them. */
const FOLDERS: [Record<string, string>, RegExp][] = [
  [{}, /No file was found: open a folder/],
  [{ 'notes.txt': 'some notes' }, /notes\.txt: it is plain text/],
  [
    { 'config.json': '{}', 'model.gguf': `GGUF\x03${'\0'.repeat(60)}` },
    /model\.gguf: it must have at least one tensor/,
  ],
  [{ 'weights.pt': TORCH }, /weights\.pt: it must end with the directory of a ZIP archive/],
  [{ 'pytorch_model.bin': TORCH }, /pytorch_model\.bin: it must end with the directory of a ZIP archive/],
  [{ 'config.json': '{}' }, /No \.safetensors, \.gguf or PyTorch file was found beside the JSON/],
  [{ 'optimizer.pt': TORCH }, /Training state is not opened: folder\/optimizer\.pt/],
];

test('a dropped folder without weights that can be read is told what is wrong, and replaces nothing', async () => {
  const { page, errors } = await visit(browser, host.address);
  const report = page.locator('[data-report]');
  await drop(page, [weights, config]);
  await report.filter({ hasText: '72 heads' }).waitFor();
  for (const [contents, words] of FOLDERS) {
    await page.evaluate(() => scrollTo(0, 3000));
    await dropFolder(page, contents);
    const problem = page.locator('[data-problem]').filter({ hasText: words });
    await problem.waitFor();
    expect(await report.textContent()).toContain('72 heads'); // still on the figures
    await expect.poll(() => problem.evaluate((it) => Math.round(it.getBoundingClientRect().top))).toBeLessThan(500);
  }
  // What could not be read has replaced nothing: the controls are those of the checkpoint that is open.
  await page.locator('input[name="field-model-frame"][value="embeddings"]').check();
  await report.filter({ hasText: 'with the covariance of the token embeddings' }).waitFor();
  expect(errors).toEqual([]);
});

test('of several models those that can be read open, and the others are listed with their reasons', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await pickModel(page, [
    picked('config.json', CONFIG),
    picked('one.safetensors', PRUNED),
    picked('unet.pt', TORCH),
    picked('two.safetensors', PRUNED),
    picked('other.safetensors', safetensors(`{"x":${tensor('F32', '[8,8]', 0, 256)}}`, 256)),
    picked('optimizer.pt', TORCH),
  ]);
  const report = page.locator('[data-report]', { hasText: '8 heads of two.safetensors' });
  await report.waitFor();
  expect(await report.textContent()).toContain('8 heads of one.safetensors');
  expect(await report.textContent()).toContain('Training state is not opened: optimizer.pt.');
  const problem = await page.locator('[data-problem]').textContent();
  expect(problem).toMatch(/^Not opened: other\.safetensors: .* unet\.pt: it must end with the directory of a ZIP/);
  // The form for names of tensors is that of a model which is not open.
  expect(await page.locator('[data-map-form]').isVisible()).toBe(false);
  expect(errors).toEqual([]);
});

test('reading can be cancelled', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await page.evaluate(() => {
    // The scan is too quick for a hand: the test presses the button as soon as it shows.
    const busy = document.querySelector<HTMLElement>('[data-busy]');
    new MutationObserver(() => busy?.hidden === false && busy.querySelector('button')?.click()).observe(document.body, {
      attributes: true,
      subtree: true,
    });
  });
  await pickModel(page, [weights, config]);
  await page.locator('[data-report]', { hasText: 'Cancelled' }).waitFor();
  await showInLead(page, 'heads');
  await settled(page, 'lead');
  expect(await page.locator(own).count()).toBe(0);
});

/** Notes what the table says of its rows, and which is the last, while heads are read. */
function noteRows(): void {
  const seen = { statuses: [] as string[], last: [] as string[] };
  Object.assign(window, { seen });
  const status = document.querySelector('[data-table-status]')!;
  new MutationObserver(() => {
    if (!status.textContent!.includes('read so far')) return;
    seen.statuses.push(status.textContent!);
    const rows = [...document.querySelectorAll<HTMLElement>('[data-head-table] tbody tr')];
    seen.last.push(rows.at(-1)?.dataset.row ?? '');
  }).observe(status, { childList: true });
}

test('heads are in the table while two workers read others, and are those of the command line', async () => {
  const files = writeLayers(8);
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await page.evaluate(noteRows);
  await page.locator('[data-files]').setInputFiles(files);
  await page.locator('[data-report]', { hasText: '256 heads of' }).waitFor();
  const { statuses, last } = await page.evaluate(
    () => (window as unknown as { seen: { statuses: string[]; last: string[] } }).seen,
  );
  expect(statuses.length).toBeGreaterThan(2);
  // The second worker begins in the middle.
  expect(last.some((id) => /^file:[4-7]\./.test(id))).toBe(true);
  const table = async () =>
    JSON.parse((await saved(page.locator('[data-action="table-json"]'))).toString()) as {
      columns: string[];
      rows: number[][];
    };
  const { heads } = json('heads', {}, dirname(files[0]));
  const compared = { mean: 'mean', modulus: 'variance_modulus', trace: 'variance', logit_bound: 'logit_bound' };
  const { columns, rows } = await table();
  expect(rows).toHaveLength(256);
  rows.forEach((row, i) => {
    const of = (name: string) => row[columns.indexOf(name)];
    expect([of('layer'), of('head')]).toEqual([heads[i].layer, heads[i].head]);
    for (const [column, field] of Object.entries(compared)) {
      expect(of(column) / heads[i][field]).toBeCloseTo(1, 5);
    }
  });
  // What no column shows is not computed, until one is chosen.
  expect(columns).not.toContain('directionality');
  await openTable(page);
  await page.getByText('Columns, selection and filter').click();
  await page.getByLabel('Directionality', { exact: true }).check();
  await expect.poll(async () => (await table()).columns).toContain('directionality');
  const scored = await table();
  const at = scored.columns.indexOf('directionality');
  scored.rows.forEach((row, i) => expect(row[at]).toBeCloseTo(heads[i].directionality, 4));
  expect(errors).toEqual([]);
});

test('a scan that is stopped leaves the model before', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await page.locator('[data-files]').setInputFiles(writeLayers(8));
  const status = page.locator('[data-table-status]');
  await status.filter({ hasText: 'read so far' }).waitFor({ state: 'attached' });
  await page.locator('[data-busy] button').click();
  await page.locator('[data-report]', { hasText: 'Cancelled' }).waitFor();
  await expect.poll(() => status.textContent()).toMatch(/: 72 of 72 heads\.$/);
});

test('the sample can be hidden', async () => {
  const { page } = await visit(browser, `${host.address}#localize?detail=heads`);
  await settled(page, 'phase-map'); // figures that come into sight grow, and the control moves
  await page.locator('input[name="field-localize-sample"][value="hidden"]').check();
  await page.locator('#figure-lead').scrollIntoViewIfNeeded(); // out of sight it waits
  await page.locator('#figure-lead [data-mark="heads of the sample"] circle').first().waitFor({ state: 'detached' });
  expect(await page.locator('[data-heads] button').count()).toBe(0);
});
