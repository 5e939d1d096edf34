// Formulas as Chromium draws them.
import { expect, test } from 'vitest';
import { browser, host, openBrowser, visit } from './browser';

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
