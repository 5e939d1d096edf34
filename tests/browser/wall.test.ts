// The wall of heads, what a head is worth, and any column of the table against any other.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { json } from '../cli/eigenscope';
import { browser, caption, csv, exported, go, host, openBrowser, settled, visit } from './browser';
import { enter, openModel } from './gestures';
import { LLAMA, TRAINED_LENGTH, trainedFolder, trainedModel } from './trained';

/** What is below Details is there, not in sight. */
const ATTACHED = { state: 'attached' } as const;

openBrowser();

test('all heads have a picture in the colour of their pattern, which enlarges under the pointer', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await settled(page, 'wall');
  const cells = page.locator('#figure-wall [data-mark="heads"] rect');
  expect(await cells.count()).toBe(72);
  const rows = await csv(page, 'wall');
  expect(rows).toHaveLength(72);
  const kinds = rows.map(({ pattern }) => pattern).filter((it) => it !== '');
  const title = await page.locator('#figure-wall h2').textContent();
  expect(title).toContain(`${kinds.length} of 72 heads attend to one kind of key`);
  const colours = await page.locator('#figure-wall canvas.bitmap').evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set<string>();
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 200) seen.add([data[i], data[i + 1], data[i + 2]].join());
    return seen.size;
  });
  expect(colours).toBeGreaterThan(2);
  // The picture is above its cells.
  const box = (await cells.nth(2 * 12 + 5).boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  const tip = page.locator('#figure-wall .tip', { hasText: 'layer 2, head 5' });
  await tip.locator('canvas').waitFor();
  await page.mouse.click(x, y);
  await page.waitForFunction(() => location.hash === '#model?head=sample:2.5');
  expect(errors).toEqual([]);
});

test('on a phone the heads and what the chosen one does are there before its figure is in sight', async () => {
  const [height, ahead] = [720, 200]; // a figure is computed so many pixels before it is in sight
  const phone = { viewport: { width: 390, height }, settle: false };
  const { page } = await visit(browser, `${host.address}#model`, phone);
  const below = async () => (await page.locator('#figure-head-text').boundingBox())!.y;
  await expect.poll(below).toBeGreaterThan(height + ahead);
  await expect.poll(() => page.locator('[data-head-select] option').count()).toBe(72);
  await page.locator('[data-head-words]', { hasText: 'It is shown because' }).waitFor();
  await page.locator('[data-head-select]').selectOption('2.5');
  await page.locator('[data-head-words]').filter({ hasText: /\S/, hasNotText: 'It is shown because' }).waitFor();
});

test('the build knows what the heads of the sample are worth to the example sentences', async () => {
  const { page } = await visit(browser, `${host.address}#model?head=sample:2.5`);
  await settled(page, 'wall');
  await page.locator('[data-action="ablate"]', { hasText: 'Switch off layer 2, head 5' }).click();
  await page
    .locator('[data-worth-words]', { hasText: /^Without layer 2, head 5 .* changes by \d+\.\d° \(cosine 0\.\d+\)/ })
    .waitFor();
  const crosses = page.locator('#figure-wall [data-mark="heads"] path');
  expect(await crosses.count()).toBe(1);
  await page.locator('[data-action="restore"]').click();
  await expect.poll(() => crosses.count()).toBe(0);
});

