import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { short } from '../../web/charts/format';
import type { FigureId } from '../../web/ui/registry';
import { check, DARK, FORCED, LIGHT } from './axe';
import { browser, caption, csv, go, host, openBrowser, QUICK, settled, showInLead, visit } from './browser';

openBrowser();

test('axe finds no violation where values are refused, those of a link too', async () => {
  const { page } = await visit(browser, host.address);
  await go(page, 'localize?width=1&length=0');
  const refused = page.locator('#error-localize-length').filter({ hasText: /\S/ });
  await refused.waitFor({ state: 'attached' });
  await check(page, 'refused values', [LIGHT, DARK, FORCED]);
  await page.reload(); // nothing has been computed yet
  await refused.waitFor({ state: 'attached' });
  await check(page, 'a link to refused values', [LIGHT]);
});

/** Presses Tab until the element that the selector names has the focus. */
async function tabTo(page: Page, selector: string, key = 'Tab'): Promise<void> {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press(key);
    if (await page.evaluate((it) => document.activeElement?.matches(it), selector)) return;
  }
  throw new Error(`Tab never came to ${selector}`);
}

const value = (page: Page, name: string) => page.locator(`#field-localize-${name}`).inputValue().then(Number);

test('the keyboard alone moves a slider, the points of the figures, and chooses a head', async () => {
  const { page, errors } = await visit(browser, host.address);
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('skip');
  const { hash } = new URL(page.url());
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  expect(new URL(page.url()).hash).toBe(hash); // the state stays

  await tabTo(page, '#figure-lead [aria-label="Variance of the eigenspectrum"]');
  const variance = await value(page, 'variance');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  expect(await value(page, 'variance')).toBeGreaterThan(1.5 * variance);

  await tabTo(page, '#figure-lead [aria-label="Standard deviation of the eigenspectrum"]', 'Shift+Tab');
  const spread = await value(page, 'variance');
  await page.keyboard.press('ArrowLeft');
  expect(await value(page, 'variance')).toBeLessThan(spread);
  await tabTo(page, '#figure-lead [aria-label="Mean of the eigenspectrum"]', 'Shift+Tab');
  await page.keyboard.press('ArrowLeft');
  expect(await value(page, 'mean')).toBeLessThan(0.25);
  await page.keyboard.press('ArrowRight');

  await tabTo(page, '#localize [data-control="mean"] input[type="range"]', 'Shift+Tab');
  await page.keyboard.press('ArrowRight');
  expect(await value(page, 'mean')).toBeGreaterThan(0.25);
  await page.waitForFunction(() => /mean=0\.\d+&variance=/.test(location.hash));

  await tabTo(page, '#figure-phase-map .handle');
  const mean = await value(page, 'mean');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowUp');
  expect(await value(page, 'mean')).toBeGreaterThan(mean);

  await tabTo(page, '[data-heads] button');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('head=sample:1.1'));
  await page.locator('#figure-lead').scrollIntoViewIfNeeded(); // out of sight it is not drawn
  await page.locator('#figure-lead [data-mark="chosen head"] circle').waitFor({ state: 'attached' });
  expect(errors).toEqual([]);
});

test('Escape cancels a drag, restores a handle’s value and releases a head; Home and End go to the ends', async () => {
  const { page } = await visit(browser, `${host.address}#localize?head=sample:0.3&samples=100`);
  const handle = page.getByRole('slider', { name: 'Variance of the eigenspectrum' });
  await handle.focus();
  await page.keyboard.press('End');
  expect(await value(page, 'variance')).toBe(Number(await handle.getAttribute('aria-valuemax')));
  await page.keyboard.press('Home');
  expect(await value(page, 'variance')).toBeLessThan(1e-3);
  await page.keyboard.press('Escape');
  expect(await value(page, 'variance')).toBe(1);
  const spread = page.getByRole('slider', { name: 'Standard deviation of the eigenspectrum' });
  const box = (await spread.boundingBox())!;
  await page.mouse.move(box.x + 22, box.y + 22);
  await page.mouse.down();
  await page.mouse.move(box.x + 62, box.y + 22, { steps: 3 });
  await expect.poll(() => value(page, 'variance')).not.toBe(1);
  await page.keyboard.press('Escape');
  expect(await value(page, 'variance')).toBe(1);
  await page.mouse.move(box.x + 102, box.y + 22, { steps: 3 });
  await page.mouse.up();
  expect(await value(page, 'variance')).toBe(1);
  expect(new URL(page.url()).hash).toContain('head=sample:0.3'); // those keys were the handles'
  await page.locator('[data-heads] button').nth(3).focus();
  await page.keyboard.press('End');
  expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.head)).toBe('sample:0.11');
  await page.keyboard.press('Home');
  expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.head)).toBe('sample:0.0');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !location.hash.includes('head='));
});

