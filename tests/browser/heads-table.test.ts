// The table of the heads of a model, and their predictions.
import { expect, test } from 'vitest';
import { modelView } from '../../web/chapters/model/state';
import { json } from '../cli/eigenscope';
import {
  browser,
  caption,
  checkpoint,
  go,
  host,
  openBrowser,
  openTable,
  settled,
  showInLead,
  showView,
  visit,
} from './browser';
import { enter, openModel, picked } from './gestures';
import { ALL, column, number, said } from './heads';
import { trainedModel } from './trained';

openBrowser();

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
  expect(await captions()).toContain('Eigenvalues off the horizontal axis');
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
    page.locator('#figure-predictors [data-text-choice]').setInputFiles(picked(name, content));
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
  // The same text can be chosen where columns are plotted that are measured on it.
  const scatter = page.locator('#figure-scatter');
  const choice = scatter.locator('[data-text-choice]');
  await scatter.scrollIntoViewIfNeeded();
  await choice.setInputFiles(picked('short.txt', 'a'));
  await page.locator('[data-link-notice]', { hasText: 'passages must be at most those of the text' }).waitFor();
  await choice.setInputFiles(picked('other.txt', 'A whale dived. '.repeat(200)));
  await said(page, 'scatter', 'Scores on other.txt');
  expect(errors).toEqual([]);
});

test('where a text is refused meanwhile, the heads of the text before are predicted to the end', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?passages=300`);
  await openModel(page, trainedModel());
  const figure = page.locator('#figure-predictors');
  await figure.scrollIntoViewIfNeeded();
  await page.locator('#figure-predictors [data-text-choice]').setInputFiles(picked('short.txt', 'a'));
  const words = 'passages must be at most those of the text';
  await figure.locator('.message', { hasText: words }).waitFor();
  await said(page, 'predictors', 'of Moby Dick, first chapters, seed');
  await expect.poll(async () => (await column(page, 'Entropy measured')).filter(Boolean).length).toBe(8);
  await figure.locator('.message', { hasText: words }).waitFor();
  expect(errors).toEqual([]);
});
