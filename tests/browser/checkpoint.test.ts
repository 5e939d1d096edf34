import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test, onTestFinished } from 'vitest';
import { LLAMA, LLAMA_CONFIG, safetensorsOf, shardsOf, waves, WHISPER, WHISPER_CONFIG } from '../checkpoints';
import { EXAMPLES, KINDS } from '../../web/chapters/model/patterns/patterns';
import { modelView } from '../../web/chapters/model/state';
import type { FigureId } from '../../web/ui/registry';
import { json, root, temporaryFolder } from '../cli/eigenscope';
import {
  browser,
  caption,
  checkpoint,
  csv,
  go,
  host,
  openBrowser,
  openTable,
  saved,
  settled,
  showInLead,
  showView,
  visit,
} from './browser';
import { enter, openModel, pickModel, picked } from './gestures';
import { trainedModel } from './trained';

openBrowser();

const files = (...names: string[]) => names.map((name) => join(checkpoint, name));
const ALL = files('model.fp16.safetensors', 'config.json', 'tokenizer.json');

/** Waits until the numbers in a figure's details say something. */
async function said(page: Page, id: FigureId, text: string | RegExp, timeout = 30_000): Promise<void> {
  await page.locator(`#figure-${id} [data-live]`, { hasText: text }).waitFor({ state: 'attached', timeout });
}

/** The cells below a title, read at once: a model that arrives changes the columns. */
function column(page: Page, title: string): Promise<string[]> {
  return page.evaluate((title) => {
    const texts = (cells: string) =>
      [...document.querySelectorAll(`[data-head-table] ${cells}`)].map((it) => it.textContent);
    return texts(`td:nth-child(${texts('th').indexOf(title) + 1})`);
  }, title);
}

const number = (text: string) => Number(text.replace('−', '-').replace(/·10.*/, 'e-5'));

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
    ['sink score', 'sink'],
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
  expect(await page.locator('#figure-head-text').isVisible()).toBe(false);
  await expect.poll(() => page.locator('[data-picks] button').filter({ visible: true }).count()).toBe(0);
  expect(errors).toEqual([]);
});

