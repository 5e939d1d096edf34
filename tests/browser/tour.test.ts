// The first screen: its panels follow one point, its tour, and predicted heads apart from measured ones.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { browser, csv, host, openBrowser, settled, visit } from './browser';

openBrowser();

const LAPTOP = { viewport: { width: 1280, height: 800 } };
const lead = (page: Page) => page.locator('#figure-lead');
const reading = async (page: Page) => (await lead(page).locator('[data-mark="reading"]').textContent()) ?? '';
const hash = (page: Page) => new URL(page.url()).hash;
/** The weights of the matrix as it is drawn: the darkness of its cells, row by row. */
const matrix = (page: Page) =>
  lead(page)
    .locator('canvas')
    .evaluate((it: HTMLCanvasElement) => {
      const { width, height } = it;
      const { data } = it.getContext('2d')!.getImageData(0, 0, width, height);
      return Array.from({ length: width * height }, (_, i) => 255 - data[4 * i]!);
    });

/** How many neighbouring rows of a matrix have their darkest cell in the same column. */
function stripes(cells: number[]): number {
  const length = Math.sqrt(cells.length);
  const darkest = Array.from({ length }, (_, row) => {
    const own = cells.slice(row * length, (row + 1) * length);
    return own.indexOf(Math.max(...own));
  });
  return darkest.filter((column, row) => row > 0 && column === darkest[row - 1]).length;
}

