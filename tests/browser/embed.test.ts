// A figure sent on: its link, its citation, and the figure alone in an iframe of another page.
import { expect, test } from 'vitest';
import { VERSION } from '../../web/generated/version';
import { browser, host, openBrowser, settled, visit } from './browser';
import { enter } from './gestures';

openBrowser();

test('an iframe shows one figure with its controls, and tells its state to the page around it', async () => {
  const { page, errors } = await visit(browser, 'about:blank', { settle: false });
  const source = `${host.address}?embed=depth#collapse?depth=4&stacks=2`;
  const around = `${host.address}around`;
  const body = `<!doctype html><iframe src="${source}" width="900" height="700"></iframe>`;
  await page.route(around, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(around);
  await page.evaluate(() => {
    const heard: unknown[] = [];
    Object.assign(window, { heard });
    addEventListener('message', ({ data }) => heard.push(data));
  });
  const frame = page.frames()[1];
  await frame.locator('#figure-depth .chart svg').first().waitFor();
  const seen = await frame.locator('.figure:visible').evaluateAll((all) => all.map(({ id }) => id));
  expect(seen).toEqual(['figure-depth']);
  expect(await frame.locator('header, footer').filter({ visible: true }).count()).toBe(0);
  await frame.locator('#collapse .sheet').click();
  await enter(frame.locator('#field-collapse-variance'), '2');
  await page.waitForFunction(() => JSON.stringify((window as unknown as Heard).heard).includes('variance=2'));
  const link = frame.locator('.whole-page');
  expect(await link.getAttribute('href')).toMatch(/^\/some\/where\/#collapse\?.*variance=2.*figure=depth$/);
  expect(errors).toEqual([]);
});

interface Heard {
  heard: unknown[];
}

test('an embedded wall of heads has its sentence and its switches', async () => {
  const { page, errors } = await visit(browser, `${host.address}?embed=wall#model`, { settle: false });
  const wall = page.locator('#figure-wall');
  await wall.locator('canvas, svg').first().waitFor();
  expect(await page.locator('.figure:visible').evaluateAll((all) => all.map(({ id }) => id))).toEqual(['figure-wall']);
  for (const control of ['#field-model-reading', '[data-action="ablate"]', '[data-examples] button']) {
    expect(await page.locator(control).first().isVisible()).toBe(true);
  }
  expect(await page.locator('[data-table-status], [data-axis]').filter({ visible: true }).count()).toBe(0);
  expect(errors).toEqual([]);
});

test('an embedded figure of two checkpoints says that they are not open', async () => {
  const { page } = await visit(browser, `${host.address}?embed=compare#model`, { settle: false });
  await page.getByText('needs checkpoints that are not open here').waitFor();
  expect(await page.locator('.whole-page').getAttribute('href')).toMatch(/#model\?figure=compare$/);
});

test('a name that no figure has is refused with those that there are', async () => {
  const { page } = await visit(browser, `${host.address}?embed=nothing`, { settle: false });
  const notice = page.locator('[data-link-notice]');
  await notice.waitFor();
  expect(await notice.textContent()).toMatch(/embed in the address must be one of lead, .*: found “nothing”/);
});

test('on the whole screen a figure has its controls, and the page comes back', async () => {
  const { page, errors } = await visit(browser, `${host.address}#collapse?depth=3&stacks=2`, { settle: false });
  await settled(page, 'depth');
  const shown = () => page.locator('.figure:visible').evaluateAll((all) => all.map(({ id }) => id));
  const before = await shown();
  const menu = page.locator('#figure-depth .exports');
  await menu.locator('summary').click();
  await menu.locator('button', { hasText: 'Full screen' }).click();
  await expect.poll(shown).toEqual(['figure-depth']);
  expect(await page.locator('#field-collapse-variance').isVisible()).toBe(true);
  expect(await page.locator('header').isVisible()).toBe(false);
  await page.evaluate(() => document.exitFullscreen());
  await expect.poll(shown).toEqual(before);
  expect(await page.locator('header').isVisible()).toBe(true);
  expect(errors).toEqual([]);
});

test('the menu of a figure copies its link and a citation with the version', async () => {
  const { page } = await visit(browser, `${host.address}#collapse?depth=3&stacks=2`, { settle: false });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await settled(page, 'depth');
  const menu = page.locator('#figure-depth .exports');
  await menu.locator('summary').click();
  await menu.locator('button', { hasText: 'Link' }).click();
  await menu.locator('button', { hasText: 'Copied' }).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toContain('#collapse?');
  expect(link).toContain('figure=depth');
  await menu.locator('button', { hasText: 'Cite' }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('@software'));
  const citation = await page.evaluate(() => navigator.clipboard.readText());
  expect(citation).toContain(`version = {${VERSION}}`);
  expect(citation).toContain(link);
});