test('Escape closes the controls that lie over the figures, and the focus returns to what opened them', async () => {
  const link = `${host.address}#localize?head=sample:0.3&samples=100`;
  const { page } = await visit(browser, link);
  const more = page.locator('#localize .more-controls');
  await more.locator('> summary').focus();
  await page.keyboard.press('Enter');
  await page.locator('#field-localize-width').focus();
  await page.keyboard.press('Escape');
  expect(await more.getAttribute('open')).toBeNull();
  const isFocused = (it: Element) => it === document.activeElement;
  expect(await more.locator('> summary').evaluate(isFocused)).toBe(true);
  await page.setViewportSize({ width: 390, height: 844 });
  const toggle = page.locator('#localize [data-action="sheet"]');
  await toggle.focus();
  await page.keyboard.press('Enter');
  await page.locator('#field-localize-mean').focus();
  await page.keyboard.press('Escape');
  expect(await page.locator('#field-localize-mean').isVisible()).toBe(false);
  expect(await toggle.getAttribute('aria-expanded')).toBe('false');
  expect(await toggle.evaluate(isFocused)).toBe(true);
  expect(new URL(page.url()).hash).toContain('head=sample:0.3'); // those keys were the controls'
});

test('Space chooses a preset and does not scroll', async () => {
  const { page } = await visit(browser, host.address);
  await page.getByRole('link', { name: 'Large variance', exact: true }).first().focus();
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  await page.keyboard.press('Space');
  await expect.poll(() => value(page, 'variance')).toBe(30);
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

/** Moves the pointer to one of the circles of a mark of a figure. */
async function pointAt(page: Page, id: FigureId, mark: string): Promise<void> {
  await settled(page, id);
  const found = page.locator(`#figure-${id} [data-mark="${mark}"] circle`);
  await found.nth(Math.floor((await found.count()) / 2)).hover({ force: true });
}

const CIRCLES: [FigureId, string, RegExp][] = [
  ['lead', 'simulation, mean 0.25', /^m = 0\.25, v = \S+: localization index L 0\.\d+ ± \S+, .+ simulated seq/],
  ['row-entropy', 'simulation, 8 keys', /^T = 8, s \S+: attention entropy 0\.\d+/],
  ['softmax-row', 'attention weight, clipped', /^key \d+: weight, \w+: 0/],
  ['depth', 'variance 0.1', /^v = 0\.1, layer \d+: \w+ \w+ \S+( ± \S+)?, 2 stacks$/],
  ['token-metric', 'heads of the sample', /layer \d, head \d+: W (alone|weighted by C): .+ \S+, .+ \S+$/],
  ['head-distance', 'measured', /^measured, distance \d+: mean weight \d\S*$/],
  ['rotary-circuits', 'heads', /^layer \d, head \d: previous-token score \S+$/],
];

test('the pointer shows the numbers of a circle', async () => {
  const { page, errors } = await visit(browser, `${host.address}#${QUICK}&variance=0.1`);
  await showInLead(page, 'all');
  for (const [id, mark, numbers] of CIRCLES) {
    await pointAt(page, id, mark);
    const tip = page.locator(`#figure-${id} .tip:visible`);
    await tip.waitFor();
    expect(await tip.textContent(), id).toMatch(numbers);
    await page.mouse.move(1, 1);
    expect(await tip.count(), id).toBe(0);
  }
  expect(errors).toEqual([]);
});

test('the pointer shows the numbers of a place on the phase map, and of a key in the strip', async () => {
  const { page } = await visit(browser, host.address);
  await settled(page, 'phase-map');
  const canvas = (await page.locator('#figure-phase-map canvas').boundingBox())!;
  await page.mouse.move(canvas.x + 0.05 * canvas.width, canvas.y + 0.05 * canvas.height);
  await page
    .locator('#figure-phase-map .tip:visible', { hasText: /^ξ\/λ \S+, √ηF\/λ \S+: L 0\S*, mean of ρ 0/ })
    .waitFor();
  await page.locator('#figure-lead').scrollIntoViewIfNeeded();
  const strip = (await page.locator('#figure-lead [data-mark="propagation probability, theory"]').boundingBox())!;
  await page.mouse.move(strip.x + strip.width - 4, strip.y + 3);
  const tip = page.locator('#figure-lead .tip:visible', { hasText: /^position 4\d: / });
  await tip.waitFor();
  expect(await tip.textContent()).toMatch(/^position 4\d: (ρ 0\.\d+ (in theory|± \S+ simulated)|sensitivity)/);
});

test('a head under the pointer shows its eigenvalues, and a click keeps it', async () => {
  const { page } = await visit(browser, `${host.address}#localize?detail=heads`);
  const dot = page.locator('#figure-lead [data-mark="heads of the sample"] circle').nth(5);
  const box = await dot.boundingBox();
  if (!box) throw new Error('the dot has no place');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator('#figure-lead .tip:visible', { hasText: 'layer' }).waitFor();
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes('head=sample:'));
  const own = page.locator('#figure-lead [data-mark="eigenvalues of the head"]');
  const dots = async () => ((await own.getAttribute('d')) ?? '').split('M').length - 1;
  await expect.poll(dots).toBe(32);
});

test('a head that was clicked keeps its name and both numbers, beside it and in the caption', async () => {
  const { page } = await visit(browser, `${host.address}#localize?detail=heads`);
  const dot = page.locator('#figure-lead [data-mark="heads of the sample"] circle').nth(5);
  await dot.click({ force: true });
  await page.mouse.move(5, 5);
  const numbers = /layer 0, head 5.* variance \d\S*, predicted localization index L \d/;
  const tip = page.locator('#figure-lead .tip:visible');
  await tip.filter({ hasText: numbers }).waitFor();
  await expect.poll(() => caption(page, 'lead')).toMatch(numbers);
  await page.locator('[data-heads] button').nth(7).press('Enter'); // by keyboard, another one
  await page.locator('#figure-lead').scrollIntoViewIfNeeded(); // out of sight it is not drawn
  await expect.poll(() => caption(page, 'lead')).toMatch(/Chosen: .*layer 0, head 7, /);
  await tip.filter({ hasText: 'layer 0, head 7' }).waitFor();
});

describe('with a finger on a phone', () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

  test('the first chart of the stacks is in sight, and what is said of the claim is below its curves', async () => {
    const { page } = await visit(browser, `${host.address}#${QUICK}`, phone);
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    const top = async (selector: string) => (await page.locator(selector).boundingBox())!.y;
    await expect.poll(() => top('#figure-collapse-map .chart > svg')).toBeLessThan(844 - 200);
    await settled(page, 'depth');
    await page.locator('[data-claim]').filter({ hasText: 'The claim of Bao et al.' }).waitFor();
    expect(await top('#collapse [data-claim]')).toBeGreaterThan(await top('#figure-depth .progress'));
  });

  test('the first picture begins in the upper third of the screen', async () => {
    const { page } = await visit(browser, host.address, phone);
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    const box = (await page.locator('#figure-lead .chart > svg').boundingBox())!;
    expect(box.y).toBeLessThan(300);
    expect(box.y + box.height).toBeLessThan(844 - 48); // above the sheet
  });

  test('a preset shows its chart, which its sentence would push out of sight', async () => {
    const { page } = await visit(browser, host.address, phone);
    await page.getByRole('link', { name: 'Mean near zero', exact: true }).first().tap();
    await page.locator('#preset-localize-fails').waitFor();
    const shade = page.locator('#figure-lead [data-mark="the index rises"]');
    await shade.waitFor({ state: 'attached' }); // and with it a longer legend
    const bottom = () =>
      page
        .locator('#figure-lead .chart > svg > svg:last-of-type [data-mark="x-axis label"] text')
        .evaluate((it) => it.getBoundingClientRect().bottom);
    await expect.poll(bottom).toBeLessThan(844 - 48); // above the sheet
    const text = (await page.locator('#preset-localize-fails').boundingBox())!;
    const chart = (await page.locator('#figure-lead .chart').boundingBox())!;
    expect(text.y).toBeGreaterThan(48); // below the tabs
    expect(text.y + text.height).toBeLessThanOrEqual(chart.y);
  });

  test('a tap on a head names it with both numbers', async () => {
    const { page } = await visit(browser, `${host.address}#localize?detail=heads`, phone);
    const dot = page.locator('#figure-lead [data-mark="heads of the sample"] circle').nth(5);
    await dot.scrollIntoViewIfNeeded();
    await dot.tap({ force: true });
    const tip = page.locator('#figure-lead .tip:visible');
    await tip.filter({ hasText: /head 5: .* variance \d\S*, predicted localization index L \d/ }).waitFor();
    const box = (await tip.boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  });

  test('a tap on a cell of an attention matrix says who reads whom, and how much', async () => {
    const { page } = await visit(browser, `${host.address}#model`, phone);
    await settled(page, 'head-text');
    const rows = await csv(page, 'head-text');
    const cells = page.locator('#figure-head-text canvas');
    const line = page.locator('#figure-head-text .cell-line');
    await line.filter({ hasText: /^Largest of all: query .* Choose a cell/ }).waitFor();
    await cells.scrollIntoViewIfNeeded();
    const { width, height } = (await cells.boundingBox())!;
    const at = (place: number, size: number) => ((place + 0.5) / rows.length) * size;
    await cells.tap({ position: { x: at(2, width), y: at(4, height) }, force: true });
    const said = () => line.textContent().then((text) => /weight (\d+(?:\.\d+)?)/.exec(text!)?.[1]);
    await line.filter({ hasText: `Query 5 “${rows[4].token}” → key 3 “${rows[2].token}”, weight` }).waitFor();
    expect(Number(await said())).toBeCloseTo(Number(rows[4].key_3), 2);
    expect(await line.textContent()).toContain('Largest of this query: query 5');
    await page.locator('[data-head-select]').selectOption('0.0');
    await expect.poll(said).not.toBe(rows[4].key_3); // the same cell of another head
  });
});

test('arrow keys read the cells of an attention matrix', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  await settled(page, 'head-text');
  const rows = await csv(page, 'head-text');
  const cells = page.locator('#figure-head-text .cells');
  const line = page.locator('#figure-head-text .cell-line');
  await page.locator('[data-head-select]').focus();
  await tabTo(page, '#figure-head-text .cells');
  expect(await cells.getAttribute('aria-label')).toContain('arrow keys');
  await page.keyboard.press('ArrowDown'); // the first key takes the largest weight
  const told = (query: number, key: number) =>
    `Query ${query} “${rows[query - 1].token}” → key ${key} “${rows[key - 1].token}”, weight`;
  await line.filter({ hasText: /^Query \d+ .* the largest of this query\.$/ }).waitFor();
  expect(await line.getAttribute('aria-live')).toBe('polite');
  const start = Number(/^Query (\d+)/.exec((await line.textContent())!)![1]);
  const up = start > 1 ? -1 : 1;
  await page.keyboard.press('Home');
  await line.filter({ hasText: told(start, 1) }).waitFor();
  await page.keyboard.press(up < 0 ? 'ArrowUp' : 'ArrowDown');
  await line.filter({ hasText: told(start + up, 1) }).waitFor();
  await page.keyboard.press('Shift+ArrowRight');
  await line.filter({ hasText: told(start + up, 6) }).waitFor();
  const weight = /weight (\d+(?:\.\d+)?(?:·10\S+)?)/.exec((await line.textContent())!)![1];
  expect(weight).toBe(short(Number(rows[start + up - 1].key_6)));
  await page.keyboard.press('End');
  await line.filter({ hasText: told(start + up, rows.length) }).waitFor();
  await page.keyboard.press('ArrowRight'); // there is no more
  await line.filter({ hasText: told(start + up, rows.length) }).waitFor();
  const [outline, box] = [
    await page.locator('#figure-head-text .cell-outline').boundingBox(),
    await cells.boundingBox(),
  ];
  expect(Math.abs(outline!.x + outline!.width - box!.x - box!.width)).toBeLessThan(6);
  await page.keyboard.press('Tab');
  expect(await line.getAttribute('aria-live')).toBe('off');
});