test('heads are measured on opening, and those that stand out are one click away', async () => {
  const { page } = await visit(browser, `${host.address}#model?passages=2`);
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
  await page.locator('.bench-head dt', { hasText: 'Sink score' }).waitFor();
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
  const { page } = await visit(browser, `${host.address}#model?passages=1`);
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

test('optional columns are chosen, kept in the link, and the limit of QK-Clip divides the bound', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?columns=symmetry`);
  const titles = () => page.locator('[data-head-table] th').allTextContents();
  await openTable(page);
  await expect.poll(titles).toContain('Symmetry');
  expect(await titles()).not.toContain('Logit bound');
  const row = await page.locator('[data-head-table] tbody tr').first().elementHandle();
  await page.getByText('Columns, selection and filter').click();
  for (const title of ['Logit bound', 'QK-Clip headroom']) await page.getByLabel(title, { exact: true }).check();
  await page.waitForFunction(() => location.hash.includes('columns=symmetry,logit_bound,headroom'));
  const { heads } = json('heads', { qk_clip: 50 }, checkpoint);
  await enter(page.locator('#field-model-qk_clip'), '50');
  const shown = async (title: string) => (await column(page, title)).map(number);
  await expect.poll(async () => (await shown('QK-Clip headroom'))[0]).toBeCloseTo(heads[0].headroom, 3);
  expect((await shown('Logit bound'))[0]).toBeCloseTo(heads[0].logit_bound, 0);
  expect((await shown('Symmetry'))[0]).toBeCloseTo(2 * heads[0].symmetric_share - 1, 3);
  // New rows at each partial result would take 100 MB of a model with a thousand heads.
  expect(await row!.evaluate((it) => it.isConnected)).toBe(true);
  await go(page, '#model?columns=nonsense');
  await page.locator('[data-table-problem]', { hasText: "found 'nonsense'" }).waitFor();
  expect(errors).toEqual([]);
});

test('with another model open no caption names the sample, and the sentences above the table are its own', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  const diagnosis = page.locator('[data-diagnosis]');
  const { length, tokens } = modelView.defaults;
  const isLocalized = (head: { signal: string }) => head.signal === 'localized';
  const sample = json('heads', { length, tokens }, checkpoint).heads.filter(isLocalized).length;
  await diagnosis.filter({ hasText: `alone that ${sample} of 72 heads localize` }).waitFor();
  const captions = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('#model figcaption, #model .lede')]
        .filter((it) => !it.closest('[hidden]'))
        .map((it) => {
          const copy = it.cloneNode(true) as HTMLElement;
          for (const part of copy.querySelectorAll('[hidden]')) part.remove();
          return copy.textContent;
        })
        .join(' '),
    );
  expect(await captions()).toContain('MiniLM');
  const [weights, config] = trainedModel();
  await openModel(page, [weights, config]);
  await expect.poll(captions).not.toContain('MiniLM');
  expect(await captions()).toContain('open model');
  await expect.poll(() => diagnosis.textContent()).not.toContain('of 72 heads');
});

test('the table is sorted, filtered and gone through by keys', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await openTable(page);
  const sort = page.locator('[data-sort="frobenius"]');
  for (const [direction, sign] of [
    ['descending', -1], // large variances are looked for
    ['ascending', 1],
  ] as const) {
    await sort.click();
    await page.locator(`th[aria-sort="${direction}"] [data-sort="frobenius"]`).waitFor();
    const values = (await column(page, 'Var. Frobenius')).map(number);
    expect(values).toHaveLength(72);
    expect(values).toEqual([...values].sort((a, b) => sign * (a - b)));
  }
  await page.waitForFunction(() => location.hash === '#model?order=frobenius');
  await page.locator('[data-sort="text_entropy"]').click();
  await page.locator('th[aria-sort="ascending"] [data-sort="text_entropy"]').waitFor(); // sharp heads first
  await enter(page.locator('#field-model-filter'), 'layer=3 head>=6');
  await page.locator('[data-table-status]', { hasText: '6 of 72 heads' }).waitFor();
  await expect.poll(async () => new Set(await column(page, 'Layer'))).toEqual(new Set(['3']));
  await page.locator('#field-model-filter').fill('depth=3');
  await page.locator('[data-table-problem]', { hasText: "found 'depth=3'" }).waitFor();
  await enter(page.locator('#field-model-filter'), '');

  const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset.row);
  const first = page.locator('[data-head-table] tbody tr').first();
  await first.focus();
  await page.keyboard.press('ArrowDown');
  const second = await focused();
  expect(second).toBe(await page.locator('tbody tr[data-row]').nth(1).getAttribute('data-row'));
  await page.keyboard.press('Enter');
  await page.locator(`tr[data-row="${second}"][aria-current="true"]`).waitFor();
  expect(await focused()).toBe(second);
  await page.keyboard.press('Space');
  await page.locator(`tr[data-row="${second}"][aria-selected="true"]`).waitFor();
  await page.keyboard.press('End');
  expect(await focused()).toBe(await page.locator('tbody tr[data-row]').nth(71).getAttribute('data-row'));
});

test('brushed heads stay clear in every figure', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await settled(page, 'predictors');
  const clear = (id: string) =>
    page
      .locator(`#figure-${id} [data-mark="heads of the sample"] circle`)
      .evaluateAll((dots) => dots.filter((it) => it.getAttribute('opacity') === '1').length);
  expect(await clear('predictors')).toBe(72);
  await page.locator('#figure-predictors .chart svg').hover();
  const box = await page.locator('#figure-predictors .chart svg').boundingBox();
  if (!box) throw new Error('the figure has no place');
  await page.mouse.move(box.x + 0.2 * box.width, box.y + 0.5 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.7 * box.width, box.y + 0.9 * box.height, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes('brush='));
  const places = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('brush')?.split(',');
  const count = places?.length ?? 0;
  expect(count).toBeGreaterThan(2);
  expect(count).toBeLessThan(72);
  expect(new URL(page.url()).hash).not.toContain('head=sample'); // no head was chosen on the way
  await expect.poll(() => clear('predictors')).toBe(count);
  await expect.poll(() => page.locator('[data-head-table] tr[aria-selected="true"]').count()).toBe(count);
  await showInLead(page, 'heads');
  for (const id of ['phase-map', 'lead'] as const) {
    await settled(page, id);
    await expect.poll(() => clear(id)).toBe(count);
  }
  await showView(page, 'model');
  await openTable(page);
  await page.locator('[data-action="brush-none"]').click();
  await settled(page, 'predictors');
  await expect.poll(() => clear('predictors')).toBe(72);
});

test('a head is chosen in the small spectra', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await settled(page, 'head-spectra');
  const cell = page.locator('#figure-head-spectra [data-mark="heads"] rect').nth(2 * 12 + 5);
  const box = await cell.boundingBox();
  if (!box) throw new Error('the head has no place');
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => location.hash === '#model?head=sample:2.5');
  const row = page.locator('[data-row="sample:2.5"]');
  await expect.poll(() => row.getAttribute('aria-current')).toBe('true');
});