test('passages on which a head of the sample has its largest weights are those of the command line', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?head=sample:1.8`);
  const list = page.locator('[data-firing]');
  await list.scrollIntoViewIfNeeded();
  await list.locator('li').nth(3).waitFor();
  expect(await list.locator('u').allTextContents()).toEqual(['to', 'in', ',', 'as']);
  expect(await list.locator('mark').allTextContents()).toEqual(['interest', 'fall', 'which', 'soon']);
  await page.locator('[data-head-select]').selectOption('0.2');
  await list.locator('h2', { hasText: 'layer 0, head 2' }).waitFor();
  expect(await list.locator('b').allTextContents()).toEqual(['1.00', '1.00', '1.00', '1.00']);
  expect(errors).toEqual([]);
});

test('heads that are switched off change the outcome as on the command line', { timeout: 120_000 }, async () => {
  const folder = trainedFolder();
  const model = ['model.safetensors', 'config.json', 'tokenizer.json'].map((name) => join(folder, name));
  const text = 'the whale';
  const { page, errors } = await visit(browser, `${host.address}#model?reading=${encodeURIComponent(text)}`);
  await openModel(page, model);
  await settled(page, 'wall');
  const off = (ablate: string, ablation = 'zero', level = 4) =>
    json('attend', { text, ablate, ablation, ablation_level: level }, folder);
  const words = page.locator('[data-worth-words]');
  await page.locator('[data-head-select]').selectOption('0.1');
  await page.locator('[data-action="ablate"]').click();
  const loss = (it: number) => String(Number(it.toPrecision(3)));
  const one = off('0.1');
  await words.filter({ hasText: `Loss of this text: ${loss(one.loss)}` }).waitFor();
  await words.filter({ hasText: `${loss(one.loss_without)} without layer 0, head 1` }).waitFor();
  const rows = page.locator('[data-worth] tbody tr');
  expect(await rows.count()).toBe(one.predictions.length);
  const first = await rows.first().locator('td').allTextContents();
  const [{ probability, probability_without: without }] = one.predictions;
  expect(first.map(Number)).toEqual([probability, without].map((it: number) => Number(it.toFixed(3))));

  await page.locator('[data-head-select]').selectOption('1.0');
  await page.locator('[data-action="ablate"]').click();
  await page.locator('#model [data-control="ablation"] label', { hasText: 'previous token' }).click();
  const two = off('0.1,1.0', 'previous');
  await words.filter({ hasText: `${loss(two.loss_without)} without heads 0.1, 1.0` }).waitFor();
  expect(new URL(page.url()).hash).toContain('ablate=0.1,1.0');

  await page.locator('#model [data-control="ablation"] label', { hasText: 'prediction of a level' }).click();
  await page.locator('#field-model-ablation_level').fill('5');
  await page.locator('#field-model-ablation_level').press('Enter');
  const predicted = off('0.1,1.0', 'predicted', 5);
  await words.filter({ hasText: `${loss(predicted.loss_without)} without heads 0.1, 1.0` }).waitFor();
  expect(predicted.loss_without).not.toBe(off('0.1,1.0', 'predicted', 2).loss_without);
  await page.locator('#model [data-control="ablation"] label', { hasText: 'previous token' }).click();

  await page.locator('[data-action="worth"]').click();
  const each = off('each', 'previous').heads as { loss_change: number }[];
  await expect
    .poll(async () => (await csv(page, 'wall')).map((row) => row.loss_change).filter(Boolean).length)
    .toBe(each.length);
  (await csv(page, 'wall')).forEach((row, i) => expect(Number(row.loss_change)).toBeCloseTo(each[i].loss_change, 4));
  expect(errors).toEqual([]);
});

/** Counts what the page asks of `attend`, into `window.attends`. Runs in the page. */
function countAttends(): void {
  const post = Worker.prototype.postMessage;
  const seen = Object.assign(window, { attends: 0 });
  Worker.prototype.postMessage = function (this: Worker, message, options) {
    if (message.kind === 'run' && message.job === 'attend') seen.attends++;
    post.call(this, message, options as StructuredSerializeOptions);
  };
}