test('the point of the map follows a drag', async () => {
  const { page } = await visit(browser, host.address);
  await settled(page, 'phase-map');
  const place = async () => {
    const handle = await page.locator('#figure-phase-map .handle').boundingBox();
    const chart = await page.locator('#figure-phase-map .chart').boundingBox();
    if (!handle || !chart) throw new Error('the handle has no place');
    return { ...handle, left: handle.x - chart.x, top: handle.y - chart.y };
  };
  const box = await place();
  await page.mouse.move(box.x + 22, box.y + 22);
  await page.mouse.down();
  await page.mouse.move(box.x + 82, box.y - 18, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => /mean=.*&variance=/.test(location.hash));
  expect(await value(page, 'mean')).toBeGreaterThan(0.3);
  await settled(page, 'phase-map');
  const moved = await place();
  expect(Math.abs(moved.left - box.left - 60)).toBeLessThan(4);
  expect(Math.abs(moved.top - box.top + 40)).toBeLessThan(4);
});

test('the theme button turns the colours', async () => {
  const { page } = await visit(browser, host.address, { colorScheme: 'light' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await paper();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  expect(await paper()).not.toBe(before);
  await page.getByRole('button', { name: 'Light theme' }).waitFor(); // it names what the next press does
  await page.reload();
  expect(await paper()).not.toBe(before);
});