test('predictions can be stopped, and started again', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await openModel(page, ALL);
  await page.locator('#figure-predictors').scrollIntoViewIfNeeded();
  const button = page.locator('#figure-predictors .wait button');
  await page.locator('#figure-predictors .wait', { hasText: /^Computing for \d+ s; / }).waitFor();
  await button.click();
  await expect.poll(() => button.textContent()).toBe('Compute');
  await page.waitForTimeout(500);
  expect(await caption(page, 'predictors')).not.toContain('rank correlation');
  await button.click();
  await said(page, 'predictors', 'heads so far');
});

/** A checkpoint of GPT-2's kind with one layer of two heads, all weights multiples of `scale`. */
function tiny(scale: number): Buffer {
  const value = (i: number) => scale * (((7 * i) % 5) - 1);
  return safetensorsOf({
    'h.0.attn.c_attn.weight': { shape: [4, 12], value },
    'h.0.attn.c_attn.bias': { shape: [12], value },
  });
}

/** Texts that give no passages, and what is said of them. */
const UNREADABLE: [string, Buffer | string, string][] = [
  ['short.txt', 'a', 'passages must be at most those of the text: it has 0 of 64 tokens, and 2 are needed'],
  ['empty.txt', '', 'empty.txt: the text must have at least 1 byte: it has 0'],
  ['picture.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'picture.jpg: the text must be UTF-8'],
];

test('another text can be given, and one that is short, empty or binary is refused', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?passages=1`);
  await openModel(page, trainedModel());
  const figure = page.locator('#figure-predictors');
  await figure.scrollIntoViewIfNeeded();
  const give = (name: string, content: Buffer | string) =>
    page.locator('[data-predictors-text]').setInputFiles(picked(name, content));
  await said(page, 'predictors', 'of Moby Dick, first chapters, seed');
  const before = await caption(page, 'predictors');
  for (const [name, buffer, words] of UNREADABLE) {
    await give(name, buffer);
    await figure.locator('.message', { hasText: words }).waitFor();
    expect(await caption(page, 'predictors')).toBe(before); // nothing is replaced
    expect((await column(page, 'Entropy measured')).filter(Boolean)).toHaveLength(8);
  }
  await give('long.txt', 'A whale swam by. '.repeat(200));
  await said(page, 'predictors', 'of long.txt, seed');
  await expect.poll(() => figure.locator('.message').textContent()).toBe('');
  expect(errors).toEqual([]);
});

test('where a text is refused meanwhile, the heads of the text before are predicted to the end', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?passages=300`);
  await openModel(page, trainedModel());
  const figure = page.locator('#figure-predictors');
  await figure.scrollIntoViewIfNeeded();
  await page.locator('[data-predictors-text]').setInputFiles(picked('short.txt', 'a'));
  const words = 'passages must be at most those of the text';
  await figure.locator('.message', { hasText: words }).waitFor();
  await said(page, 'predictors', 'of Moby Dick, first chapters, seed');
  await expect.poll(async () => (await column(page, 'Entropy measured')).filter(Boolean).length).toBe(8);
  await figure.locator('.message', { hasText: words }).waitFor();
  expect(errors).toEqual([]);
});

