import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { safetensorsOf, WHISPER, WHISPER_CONFIG } from '../checkpoints';
import { EXAMPLES, KINDS } from '../../web/chapters/model/patterns/patterns';
import { json, root } from '../cli/eigenscope';
import { browser, caption, checkpoint, csv, go, host, openBrowser, openTable, settled, visit } from './browser';
import { enter, openModel, pickModel, picked } from './gestures';
import { ALL, column, number, said } from './heads';
import { trainedModel } from './trained';

openBrowser();

test('a folder is opened, and its text read as the command line reads it', { timeout: 180_000 }, async () => {
  const { page, errors, foreign } = await visit(browser, `${host.address}#model?passages=2&tokens_source=text`);
  await page.locator('[data-folder]').setInputFiles(checkpoint);
  await page.locator('[data-report]', { hasText: '72 heads of model:' }).waitFor();
  const predictors = page.locator('#figure-predictors');
  await predictors.scrollIntoViewIfNeeded();
  await said(page, 'predictors', /72 heads of model: rank/, 120_000);
  const { summary, measured_entropy, entropy } = json(
    'predict',
    { file: `${root}web/generated/text.txt`, passages: 2, queries: 300 },
    checkpoint,
  );
  for (const level of [0, 1, 4, 7]) {
    await enter(page.locator('#field-model-level'), String(level));
    await said(page, 'predictors', `Level ${level} of 10`);
    const numbers = /rank correlation (\S+) \[(\S+), (\S+)\], mean absolute error (\S+) /.exec(
      (await caption(page, 'predictors')) ?? '',
    );
    const row = summary[level];
    const terminal = [
      row.entropy_rank_correlation,
      row.entropy_rank_correlation_low,
      row.entropy_rank_correlation_high,
      row.entropy_mean_absolute_error,
    ];
    terminal.forEach((value, i) => expect(Number(numbers?.[i + 1])).toBeCloseTo(value, 2));
  }
  const rows = await csv(page, 'predictors');
  expect(rows).toHaveLength(72);
  rows.forEach((row, i) => {
    expect(Number(row.measured)).toBeCloseTo(measured_entropy[i], 3);
    expect(Number(row.level_7)).toBeCloseTo(entropy[i][7], 3);
  });
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
});

test('a typed text is read by every head', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await openModel(page, ALL);
  const figure = page.locator('#figure-head-text');
  await figure.scrollIntoViewIfNeeded();
  await enter(page.locator('#field-model-reading'), 'The whale swam.');
  await page.locator('[data-head-select]').selectOption('3.7');
  await said(page, 'head-text', 'layer 3, head 7 on 6 tokens');
  const { heads, weights } = json('attend', { text: 'The whale swam.' }, checkpoint, '--weights');
  const text = await caption(page, 'head-text');
  const terminal = heads[3 * 12 + 7];
  for (const [name, key] of [
    ['entropy', 'entropy'],
    ['mean distance', 'distance'],
    ['sink', 'sink'],
    ['measured localization', 'localization'],
  ]) {
    const value = new RegExp(`${name} ([\\d.]+)`).exec(text ?? '')?.[1].replace(/\.$/, '');
    expect(Number(value)).toBeCloseTo(terminal[key], 2);
  }
  const rows = await csv(page, 'head-text');
  expect(rows.map((row) => row.token)).toEqual(['[CLS]', 'the', 'whale', 'swam', '.', '[SEP]']);
  rows.forEach((row, query) => {
    const own: number[] = weights[3 * 12 + 7].weights[query];
    expect(own).toHaveLength(6);
    own.forEach((weight, key) => expect(Number(row[`key_${key + 1}`])).toBeCloseTo(weight, 4));
  });
  await expect.poll(async () => (await column(page, 'Entropy, text')).length).toBe(72);
  await enter(page.locator('#field-model-reading'), 'whale '.repeat(200));
  await page.locator('[data-head-words]', { hasText: 'only its first 128 tokens are read' }).waitFor();
});