test('a model runs once on a sentence, twice where it has no outcome', { timeout: 120_000 }, async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?reading=the+whale`);
  await page.evaluate(countAttends);
  const attends = () => page.evaluate(() => (window as unknown as { attends: number }).attends);
  const [model, ...beside] = trainedModel(LLAMA);
  await openModel(page, [model!, ...beside]);
  const words = page.locator('[data-worth-words]');
  await words.filter({ hasText: /^Loss of this text: .* Most probable next tokens:$/ }).waitFor();
  await settled(page, 'wall');
  await settled(page, 'head-text');
  expect(await attends()).toBe(1);

  const biased = { ...model!, buffer: withBias(model!.buffer) };
  await openModel(page, [biased, ...beside]);
  await words.filter({ hasText: 'models of the family LLaMA have no such bias' }).waitFor();
  await settled(page, 'head-text');
  expect(await attends()).toBe(3);
  expect((await csv(page, 'wall')).length).toBe(8);
  expect(errors).toEqual([]);
});

/** A checkpoint with a bias of the map to the next token. */
function withBias(file: Buffer): Buffer {
  const start = 8 + Number(file.readBigUInt64LE());
  const header = JSON.parse(file.subarray(8, start).toString());
  const [count] = header['model.embed_tokens.weight'].shape;
  const end = file.length - start;
  header['lm_head.bias'] = { dtype: 'F32', shape: [count], data_offsets: [end, end + 4 * count] };
  const text = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([size, text, file.subarray(start), Buffer.alloc(4 * count)]);
}

test('two handles change the spectrum of a head as the command line does', { timeout: 120_000 }, async () => {
  const folder = trainedFolder();
  const text = 'the whale';
  const { page, errors } = await visit(
    browser,
    `${host.address}#model?reading=the+whale&added_mean=0.5&figure=surgery`,
  );
  const figure = page.locator('#figure-surgery');
  await figure.locator('[data-surgery-note]', { hasText: 'needs the weights' }).waitFor();
  const model = ['model.safetensors', 'config.json', 'tokenizer.json'].map((name) => join(folder, name));
  await openModel(page, model);
  await page.locator('[data-head-select]').selectOption('1.2');
  const asked = {
    file: 'web/generated/text.txt',
    length: TRAINED_LENGTH,
    passages: 8,
    queries: 300,
    head: '1.2',
    text,
  };
  const expectDoses = async (doses: object) => {
    const { rows, tokens } = json('edit-head', { ...asked, ...doses }, folder);
    const shown = async () => Number((await csv(page, 'surgery')).at(-1)!.measured_entropy);
    await expect.poll(shown, { timeout: 30_000 }).toBeCloseTo(rows[1].measured_entropy, 4);
    for (const [i, row] of (await csv(page, 'surgery')).entries()) {
      for (const [name, value] of Object.entries(row)) {
        if (name !== 'head') expect(Number(value)).toBeCloseTo(rows[i][name], 4);
      }
    }
    expect(await figure.locator('[data-mark="y-axis tick label"] text').count()).toBe(tokens.length);
  };
  await expectDoses({ added_mean: 0.5 });
  await enter(page.locator('#field-model-shrunk'), '0.8');
  await expectDoses({ added_mean: 0.5, shrunk: 0.8 });
  await page.setViewportSize({ width: 390, height: 844 });
  const overflows = () =>
    figure
      .locator('.tools')
      .evaluate((it) => Math.max(...[...it.children].map((own) => own.scrollWidth - it.clientWidth)));
  await expect.poll(overflows).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 900 });
  await enter(page.locator('#field-model-shrunk'), '3');
  await page
    .locator('#model [data-control="shrunk"] .error', { hasText: /must be a number from .10 to 1: found 3/ })
    .waitFor();
  expect(errors).toEqual([]);

  await openModel(page, trainedModel(LLAMA));
  await figure.locator('.message', { hasText: 'rotary positions give each distance another one' }).waitFor();
});

test('any column of the table is plotted against any other, and passages are listed, from a long text', async () => {
  const folder = trainedFolder();
  const { page, errors } = await visit(browser, `${host.address}#model?passages=2`);
  const model = ['model.safetensors', 'config.json', 'tokenizer.json'].map((name) => join(folder, name));
  await openModel(page, model);
  await settled(page, 'scatter');
  await page.locator('[data-axis="scatter_y"]').selectOption('induction');
  await page.locator('[data-axis="scatter_x"]').selectOption('duplicate_token');
  await page.waitForFunction(() => location.hash.includes('scatter_x=duplicate_token'));
  await expect.poll(() => caption(page, 'scatter')).toMatch(/^8 heads of .*Duplicate-token score:/);
  const rows = await csv(page, 'scatter');
  expect(Object.keys(rows[0])).toEqual(['layer', 'head', 'duplicate_token', 'induction']);
  // The name of the vertical axis stands above the legend.
  const boxes = await page.locator('#figure-scatter svg').evaluate((svg) => {
    const boxOf = (words: string) =>
      [...svg.querySelectorAll('text')].find((it) => it.textContent.includes(words))!.getBoundingClientRect();
    return [boxOf('↑').bottom, boxOf('Layer, ').top];
  });
  expect(boxes[0]).toBeLessThanOrEqual(boxes[1]!);
  expect(rows.every((row) => Number(row.duplicate_token) >= 0 && Number(row.duplicate_token) <= 1)).toBe(true);

  await page.locator('[data-head-select]').selectOption('1.2');
  await page.locator('[data-firing-head]', { hasText: 'layer 1, head 2' }).waitFor();
  const text = { file: 'web/generated/text.txt', length: TRAINED_LENGTH, passages: 2, largest_weights: 4 };
  const found = json('attend', text, folder);
  const weights = found.largest_weights.filter(
    (it: { layer: number; head: number }) => it.layer === 1 && it.head === 2,
  );
  expect(weights).toHaveLength(2);
  const listed = await page
    .locator('[data-firing] li')
    .evaluateAll((items) =>
      items.map((item) => ['b', 'u', 'mark'].map((name) => item.querySelector(name)!.textContent)),
    );
  const token = (passage: number, at: number) => found.passages[passage].tokens[at].replaceAll('Ġ', ' ');
  const expected = weights.map(({ passage, query, key, weight }: Record<string, number>) => [
    weight.toFixed(2),
    ...[query, key].map((at) => token(passage, at).trim() || token(passage, at)),
  ]);
  expect(listed).toEqual(expected);

  // Distance and sink are of those passages too.
  await page.locator('[data-axis="scatter_x"]').selectOption('distance');
  await page.locator('[data-axis="scatter_y"]').selectOption('sink');
  await expect.poll(() => caption(page, 'scatter')).toMatch(/^8 heads of .*Distance: .*Sink: /);
  for (const row of await csv(page, 'scatter')) {
    const [head] = found.heads.filter(
      (it: Record<string, number>) => it.layer === Number(row.layer) && it.head === Number(row.head),
    );
    for (const name of ['distance', 'sink']) expect(Number(row[name])).toBeCloseTo(head[name], 4);
  }
  expect(errors).toEqual([]);
});