test('several checkpoints are put side by side', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  expect(await page.locator('#figure-compare').isVisible()).toBe(false);
  await pickModel(page, [
    ...[1, 2, 3].map((scale) => picked(`step-${scale}.safetensors`, tiny(scale))),
    picked('config.json', '{"model_type": "gpt2", "n_head": 2}'),
  ]);
  await page.locator('[data-report]', { hasText: '2 heads of step-3.safetensors' }).waitFor();
  await settled(page, 'compare');
  const rows = await csv(page, 'compare');
  expect(rows).toHaveLength(2);
  for (const row of rows) expect(Number(row.mean)).toBeCloseTo(9 * Number(row.mean_before), 9);
  const slider = page.locator('[data-file-chooser] input');
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  const live = page.locator('#figure-compare [data-live]', { hasText: 'to step-2.safetensors' });
  await live.waitFor({ state: 'attached' }); // below Details
  const earlier = await csv(page, 'compare');
  expect(earlier).toHaveLength(2);
  for (const row of earlier) expect(Number(row.mean)).toBeCloseTo(4 * Number(row.mean_before), 9);
  // Over the standard deviation of two heads, |a - b| / sqrt(2).
  const [a, b] = earlier.map((row) => Number(row.mean_before));
  for (const row of earlier) {
    const change = Number(row.mean) - Number(row.mean_before);
    expect(Number(row.mean_drift)).toBeCloseTo((change * Math.SQRT2) / Math.abs(a - b), 6);
  }
  expect(await caption(page, 'compare')).toContain('Root-mean-square drift of a head');
  expect(await page.locator('[data-table-status]').textContent()).toContain('step-2.safetensors');
  expect(errors).toEqual([]);
});

test('shards with an index are one checkpoint, and a missing one is named', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const config = picked('config.json', LLAMA_CONFIG);
  const shards = shardsOf(LLAMA).map(({ name, buffer }) => picked(name, buffer));
  await pickModel(page, [...shards.slice(1), config]);
  await page.locator('[data-problem]', { hasText: `${shards[0].name}: it is missing` }).waitFor();
  await pickModel(page, [...shards, config]);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors.' }).waitFor();
  expect(await page.locator('#figure-compare').isVisible()).toBe(false);
  await expect.poll(() => page.locator('[data-head-table] tbody tr').count()).toBe(2); // drawn last
  expect(errors).toEqual([]);
});

test('shards of torch.save with their index are one checkpoint, and a missing one is named', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const file = (path: string) => readFileSync(`${root}tests/${path}`);
  const [first, second] = ['pytorch_model-00001-of-00002.bin', 'pytorch_model-00002-of-00002.bin'];
  const map = { 'embed_tokens.weight': first, 'a.weight': second };
  const given = [
    picked('pytorch_model.bin.index.json', JSON.stringify({ weight_map: map })),
    picked('config.json', '{"model_type": "llama", "num_attention_heads": 2}'),
    picked(first, file('torch/state_dict.bin')),
  ];
  await pickModel(page, given);
  await page.locator('[data-problem]', { hasText: `${second}: it is missing` }).waitFor();
  await pickModel(page, [...given, picked(second, file('fuzz/corpus/torch/small'))]);
  await page.locator('[data-report]', { hasText: '4 heads of pytorch_model.bin.index.json' }).waitFor();
  expect(await page.locator('[data-problem]').textContent()).toBe('');
  expect(errors).toEqual([]);
});

test('heads of several stacks keep their names', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await pickModel(page, [picked('model.safetensors', safetensorsOf(WHISPER)), picked('config.json', WHISPER_CONFIG)]);
  await page.locator('[data-report]', { hasText: '6 heads' }).waitFor();
  const stacks = ['encoder', 'decoder', 'cross'].flatMap((name) => [name, name]);
  await expect.poll(() => column(page, 'Stack')).toEqual(stacks);
  await openTable(page);
  await enter(page.locator('#field-model-filter'), 'stack=cross');
  await page.locator('[data-table-status]', { hasText: '2 of 6 heads' }).waitFor();
  await page.locator('[data-action="brush-rows"]').click();
  await page.waitForFunction(() => location.hash.includes('brush=cross.0.0,cross.0.1'));
  await page.locator('[data-table-status]', { hasText: '2 highlighted' }).waitFor();
  await page.locator('[data-row="file:cross.0.1"]').click();
  await page.waitForFunction(() => location.hash.includes('head=file:cross.0.1'));
  await showView(page, 'localize');
  await page.locator('[data-head-detail]', { hasText: 'cross layer 0, head 1' }).waitFor();
  const rows = await csv(page, 'head-spectra');
  expect(new Set(rows.map(({ stack }) => stack)).size).toBe(3);
  expect(errors).toEqual([]);
});