test('the sample reads any sentence, once its weights are asked for', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const text = 'The whale swam away.';
  await enter(page.locator('#field-model-reading'), text);
  const notice = page.locator('[data-of-sample]');
  await notice.getByText('Shown is the attention on “When does attention localize?”').waitFor();
  expect(asked.filter((path) => path.endsWith('.safetensors'))).toEqual([]);
  await notice.getByRole('button').click();
  await said(page, 'head-text', 'layer 0, head 2 on 7 tokens');
  expect(await notice.isVisible()).toBe(false);
  const { heads } = json('attend', { text }, checkpoint);
  const [, entropy] = /entropy ([\d.]+)/.exec((await caption(page, 'head-text')) ?? '')!;
  expect(Number(entropy)).toBeCloseTo(heads[2].entropy, 3);
  expect(errors).toEqual([]);
});

test('without tokenizer.json the spectra are there, and what is missing is named', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await openModel(page, ALL.slice(0, 2));
  const notice = page.locator('[data-no-text]', { hasText: 'tokenizer.json is not among the files' });
  await notice.waitFor();
  expect(await notice.textContent()).toContain('“Supported files and models”');
  expect(await page.locator('[data-ask]').isVisible()).toBe(false);
  for (const id of ['predictors', 'head-text', 'head-distance'] as const) {
    expect(await page.locator(`details:has(> #figure-${id}), #figure-${id}`).first().isVisible()).toBe(false);
    expect(await page.locator(`#model .contents [href="#figure-${id}"]`).isVisible()).toBe(false);
  }
  expect(await csv(page, 'head-spectra')).toHaveLength(72 * 32);
  await expect.poll(() => page.locator('[data-head-table] tbody tr').count()).toBe(72);
  await openModel(page, ALL);
  await settled(page, 'head-text');
  expect(await notice.isVisible()).toBe(false);
});

test('a model of a family that reads no text says which do', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await pickModel(page, [
    picked('model.safetensors', safetensorsOf(WHISPER)),
    picked('config.json', WHISPER_CONFIG),
    picked('tokenizer.json', readFileSync(join(checkpoint, 'tokenizer.json'))),
  ]);
  await page.locator('[data-no-text]', { hasText: 'This model cannot be run on text' }).waitFor();
  await page.locator('[data-action="ablate"]').waitFor({ state: 'hidden' });
  expect(await page.locator('#figure-head-text').isVisible()).toBe(false);
  await expect.poll(() => page.locator('[data-picks] button').filter({ visible: true }).count()).toBe(0);
  expect(errors).toEqual([]);
});

test('heads are measured on opening, and those that stand out are one click away', async () => {
  const { page } = await visit(browser, `${host.address}#model?passages=2&columns=text_sink`);
  await openModel(page, trainedModel());
  const pick = (name: string) => page.locator('[data-picks] button', { hasText: name });
  const known = async () => (await column(page, 'Entropy measured')).filter((it) => it !== '');
  await expect.poll(known, { timeout: 60_000 }).toHaveLength(8);
  const entropies = (await known()).map(number);
  const sinks = (await column(page, 'Sink, text')).map(number);
  const chosen = () =>
    page.locator('[data-head-table] tbody tr').evaluateAll((list) => list.findIndex((it) => it.ariaCurrent === 'true'));
  await expect.poll(() => pick('Sharpest').textContent()).toMatch(/^Sharpest: layer \d, head \d$/);
  await pick('Sharpest').click();
  await expect.poll(async () => entropies[await chosen()]).toBe(Math.min(...entropies));
  await pick('Most uniform').click();
  await expect.poll(async () => entropies[await chosen()]).toBe(Math.max(...entropies));
  await pick('Largest sink').click();
  await expect.poll(async () => sinks[await chosen()]).toBe(Math.max(...sinks));
  await pick('Least explained').click();
  await expect
    .poll(() => caption(page, 'head-text'))
    .toMatch(/On the passages of figure \d+: entropy \S+, \S+ predicted at level 4/);
  await page.locator('[data-picks] [aria-pressed="true"]', { hasText: 'Least' }).waitFor();
  await openTable(page);
  const boxOf = (it: string) => page.locator(`[data-head-table] ${it}`).boundingBox();
  await expect
    .poll(async () => {
      const [row, place] = [await boxOf('tr[aria-current="true"]'), await boxOf('.rows-scroll')];
      return row!.y >= place!.y && row!.y + row!.height <= place!.y + place!.height;
    })
    .toBe(true);
});

