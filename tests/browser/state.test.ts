import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { browser, caption, go, host, openBrowser, openMore, settled, showInLead, visit } from './browser';
import { enter } from './gestures';

openBrowser();

test('a bad text shows the words of the library, and the figures keep what they show', async () => {
  const { page } = await visit(browser, host.address);
  await settled(page, 'lead');
  await openMore(page);
  const before = await caption(page, 'lead');
  const field = page.locator('#field-localize-width');
  await field.fill('-3');
  const error = page.locator('#error-localize-width');
  await error.filter({ hasText: /\S/ }).waitFor();
  expect(await error.textContent()).toBe('Width must be an integer from 2 to 4096: found -3');
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await caption(page, 'lead')).toBe(before);
  await field.fill('32');
  await error.filter({ hasNotText: /\S/ }).waitFor({ state: 'attached' });
  expect(await field.getAttribute('aria-invalid')).toBeNull();
  await page.waitForFunction(() => location.hash === '#localize?width=32');
});

test('a bad link shows the words of the library beside its text', async () => {
  const { page } = await visit(browser, `${host.address}#localize?length=2.5&variance=0.5&ensemble=normally`);
  const error = page.locator('#error-localize-length');
  await error.filter({ hasText: /\S/ }).waitFor();
  expect(await error.textContent()).toMatch(/^Length must be an integer from 2 to \d+: found 2\.5$/);
  expect(await page.locator('#field-localize-length').inputValue()).toBe('2.5');
  expect(await page.locator('#field-localize-variance').inputValue()).toBe('0.5');
  expect(await page.locator('#error-localize-ensemble').textContent()).toMatch(
    /^Ensemble must be one of normal, two-point.*: found 'normally'$/,
  );
});

test('a list of eigenvalues that cannot be one leaves the last in the figure', async () => {
  const { page } = await visit(browser, `${host.address}#localize?ensemble=list&eigenvalues=1,x`);
  const error = page.locator('#error-localize-eigenvalues');
  await error.filter({ hasText: /\S/ }).waitFor();
  expect(await error.textContent()).toMatch(/^Eigenvalues must be a number from .*: found 'x'$/);
  await settled(page, 'lead');
  const field = page.locator('#field-localize-eigenvalues');
  await field.fill('5');
  await error.filter({ hasText: "Eigenvalues must have at least 2 numbers: found '5'" }).waitFor();
  expect(await field.inputValue()).toBe('5');
});

test('values that do not go together are refused at the field at fault', async () => {
  const { page } = await visit(browser, host.address);
  await go(page, 'localize?ensemble=factored&width=16&head_width=64');
  const error = page.locator('#error-localize-head_width');
  await error.filter({ hasText: /\S/ }).waitFor();
  expect(await error.textContent()).toBe('Head width must be at most the width: width 16, head_width 64');
  await go(page, 'localize?ensemble=factored&width=16&head_width=8&variance=1');
  await error.filter({ hasNotText: /\S/ }).waitFor({ state: 'attached' });
});

test('a link reproduces its view', async () => {
  const first = await visit(browser, host.address);
  await openMore(first.page);
  await enter(first.page.locator('#field-localize-mean'), '0.4');
  await enter(first.page.locator('#field-localize-length'), '12'); // a link's long question is not begun unasked
  await enter(first.page.locator('#field-localize-samples'), '500');
  await enter(first.page.locator('#field-localize-seed'), '7');
  await first.page.locator('#field-localize-measure').selectOption('participation');
  await first.page.locator('#field-localize-tokens').selectOption('ar1');
  await showInLead(first.page, 'all');
  await first.page.locator('[data-head="sample:2.5"]').press('Enter');
  const link = first.page.url();
  expect(new URL(link).hash).toBe(
    '#localize?mean=0.4&length=12&tokens=ar1&seed=7&detail=all&samples=500&measure=participation&head=sample:2.5',
  );
  const view = await viewOf(first.page);
  await first.page.close(); // else its figures are drawn beside those of the next
  const { page } = await visit(browser, link);
  expect(await viewOf(page)).toEqual(view);
  expect((view.keys as string).length).toBeGreaterThan(40);
});

/** What a page shows of the first two figures. */
async function viewOf(page: Page) {
  const view: Record<string, unknown> = {};
  for (const id of ['lead', 'phase-map'] as const) {
    await settled(page, id);
    await page.waitForTimeout(300);
    view[id] = await caption(page, id);
    view[`${id} label`] = await page.locator(`#figure-${id} svg`).first().getAttribute('aria-label');
  }
  view.keys = await page.locator('#figure-lead [data-mark="propagation probability, simulation"]').getAttribute('d');
  return view;
}

test('going back in history restores the state before a preset', async () => {
  const { page } = await visit(browser, `${host.address}#localize?mean=0.3`);
  await page.getByRole('link', { name: 'Large variance', exact: true }).click();
  const field = (name: string) => page.locator(`#field-localize-${name}`).inputValue();
  // The page hears of an address after it has changed.
  await expect.poll(() => field('variance')).toBe('30');
  expect(new URL(page.url()).hash).toBe('#localize?variance=30');
  await page.goBack();
  await expect.poll(() => field('mean')).toBe('0.3');
  expect(await field('variance')).toBe('1');
  expect(new URL(page.url()).hash).toBe('#localize?mean=0.3');
});

test('a link is not lost when a typed value comes to rest before it is read', async () => {
  const { page } = await visit(browser, host.address);
  await page.evaluate(() => {
    const field = document.querySelector<HTMLInputElement>('#field-localize-length');
    if (!field) throw new Error('no field');
    field.value = '64';
    field.dispatchEvent(new Event('input'));
    location.hash = '#localize?length=32'; // the page hears of it later
    field.dispatchEvent(new Event('change'));
  });
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-localize-length')?.value === '32');
  await page.waitForTimeout(500);
  expect(new URL(page.url()).hash).toBe('#localize?length=32');
});

test('reset returns to the defaults, whose link opens them without the run of the bare address', async () => {
  const { page } = await visit(browser, `${host.address}#localize?mean=0.3&measure=entropy`);
  await page.getByRole('button', { name: 'Reset' }).click();
  expect(new URL(page.url()).hash).toBe('#localize?variance=1');
  expect(await page.locator('#field-localize-mean').inputValue()).toBe('0.25');
  expect(await page.locator('#field-localize-variance').inputValue()).toBe('1');
  expect(await page.locator('#field-localize-measure').inputValue()).toBe('localization');
});

test('a computation too long to wait for is abandoned when it is no longer asked for', async () => {
  const { page } = await visit(browser, host.address);
  await go(page, 'localize?ensemble=shifted-gaussian&width=4096'); // its first step alone takes many seconds
  await page.waitForTimeout(500);
  await go(page, 'localize?variance=1');
  await page.locator('#figure-lead .progress.done').waitFor({ state: 'attached' });
  expect(await caption(page, 'lead')).toMatch(/Ensemble: mean 0.25, variance 1 /);
});