test('of several stacks of alike layers one is chosen, and another after it', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const stack = (name: string, seed: number) =>
    Object.entries(LLAMA).map(([tensor, { shape }], i) => [`${name}.${tensor}`, { shape, value: waves(seed + i) }]);
  const towers = safetensorsOf(Object.fromEntries([...stack('first', 1), ...stack('second', 10)]));
  await pickModel(page, [picked('model.safetensors', towers), picked('config.json', LLAMA_CONFIG)]);
  await page.locator('[data-problem]', { hasText: 'several stacks' }).waitFor();
  expect(await page.locator('[data-map-form]').isVisible()).toBe(false);
  const means = async (name: string) => {
    await page.getByRole('button', { name }).click();
    await page.locator(`[data-stacks] [aria-pressed="true"]`, { hasText: name }).waitFor();
    await page.locator('[data-report]', { hasText: '2 heads of model.safetensors: read' }).waitFor();
    expect(await page.locator('[data-problem]').textContent()).toBe('');
    return column(page, 'Mean');
  };
  const first = await means('first.model');
  expect(first).toHaveLength(2);
  await page.getByRole('button', { name: 'second.model' }).click();
  await expect.poll(() => column(page, 'Mean')).not.toEqual(first);
  expect(errors).toEqual([]);
});

test('a LoRA adapter beside its base shows heads with and without it, and what it changes', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const projection = 'model.layers.0.self_attn.q_proj';
  const adapter = safetensorsOf({
    [`base_model.model.${projection}.lora_A.weight`]: { shape: [1, 8], value: waves(5) },
    [`base_model.model.${projection}.lora_B.weight`]: { shape: [8, 1], value: waves(6) },
  });
  const rules = JSON.stringify({ peft_type: 'LORA', r: 1, lora_alpha: 2 });
  await openLlama(page);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
  await pickModel(page, [picked('adapter_model.safetensors', adapter), picked('adapter_config.json', rules)]);
  const name = 'model.safetensors with adapter';
  await page.locator('[data-report]', { hasText: `2 heads of ${name}` }).waitFor();
  await said(page, 'compare', 'changes 2 of 2 heads, by matrices of rank 1');

  const folder = temporaryFolder(onTestFinished);
  const write = (file: string, content: string | Buffer) => writeFileSync(join(folder, file), content);
  write('model.safetensors', safetensorsOf(LLAMA));
  write('config.json', LLAMA_CONFIG);
  write('adapter_model.safetensors', adapter);
  write('adapter_config.json', rules);
  const changed = join(folder, 'adapter_model.safetensors');
  const drift = json('head-drift', { changed }, join(folder, 'model.safetensors'));
  const rows = await csv(page, 'compare');
  expect(rows).toHaveLength(2);
  for (const [i, row] of rows.entries()) {
    expect(Number(row.mean_before)).toBeCloseTo(drift.heads[i].mean, 9);
    expect(Number(row.mean)).toBeCloseTo(drift.heads[i].mean_changed, 9);
    expect(Number(row.weight_distance)).toBeCloseTo(drift.heads[i].weight_distance, 9);
    expect(Number(row.change_rank)).toBe(1);
  }
  expect(errors).toEqual([]);
});

/** Opens the small LLaMA. */
async function openLlama(page: Page): Promise<void> {
  const weights = picked('model.safetensors', safetensorsOf(LLAMA));
  await pickModel(page, [weights, picked('config.json', LLAMA_CONFIG)]);
}