test('a link about a text or model that is not at hand says so, and keeps the picture of the sample', async () => {
  const { page } = await visit(browser, `${host.address}#model?reading=Whales+swim`);
  const figure = page.locator('#figure-head-text');
  const notice = page.locator('[data-of-sample]', { hasText: 'Shown is the attention on' });
  await notice.waitFor();
  expect(await caption(page, 'head-text')).toContain('on 8 tokens');
  expect(await figure.locator('.chart > svg').count()).toBe(1);
  await page.locator('#field-model-reading').fill('When does attention localize');
  expect(await figure.locator('.chart > svg').count()).toBe(1);
  await page.locator('#field-model-reading').fill('When does attention localize?');
  await notice.waitFor({ state: 'hidden' });
  await page.goto('about:blank');
  await page.goto(`${host.address}#model?model=llama-small&head=file:3.1&reading=Whales+swim`);
  const elsewhere = figure.locator('.message', {
    hasText: 'head 3.1 (layer.head) of “llama-small”, which is not open',
  });
  await elsewhere.waitFor();
  expect(await figure.locator('.chart svg').count()).toBe(0);
  const box = await elsewhere.boundingBox();
  expect(box?.y).toBeLessThan(700); // no empty place above it
  await page.locator('[data-head-select]').selectOption('2.3'); // of the sample
  await notice.waitFor();
  // Copied where the sample's weights were loaded: here the sentence waits for them.
  await go(page, 'model?model=all-MiniLM-L6-v2&head=file:3.1&reading=Whales+sleep');
  await notice.waitFor();
  expect(await figure.locator('.chart > svg').count()).toBe(1);
  expect(await page.locator('[data-head-words]').textContent()).not.toContain('not the model that is open');
});

test('the link names the model that is open, and the page one that is another', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await openModel(page, trainedModel());
  expect(await page.locator('[data-report]').textContent()).toMatch(/read \d+ of \d+ kB in/);
  await page.waitForFunction(() => location.hash.includes('model=model.safetensors'));
  await said(page, 'head-text', 'entropy');
  const words = page.locator('[data-head-words]');
  expect(await words.textContent()).not.toContain('not the model that is open');
  await go(page, 'model?model=another&head=file:1.2');
  await words.filter({ hasText: 'The link is about “another”, which is not the model' }).waitFor();
  await go(page, 'localize?model=third');
  await page.locator('[data-link-notice]', { hasText: 'The link is about “third”, which is not the' }).waitFor();
});

test('what the chosen head does is said in words, and the terms of table and caption are explained', async () => {
  const { page } = await visit(browser, `${host.address}#model`, { viewport: { width: 1280, height: 800 } });
  await settled(page, 'head-text');
  const words = page.locator('[data-head-words]');
  await page.locator('[data-head-select]').selectOption('0.2');
  const oneHot = /^100% of its attention goes to the previous token .* On this text the head is nearly one-hot/;
  await words.filter({ hasText: oneHot }).waitFor();
  await page.locator('[data-head-select]').selectOption('0.0');
  await words.filter({ hasText: 'On this text the head is nearly uniform' }).waitFor();
  const said = Number(/entropy ([\d.]+)\)/.exec((await words.textContent())!)?.[1]);
  expect(await caption(page, 'head-text')).toContain(`entropy ${said},`);
  await openTable(page);
  await page.getByText('Columns, selection and filter').click();
  const titles = await page.locator('.head-table th').allTextContents();
  const explained = await page.locator('[data-columns] dt:visible').allTextContents();
  expect(explained).toEqual(expect.arrayContaining(titles));
  await page.locator('#figure-head-text summary', { hasText: 'Details' }).click();
  await page.locator('.bench-head dt', { hasText: /^Sink$/ }).waitFor();
});