test('an unknown model type is refused, and the heads stay', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await openModel(page, trainedModel());
  await enter(page.locator('#field-model-model_type'), 'nonsense');
  await page.locator('[data-problem]', { hasText: 'nonsense' }).waitFor();
  expect(await page.locator('[data-report]').textContent()).toContain('8 heads');
});

test('the link of a sentence of an own model shows its matrix without the model, until another head is chosen', async () => {
  const { page } = await visit(browser, `${host.address}#model?reading=the+whale`);
  await openModel(page, trainedModel());
  await page.locator('[data-head-select]').selectOption('1.2');
  await settled(page, 'head-text');
  const figure = page.locator('#figure-head-text');
  const { link } = JSON.parse((await exported(page, 'head-text', 'json')).toString());
  expect(link).toContain('&matrix=');
  const sent = await csv(page, 'head-text');
  /** The copied links for the present sentence and, before it is read, for another one. */
  const [copied, early] = await page.evaluate(() => {
    const texts: string[] = [];
    navigator.clipboard.writeText = async (given) => void texts.push(given);
    const copy = () => document.querySelector<HTMLElement>('#model [data-action="copy"]')!.click();
    copy();
    const sentence = document.querySelector<HTMLInputElement>('#field-model-reading')!;
    sentence.value = 'a white whale';
    for (const type of ['input', 'change']) sentence.dispatchEvent(new Event(type, { bubbles: true }));
    copy();
    return texts;
  });
  expect(copied.replace('&figure=head-text', '')).toBe(link.replace('&figure=head-text', ''));
  expect(early).toContain('reading=a+white+whale');
  expect(early).not.toContain('matrix');

  const { page: other, errors } = await visit(browser, link, { settle: false });
  await other
    .locator('#figure-head-text [data-live]', { hasText: 'From the link, not computed here' })
    .waitFor(ATTACHED);
  const got = await csv(other, 'head-text');
  expect(got.map(({ token }) => token)).toEqual(sent.map(({ token }) => token));
  got.forEach((row, query) => {
    for (let key = 1; key <= got.length; key++) {
      const [a, b] = [row, sent[query]].map((it) => Math.sqrt(Number(it[`key_${key}`])));
      expect(Math.abs(a - b)).toBeLessThan(0.51 / 63);
    }
  });
  await other.locator('[data-head-select]').selectOption('0.2');
  await other.waitForFunction(() => !location.hash.includes('matrix'));
  expect(errors).toEqual([]);

  await go(other, `#model?reading=a&matrix=${'_'.repeat(4)}.a%0Ab`);
  await other
    .locator('[data-link-notice]', { hasText: 'Not allowed, the current value is kept: Attention matrix' })
    .waitFor();
  expect(await figure.isVisible()).toBe(true);
});