test('a change of the options reads the heads again, as the command line does', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?fold_gains=no`);
  const folder = temporaryFolder(onTestFinished);
  writeFileSync(join(folder, 'model.safetensors'), safetensorsOf(LLAMA));
  writeFileSync(join(folder, 'config.json'), LLAMA_CONFIG);
  const report = (text: string) => page.locator('[data-report]', { hasText: text }).waitFor();
  const expectMeans = async (options: Record<string, unknown>, ...flags: string[]) => {
    const { heads } = json('heads', options, folder, ...flags);
    const means = heads.map(({ mean }: { mean: number }) => mean);
    const file = await saved(page.locator('[data-action="table-json"]'));
    const { columns, rows } = JSON.parse(file.toString());
    expect(rows).toHaveLength(means.length);
    const place = columns.indexOf('mean');
    rows.forEach((row: number[], i: number) => expect(row[place]).toBeCloseTo(means[i], 9));
  };
  expect(await page.locator('[data-scan-options]').isVisible()).toBe(false);
  await openLlama(page);
  await report('Without norm gains; rotary heads at offset 0.');
  await expectMeans({ fold_gains: 'no' });
  await page.locator('[data-control="fold_gains"] label', { hasText: 'folded' }).click();
  await report('Norm gains included: input_layernorm; rotary');
  await enter(page.locator('#field-model-offset'), '3');
  await report('rotary heads at offset 3.');
  await page.waitForFunction(() => location.hash === '#model?offset=3&model=model.safetensors');
  await expectMeans({ offset: 3 });
  await page.locator('[data-control="offset_kind"] label', { hasText: 'average' }).click();
  await report('averaged over the offsets 0 to 47.');
  await expectMeans({ length: 48 }, '--average');
  await page.locator('[data-control="frame"] label', { hasText: 'embeddings' }).click();
  await report('with the covariance of the token embeddings');
  await expectMeans({ length: 48, frame: 'embeddings' }, '--average');
  await pickModel(page, [picked('model.safetensors', safetensorsOf(WHISPER)), picked('config.json', WHISPER_CONFIG)]);
  await page.locator('[data-control="frame"] .error', { hasText: 'Covariance Σ must be identity' }).waitFor();
  await page.locator('[data-control="frame"] label', { hasText: 'identity' }).click();
  await report('6 heads of model.safetensors');
  expect(await page.locator('[data-rotary]').isVisible()).toBe(false);
  expect(errors).toEqual([]);
});

test('a scaling of rotary angles that is not known is named, and read at offset 0', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?offset=3`);
  const config = { ...JSON.parse(LLAMA_CONFIG), rope_scaling: { rope_type: 'spiral' } };
  await pickModel(page, [
    picked('model.safetensors', safetensorsOf(LLAMA)),
    picked('config.json', JSON.stringify(config)),
  ]);
  const text = "'rope_scaling.rope_type' in config.json is 'spiral'";
  await page.locator('#error-model-offset', { hasText: text }).waitFor();
  await enter(page.locator('#field-model-offset'), '0');
  await page.locator('[data-report]', { hasText: 'rotary heads at offset 0.' }).waitFor();
  expect(await page.locator('#error-model-offset').textContent()).toBe('');
  await page.locator('[data-control="offset_kind"] label', { hasText: 'average' }).click();
  await page.locator('[data-problem]', { hasText: text }).waitFor();
  expect(errors).toEqual([]);
});

test('an unrecognized architecture is read by the names that a person gives', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const named = (it: string) => it.replace('model.layers.0.self_attn', 'blk.0.mine');
  const unknown = Object.entries(LLAMA).map(([name, tensor]) => [named(name), tensor]);
  const weights = picked('model.safetensors', safetensorsOf(Object.fromEntries(unknown)));
  const form = page.locator('[data-map-form]');
  const give = (name: string, text: string) => enter(page.locator(`#field-model-${name}`), text);
  const refused = (name: string, text: string) => page.locator(`#error-model-${name}`, { hasText: text }).waitFor();
  expect(await form.isVisible()).toBe(false);
  await pickModel(page, weights);
  await form.waitFor();
  const offered = await page
    .locator('#tensor-names option')
    .evaluateAll((list) => list.map((it) => (it as HTMLOptionElement).value));
  expect(offered).toContain('blk.{n}.mine.q_proj.weight');
  await give('map_query', 'blk.mine.q_proj.weight');
  await refused('map_query', 'with {n} once');
  await give('map_query', 'blk.{n}.mine.q_proj.weight');
  await refused('map_key', 'with {n} once');
  await give('map_key', 'blk.{n}.mine.k_proj.weight');
  await refused('map_heads', 'Heads must be given, an integer from 1 to 4096');
  await give('map_heads', 'two');
  await refused('map_heads', "found 'two'");
  await give('map_heads', '2');
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
  const link = page.url();
  expect(decodeURIComponent(link)).toContain('map_query=blk.{n}.mine.q_proj.weight&map_key=');
  expect(errors).toEqual([]);
  await page.goto('about:blank');
  await page.goto(link);
  await pickModel(page, weights);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
});