test('the chapter opens on a typical head, and each sentence chooses a head with another pattern', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await settled(page, 'head-text');
  const title = page.locator('#title-head-text');
  await title.filter({ hasText: 'Layer 0, head 2 attends to the previous token' }).waitFor();
  const titles = [await title.textContent()];
  for (const { name, reading, find } of EXAMPLES.slice(1)) {
    await page.locator('[data-examples] button', { hasText: name }).click();
    await expect.poll(() => page.locator('#field-model-reading').inputValue()).toBe(reading);
    await expect.poll(() => title.textContent()).not.toBe(titles.at(-1));
    titles.push(await title.textContent());
    if (find !== 'all') expect(titles.at(-1)).toContain(`attends to ${KINDS[find].keys}`);
    expect(await page.locator('[data-examples] [aria-pressed="true"]').allTextContents()).toEqual([name]);
    expect(await page.locator('#figure-head-text .message').textContent()).toBe('');
    const rows = await csv(page, 'head-text');
    expect(rows.length).toBeGreaterThan(reading.split(' ').length);
  }
  // Ready to type over.
  const field = page.locator('#field-model-reading');
  await field.focus();
  await page.keyboard.type('A');
  expect(await field.inputValue()).toBe('A');
  expect(errors).toEqual([]);
});

test('a sentence chooses the head of an opened model that shows it most', async () => {
  const { page } = await visit(browser, `${host.address}#model?passages=1&columns=text_sink`);
  await openModel(page, trainedModel());
  await page.locator('[data-examples] button', { hasText: 'Attention sink' }).click();
  await page.waitForFunction(() => location.hash.includes('head=file:'));
  const firsts = (await column(page, 'Sink, text')).map(number);
  const at = await page
    .locator('[data-head-table] tbody tr')
    .evaluateAll((list) => list.findIndex((it) => it.ariaCurrent));
  expect(firsts[at]).toBe(Math.max(...firsts)); // no tokens besides the first are sinks
});

test('the pane of the chosen head neither scrolls by itself nor cuts its caption', async () => {
  const viewport = { width: 1280, height: 800 };
  const { page } = await visit(browser, `${host.address}#model`, { viewport });
  await settled(page, 'head-text');
  const pane = page.locator('.bench-head');
  expect(await pane.evaluate((it) => getComputedStyle(it).overflowY)).toBe('visible');
  const ends = () => pane.evaluate((it) => [it.getBoundingClientRect().top, it.getBoundingClientRect().bottom]);
  await page.evaluate(() => scrollTo({ top: 1200, behavior: 'instant' }));
  await expect.poll(async () => (await ends())[0]).toBeGreaterThanOrEqual(45); // below the bar of tabs
  expect((await ends())[1]).toBeLessThanOrEqual(800);
  // With its details it is higher than the screen: their end stays in sight.
  await pane.locator('summary', { hasText: 'Details' }).click();
  await expect.poll(async () => Math.abs((await ends())[1] - 800)).toBeLessThan(40);
});

test('a table that goes on to the right says so, until its end is in sight', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await openTable(page);
  const sign = page.getByText('More columns to the right');
  await sign.waitFor();
  await page.locator('.rows-scroll').evaluate((it) => it.scrollTo({ left: it.scrollWidth }));
  await expect.poll(() => sign.isVisible()).toBe(false);
});

test('the picture of a head and the line below it are on the first screen', async () => {
  const viewport = { width: 1280, height: 800 };
  const { page } = await visit(browser, `${host.address}#model`, { viewport });
  await settled(page, 'head-text');
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  const bottom = async () => {
    const box = await page.locator('#figure-head-text .cell-line').boundingBox();
    return box!.y + box!.height;
  };
  await expect.poll(bottom).toBeLessThanOrEqual(800);
});

test('a file that is dragged over the window is answered over all of it', async () => {
  const { page } = await visit(browser, host.address);
  const overlay = page.locator('.drop-overlay');
  expect(await overlay.isVisible()).toBe(false);
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['{}'], 'config.json'));
    document.body.dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }));
  });
  await overlay.waitFor();
  const box = await overlay.boundingBox();
  expect(box).toMatchObject({ x: 0, y: 0, height: 900 });
  await page.evaluate(() => dispatchEvent(new DragEvent('dragleave')));
  await expect.poll(() => overlay.isVisible()).toBe(false);
});