test('dragging the spectrum moves matrix, index and reading', async () => {
  const { page, errors } = await visit(browser, host.address, LAPTOP);
  const before = { cells: await matrix(page), reading: await reading(page) };
  expect(before.reading).toMatch(/^L = 0\.253m = 0\.25, v = 1$/);
  const dot = lead(page).locator('[data-mark="present point"]');
  const x = Number(await dot.getAttribute('cx'));
  const handle = page.getByRole('slider', { name: 'Standard deviation of the eigenspectrum' });
  const box = (await handle.boundingBox())!;
  await page.mouse.move(box.x + 22, box.y + 22);
  await page.mouse.down();
  await page.mouse.move(box.x + 62, box.y + 22, { steps: 6 });
  // While it is held the panels have followed already.
  await expect.poll(() => reading(page)).not.toBe(before.reading);
  expect(await reading(page)).not.toContain('v ='); // the field shows the next value already
  await expect.poll(async () => stripes(await matrix(page))).toBeGreaterThan(stripes(before.cells));
  await expect.poll(async () => Number(await dot.getAttribute('cx'))).toBeGreaterThan(x + 20);
  const index = async () => Number(/^L = (0\.\d+)/.exec(await reading(page))?.[1]);
  await expect.poll(index).toBeLessThan(0.15);
  await page.mouse.move(box.x + 11, box.y + 22, { steps: 6 }); // a few pixels beside the mean
  await expect.poll(index).toBeGreaterThan(0.4);
  await page.mouse.up();
  await expect.poll(() => hash(page)).toMatch(/^#localize\?variance=\d/);
  await expect.poll(async () => Number(/v = ([\d.]+)$/.exec(await reading(page))?.[1])).toBeGreaterThan(0);
  const shown = Number(/v = ([\d.]+)$/.exec(await reading(page))?.[1]);
  expect(Number(await page.locator('#field-localize-variance').inputValue())).toBeCloseTo(shown, 2);
  expect(errors).toEqual([]);
});

test('the tour has four steps, each a link, and ends on measured heads and where a sentence is typed', async () => {
  const { page, errors } = await visit(browser, host.address, LAPTOP);
  const follow = (name: string) => lead(page).getByRole('link', { name, exact: true }).click();
  await follow('Start the tour');
  await expect.poll(() => hash(page)).toBe('#localize?variance=0.001');
  await expect.poll(() => reading(page)).toMatch(/^L = 0\.475/);
  const band = stripes(await matrix(page));

  await follow('Next: Large variance');
  await expect.poll(() => hash(page)).toBe('#localize?variance=30');
  await expect.poll(() => reading(page)).toMatch(/^L = 0\.082/);
  await expect.poll(async () => stripes(await matrix(page))).toBeGreaterThan(2 * band + 10);

  await follow('Next: Mean near zero');
  await expect.poll(() => hash(page)).toBe('#localize?mean=0.004&variance=0.0001');
  const title = page.locator('#title-lead', { hasText: 'Here localization rises' });
  await title.waitFor();

  // Recorded where they begin: on a busy machine they end between two questions.
  const falls = await page.evaluateHandle(() => {
    const begun: Element[] = [];
    const { animate } = Element.prototype;
    Element.prototype.animate = function (...args) {
      if (this instanceof SVGCircleElement) begun.push(this);
      return animate.apply(this, args);
    };
    return begun;
  });
  await follow('Next: Trained heads');
  await expect.poll(() => hash(page)).toBe('#localize?detail=heads&dots=measured');
  const dots = lead(page).locator('[data-mark="heads of the sample"] circle');
  await expect.poll(() => dots.count()).toBe(72);
  // They fall from their predicted places, movements that end.
  await expect.poll(() => falls.evaluate((all) => all.length)).toBeGreaterThan(60);
  const moving = () => dots.evaluateAll((all) => all.filter((it) => it.getAnimations().length > 0).length);
  await expect.poll(moving).toBe(0);
  const rows = (await csv(page, 'lead')).filter(({ kind }) => kind === 'head measured');
  const measured = rows.map(({ localization }) => Number(localization));
  const text = (await page.locator('#preset-localize-finding').innerText()).replace(/\s+/g, ' ');
  const [predicted, most, median] = text.match(/0\.\d+/g)!.map(Number);
  expect(Math.max(...measured)).toBeCloseTo(most!, 3);
  expect(measured.sort((a, b) => a - b)[36]).toBeCloseTo(median!, 3);
  expect(predicted).toBeGreaterThan(10 * most!);

  // A click on a dot leads to what the head does.
  await dots.nth(5).click({ force: true });
  const attention = lead(page).getByRole('link', { name: 'Attention of layer 0, head 5' });
  await attention.waitFor();
  await follow('Type your sentence');
  const sentence = page.locator('#field-model-reading');
  await sentence.waitFor();
  await expect.poll(() => sentence.evaluate((it) => it === document.activeElement)).toBe(true);
  expect(await page.locator('#tab-model').getAttribute('aria-selected')).toBe('true');
  expect(errors).toEqual([]);
}, 180_000);

test('the keyboard alone takes the tour, leaves it and resumes it', async () => {
  const { page } = await visit(browser, host.address, LAPTOP);
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  const press = async (next: string) => {
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe(next);
  };
  await lead(page).getByRole('link', { name: 'Start the tour' }).focus();
  await press('Next: Large variance');
  await expect.poll(() => hash(page)).toBe('#localize?variance=0.001');
  await press('Next: Mean near zero');
  await expect.poll(() => hash(page)).toBe('#localize?variance=30');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip the tour');
  await press('Start the tour');
  await expect.poll(() => reading(page)).toMatch(/^L = 0\.253/);
  await press('Next: Large variance');
});

test('links of the earlier steps open where their heads are, without a notice', async () => {
  const { page } = await visit(browser, `${host.address}#localize?plot=heads&level=3&figure=lead`, {
    ...LAPTOP,
    reducedMotion: 'reduce',
  });
  const chosen = page.locator('#localize .preset[aria-current]');
  await expect.poll(() => chosen.textContent()).toContain('Trained heads');
  expect(await page.locator('[data-link-notice]').isVisible()).toBe(false);
  const dots = lead(page).locator('[data-mark="heads of the sample"] circle');
  await expect.poll(() => dots.count()).toBe(72);
  expect(await dots.evaluateAll((all) => all.some((it) => it.getAnimations().length > 0))).toBe(false);
  await lead(page).getByRole('link', { name: 'Back to the start', exact: true }).click();
  await expect.poll(() => reading(page)).toMatch(/^L = 0\.253/);
});

test('predicted heads are hollow, measured ones full, and each says what it is', async () => {
  const { page } = await visit(browser, `${host.address}#localize?detail=heads`, LAPTOP);
  await settled(page, 'lead');
  const dots = lead(page).locator('[data-mark="heads of the sample"]');
  const kinds = async () => [
    ...new Set((await csv(page, 'lead')).map(({ kind }) => kind).filter((it) => /^head/.test(it!))),
  ];
  expect(await dots.getAttribute('fill')).toBe('var(--paper)');
  expect(await kinds()).toEqual(['head predicted']);
  await page.locator('input[name="field-localize-dots"][value="measured"]').check();
  await expect.poll(() => dots.getAttribute('stroke')).toBe('var(--paper)');
  expect(await kinds()).toEqual(['head measured']);
  // Their predicted places stay, as rings.
  expect(await lead(page).locator('[data-mark="predicted places of the heads"] circle').count()).toBe(72);
  const rows = (await csv(page, 'lead')).filter(({ kind }) => kind === 'head measured');
  expect(rows.length).toBe(72);
  // The head with the largest predicted index has next to no measured one.
  expect(Math.max(...rows.map(({ localization }) => Number(localization)))).toBeLessThan(0.2);
  const box = (await dots.locator('circle').nth(5).boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator('#figure-lead .tip:visible', { hasText: /measured localization index L/ }).waitFor();
});