test('key heads that no file gives are asked for, and kept in the link', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const folder = temporaryFolder(onTestFinished);
  const file = join(folder, 'model.safetensors');
  // Four heads of width 2 that share two keys: 8 rows of queries, 4 of keys, 4 of values.
  const write = (name: string) => writeFileSync(file, safetensorsOf({ [name]: { shape: [16, 8], value: waves(1) } }));
  const report = page.locator('[data-report]', { hasText: '4 heads of model.safetensors' });
  const heads = page.locator('#heads-count');
  const keyHeads = page.locator('#field-model-map_key_heads');
  const refused = (text: string) => page.locator('#error-model-map_key_heads', { hasText: text }).waitFor();
  write('model.layers.0.self_attn.qkv_proj.weight');
  const config = join(folder, 'config.json');
  writeFileSync(config, '{"model_type": "phi3"}');
  expect(await keyHeads.isVisible()).toBe(false);
  await pickModel(page, [file, config]);
  await enter(heads, '4');
  await refused('Key heads must be given for grouped keys, an integer from 0 to 4096');
  await enter(keyHeads, 'two');
  await refused("found 'two'");
  await enter(keyHeads, '3');
  await page.locator('[data-problem]', { hasText: 'do not divide into 4 heads' }).waitFor();
  await enter(keyHeads, '2');
  await report.waitFor();
  expect(await report.textContent()).toContain('key heads as given, 2');
  await page.waitForFunction(() => location.hash.includes('map_key_heads=2'));
  await expect.poll(async () => (await column(page, 'Mean')).length).toBe(4);
  const means = (await column(page, 'Mean')).map(number);
  const terminal = json('heads', { heads: 4, key_heads: 2 }, file).heads;
  means.forEach((mean, i) => expect(mean).toBeCloseTo(terminal[i].mean, 2));
  // A link holds them for a mapping too.
  write('blk.0.mine.weight');
  await page.goto('about:blank');
  await page.goto(`${host.address}#model?map_query=blk.{n}.mine.weight&map_layout=fused&map_heads=4&map_key_heads=2`);
  await pickModel(page, file);
  await report.waitFor();
  await expect.poll(async () => (await column(page, 'Mean')).map(number)).toEqual(means);
  expect(await page.locator('[data-map-form] #field-model-map_key_heads').inputValue()).toBe('2');
  expect(errors).toEqual([]);
});

/**
 * Another host with files of a checkpoint: it lets pages read them, and serves ranges, or not. With a
 * range go the headers of `version`, which may depend on how many ranges there were before, and on the range.
 */
async function serveFiles(
  given: Map<string, Buffer>,
  { ranges = true, cors = true, version = (_before: number, _range: string): Record<string, string> => ({}) } = {},
) {
  const asked: string[] = [];
  let served = 0;
  const server = createServer(({ url = '', headers, method }, response) => {
    const file = given.get(url.slice(1));
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    asked.push(`${method} ${url} ${headers.range ?? ''}`.trimEnd());
    if (cors) {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-headers', 'range');
      response.setHeader('access-control-expose-headers', 'content-range, etag');
    }
    if (method === 'OPTIONS') return response.writeHead(204).end();
    if (!file) return response.writeHead(404).end();
    if (!ranges || from === undefined) return response.writeHead(200).end(file);
    const range = `bytes ${from}-${to}`;
    return response
      .writeHead(206, { 'content-range': `${range}/${file.length}`, ...version(served++, range) })
      .end(file.subarray(Number(from), Number(to) + 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}/`, asked, close: () => server.close() };
}

test('a checkpoint is read from another host by ranges, and only when asked', async () => {
  const shards = shardsOf(LLAMA).map(({ name, buffer }) => [name, buffer] as const);
  const other = await serveFiles(new Map([...shards, ['config.json', Buffer.from(LLAMA_CONFIG)]]));
  const { page, foreign } = await visit(browser, `${host.address}#model`);
  const read = async (address: string) => {
    await page.locator('#remote-address').fill(address);
    await page.locator('[data-remote-form] button').click();
  };
  const problem = (text: string) => page.locator('[data-problem]', { hasText: text }).waitFor();
  await read('model.safetensors');
  await problem('Name or URL: it must be name or owner/name, or begin with https://');
  expect(foreign).toEqual([]);
  await read(`${other.address}model.safetensors.index.json`);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors.index' }).waitFor();
  await page.locator('[data-no-text]', { hasText: 'tokenizer.json is not among' }).waitFor();
  const whole = other.asked.filter((it) => /^GET .*\.safetensors$/.test(it));
  expect(whole).toEqual([]); // weights by ranges alone
  await page.locator('[data-report]', { hasText: 'Norm gains included: input_layernorm' }).waitFor();
  await read(`${other.address}absent.safetensors`);
  await problem('answers 404 for absent.safetensors');
  other.close();
  for (const [options, said] of [
    [{ ranges: false }, 'does not serve parts of a file (HTTP ranges)'],
    [{ cors: false }, 'does not let other pages read it (CORS)'],
  ] as const) {
    const poor = await serveFiles(new Map([['model.safetensors', safetensorsOf(LLAMA)]]), options);
    await read(`${poor.address}model.safetensors`);
    await problem(said);
    poor.close();
  }
  expect(await page.locator('[data-busy]').isVisible()).toBe(false);
});

test('a model of the Hugging Face Hub is read by its name', async () => {
  const other = await serveFiles(
    new Map([
      ...shardsOf(LLAMA).map(({ name, buffer }) => [name, buffer] as const),
      ['config.json', Buffer.from(LLAMA_CONFIG)],
    ]),
  );
  const { page, foreign } = await visit(browser, `${host.address}#model`);
  const siblings = ['README.md', 'config.json', ...shardsOf(LLAMA).map(({ name }) => name)];
  const listing = { sha: 'c0ffee', gated: false, siblings: siblings.map((rfilename) => ({ rfilename })) };
  const open = { 'access-control-allow-origin': '*' };
  await page.context().route('https://huggingface.co/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/api/models/owner/tiny/revision/main') return route.fulfill({ json: listing, headers: open });
    if (pathname.startsWith('/api/')) return route.fulfill({ status: 401, headers: open });
    const file = /^\/owner\/tiny\/resolve\/c0ffee\/(.+)$/.exec(pathname)?.[1] ?? 'absent';
    // Another host has the files themselves.
    return route.fulfill({ status: 302, headers: { ...open, location: `${other.address}${file}` } });
  });
  const read = async (text: string) => {
    await page.locator('#remote-address').fill(text);
    await page.locator('[data-remote-form] button').click();
  };
  await read('owner/tiny');
  await page.locator('[data-report]', { hasText: '2 heads of owner/tiny' }).waitFor();
  const weights = foreign.filter((it) => it.endsWith('.safetensors'));
  expect(weights.length).toBeGreaterThan(0);
  expect(other.asked.filter((it) => /^GET .*\.safetensors$/.test(it))).toEqual([]); // weights by ranges alone
  await read('owner/absent');
  await page.locator('[data-problem]', { hasText: 'huggingface.co has no public model owner/absent' }).waitFor();
  await page.locator('[data-report]', { hasText: '2 heads of owner/tiny' }).waitFor(); // what was open stays
  other.close();
});

