// Formulas as Chromium draws them.
import { expect, test } from 'vitest';
import { browser, host, openBrowser, showView, visit } from './browser';

openBrowser();

test('expectation and probability are double-struck letters', async () => {
  const { page } = await visit(browser, host.address);
  const letters = await page.locator('math mi').allTextContents();
  expect(letters).toContain('𝔼');
  expect(letters).toContain('ℙ');
  expect(await page.locator('math [mathvariant]:not([mathvariant="normal"])').count()).toBe(0);
});

test.each([
  ['the fonts of the page', ''],
  ['a font without a table for formulas', 'math { font-family: "DejaVu Serif", serif !important }'],
])('subscripts are below the line, with %s', async (_, style) => {
  const { page } = await visit(browser, host.address);
  await page.addStyleTag({ content: style || ':root {}' });
  const drops = await page.evaluate(() => {
    const bottom = (it: Element) => it.getBoundingClientRect().bottom;
    const size = (it: Element) => parseFloat(getComputedStyle(it).fontSize);
    // A capital T has nothing below its own line; nor has the x before it.
    return [...document.querySelectorAll('msub')]
      .filter((it) => it.textContent === 'xT')
      .map(({ children: [base, index] }) => (bottom(index) - bottom(base)) / size(base));
  });
  expect(drops.length).toBeGreaterThan(0);
  for (const drop of drops) expect(drop).toBeGreaterThan(0.08);
});

test.each([1280, 390])('no line begins with the punctuation after a formula, at a width of %i px', async (width) => {
  const { page } = await visit(browser, host.address, { viewport: { width, height: 800 } });
  const after = await page.evaluate(() => {
    const texts = document.createTreeWalker(
      document.querySelector('#localize .prose')!.parentElement!,
      NodeFilter.SHOW_TEXT,
    );
    const found: { text: string; moved: number }[] = [];
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const formula = node.previousSibling;
      if (!(formula instanceof MathMLElement) || !/^[,.;:)]/.test(node.textContent!)) continue;
      const range = document.createRange();
      range.setStart(node, 0);
      range.setEnd(node, 1);
      const moved = range.getBoundingClientRect().left - formula.getBoundingClientRect().right;
      found.push({ text: formula.textContent + node.textContent!, moved });
    }
    return found;
  });
  expect(after.length).toBeGreaterThan(10);
  for (const { text, moved } of after) expect(Math.abs(moved), text).toBeLessThan(5);
});

test.each([1280, 390])('formulas have room at a width of %i px', async (width) => {
  const { page } = await visit(browser, `${host.address}#train`, { viewport: { width, height: 800 }, settle: false });
  for (const view of ['localize', 'collapse', 'train'] as const) {
    await showView(page, view);
    await page.evaluate((id) => {
      for (const details of document.querySelectorAll<HTMLDetailsElement>(`#${id} details`)) details.open = true;
    }, view);
    const wider = await page
      .locator(`#${view} .formula`)
      .evaluateAll((all) => all.map((it) => it.scrollWidth - it.clientWidth));
    expect(wider.length).toBeGreaterThan(0);
    for (const it of wider) expect(it, view).toBeLessThanOrEqual(1);
  }
});