test('a file that changes on its host while it is read is refused', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  // So many tokens that the weights are not in the first block.
  const tokens = { shape: [20_000, 8], value: () => 1 };
  const model = safetensorsOf({ ...LLAMA, 'model.embed_tokens.weight': tokens });
  const files = new Map([
    ['model.safetensors', model],
    ['config.json', Buffer.from(LLAMA_CONFIG)],
  ]);
  type Versions = (before: number, range: string) => Record<string, string>;
  const read = async (version: Versions) => {
    const other = await serveFiles(files, { version });
    await page.locator('#remote-address').fill(`${other.address}model.safetensors`);
    await page.locator('[data-remote-form] button').click();
    return other;
  };
  const time = (hour: number) => `Fri, 20 Nov 2026 0${hour}:00:00 GMT`;
  // The first byte, the header and the weights are asked for, one after another.
  const changing: [Versions, string][] = [
    [(n) => ({ etag: n < 2 ? '"one"' : '"two"' }), 'its ETag was "one" and is "two"'],
    [(n) => ({ 'last-modified': time(n < 2 ? 1 : 2) }), `its time of change was ${time(1)} and is ${time(2)}`],
    [(n, range): Record<string, string> => (n < 2 ? {} : { 'content-range': `${range}/9999999` }), 'its size was'],
  ];
  for (const [version, said] of changing) {
    const other = await read(version);
    const text = `model.safetensors: it was changed while it was read: ${said}`;
    await page.locator('[data-problem]', { hasText: text }).waitFor();
    expect(await page.locator('[data-report]').textContent()).toBe('');
    other.close();
  }
  const steady: Versions[] = [
    () => ({ etag: '"one"', 'last-modified': time(1) }),
    (n): Record<string, string> => (n === 0 ? { etag: '"one"' } : {}), // then it says no more
  ];
  for (const version of steady) {
    const other = await read(version);
    await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
    other.close();
  }
  // The host has no tokenizer.json, which is all there is to complain of.
  expect(errors.filter((it) => !it.includes('404'))).toEqual([]);
});
