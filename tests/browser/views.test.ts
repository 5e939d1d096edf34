// The views of the page: tabs and keys, what each has for itself, links, presets and paper.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { viewNames, type ViewName } from '../../web/chapters/views';
import { entryOf, figuresOf } from '../../web/ui/registry';
import { browser, go, host, openBrowser, QUICK, settled, showView, unfold, visit, WAITING } from './browser';
import { enter } from './gestures';

openBrowser();

/** Charts above a place come one after the other, and may grow. */
const PATIENCE = { timeout: 15_000 };

const hash = (page: Page) => new URL(page.url()).hash;
const field = (page: Page, view: ViewName, name: string) => page.locator(`#field-${view}-${name}`).inputValue();
const shown = (page: Page) =>
  page
    .locator('[role="tabpanel"]')
    .evaluateAll((panels) => panels.filter((it) => it.checkVisibility()).map(({ id }) => id as string));

test.each(viewNames)('%s: the first control is within 12 tab stops of the page’s start', async (view) => {
  const { page } = await visit(browser, `${host.address}#${view}`, { settle: false });
  await page.locator(`#${view} [data-control] input`).first().waitFor({ state: 'attached' });
  const control = `#${view} :is(.panel, [data-ask]) [data-control] :is(input, select)`;
  let stops = 0;
  do {
    await page.keyboard.press('Tab');
    stops++;
  } while (stops < 13 && !(await page.evaluate((it) => document.activeElement?.matches(it), control)));
  expect(stops).toBeLessThanOrEqual(12);
});

test('arrow keys, Home and End choose among the tabs, and only the chosen view is there', async () => {
  const { page, errors } = await visit(browser, host.address, { settle: false });
  await page.locator('#tab-localize').focus();
  await expect.poll(() => page.locator('[role="tab"][tabindex="0"]').count()).toBe(1);
  const steps: [string, ViewName][] = [
    ['ArrowRight', 'collapse'],
    ['End', viewNames[viewNames.length - 1]],
    ['ArrowRight', 'localize'],
    ['ArrowLeft', viewNames[viewNames.length - 1]],
    ['Home', 'localize'],
  ];
  for (const [key, view] of steps) {
    await page.keyboard.press(key);
    expect(await shown(page)).toEqual([view]);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe(`tab-${view}`);
    expect(await page.locator('[role="tab"][aria-selected="true"]').getAttribute('id')).toBe(`tab-${view}`);
  }
  await page.goBack();
  await expect.poll(() => shown(page)).toEqual([viewNames[viewNames.length - 1]]);
  expect(errors).toEqual([]);
});

test('each view has a state of its own, and the link is that of the view', async () => {
  const { page } = await visit(browser, `${host.address}#localize?mean=0.5&length=32`);
  await showView(page, 'collapse');
  expect(hash(page)).toBe('#collapse');
  expect(await field(page, 'collapse', 'mean')).toBe('0.25');
  await unfold(page.locator('#field-collapse-depth'));
  await enter(page.locator('#field-collapse-depth'), '3');
  await expect.poll(() => hash(page)).toBe('#collapse?depth=3');
  await showView(page, 'localize');
  expect(hash(page)).toBe('#localize?mean=0.5&length=32');
  expect(await field(page, 'localize', 'mean')).toBe('0.5');
  await go(page, '#collapse?depth=5');
  await expect.poll(() => field(page, 'collapse', 'depth')).toBe('5');
  expect(await field(page, 'localize', 'length')).toBe('32');
});

test('a link of an earlier page is called too old, and the page begins with its defaults', async () => {
  const { page } = await visit(browser, `${host.address}#m=0.5&D=4`);
  const notice = page.locator('[data-link-notice] span');
  expect(await notice.textContent()).toMatch(/earlier version.* begins with its defaults/);
  expect(await shown(page)).toEqual(['localize']);
  expect(await field(page, 'localize', 'mean')).toBe('0.25');
  await go(page, 'localize?mean=0.5');
  await expect.poll(() => notice.textContent()).toBe('');
});

test('what a link says that is not followed is said at the top, in few words', async () => {
  const long = 'x'.repeat(100_000);
  const address = `${host.address}#localize?mean=0.5&zz=1&mean=0.7&width=%00-3&tokens=${long}`;
  const { page } = await visit(browser, address);
  const notice = page.locator('[data-link-notice] span');
  const text = (await notice.textContent()) ?? '';
  expect(text).toMatch(/Unknown in a link to Localize: “zz”\./);
  expect(text).toMatch(/the first is used: “mean”\./);
  expect(text).toMatch(/Width “�-3”, Tokens “x{40}…”/);
  expect((await notice.boundingBox())?.y).toBeLessThan(200);
  expect(await field(page, 'localize', 'mean')).toBe('0.5');
  await page.locator('[data-link-notice] button').click();
  expect(await notice.isHidden()).toBe(true);
  await go(page, 'localize?mean=0.5&zz=2');
  await expect.poll(() => notice.textContent()).toContain('“zz”');
  await go(page, 'localize?mean=0.5&figure=learning-rate');
  await expect.poll(() => notice.textContent()).toContain('Localize has no figure “learning-rate”.');
  await go(page, 'localize?mean=0.5');
  await expect.poll(() => notice.textContent()).toBe('');
});

test.each([
  ['cosines', 'collapse?depth=2&stacks=2&figure=cosines'],
  ['cosines', 'figure-cosines'],
  ['run-curves', 'train?figure=run-curves'],
  ['run-logits', 'train?figure=run-logits'],
] as const)('a link opens at its figure %s, also when those above it are drawn: #%s', async (id, hash) => {
  const { page } = await visit(browser, `${host.address}#${hash}`, { settle: false });
  const { chapter } = entryOf(id);
  expect(await shown(page)).toEqual([chapter]);
  await page.locator(`#figure-${id} .progress.done`).waitFor({ state: 'attached' });
  if (chapter === 'train') await page.locator('#figure-run-map .chart > svg').waitFor();
  const top = () => page.locator(`#figure-${id}`).evaluate((it) => it.getBoundingClientRect().top);
  await expect.poll(top).toBeGreaterThanOrEqual(0);
  expect(await top()).toBeLessThan(450);
});

test.each([
  ['localize', 'self-attention', 1280],
  ['train', 'published', 1280],
  ['model', 'token-metric', 390],
] as const)(
  'a link in %s to %s unfolds it, with its title below the header, at a width of %i',
  async (view, id, width) => {
    const { page } = await visit(browser, `${host.address}#${view}`, { viewport: { width, height: 800 } });
    const link = page.locator(`#${view} a[href="#figure-${id}"]`).first();
    const fold = page.locator('details.folded', { has: page.locator(`#figure-${id}`) });
    await expect.poll(() => fold.count()).toBe(1);
    for (const from of ['above', 'below']) {
      await fold.evaluate((it: HTMLDetailsElement) => (it.open = false));
      await page.evaluate((it) => scrollTo(0, it === 'above' ? 0 : document.body.scrollHeight), from);
      await link.evaluate((it: HTMLAnchorElement) => it.click());
      const below = async () =>
        (await fold
          .locator('summary')
          .first()
          .evaluate((it) => it.getBoundingClientRect().top)) -
        (await page.locator('.masthead').evaluate((it) => it.getBoundingClientRect().bottom));
      await expect.poll(() => fold.evaluate((it: HTMLDetailsElement) => it.open)).toBe(true);
      await expect.poll(below, PATIENCE).toBeGreaterThanOrEqual(0);
      await expect.poll(below, PATIENCE).toBeLessThan(400);
    }
  },
);

test('a preset goes to its figure, says what it shows and leaves other views alone', async () => {
  const { page } = await visit(browser, `${host.address}#${QUICK}&mean=0.5&head=sample:2.5`);
  await showView(page, 'localize');
  await unfold(page.locator('#figure-lead .more-presets ul'));
  await page.getByRole('link', { name: 'Early', exact: true }).click();
  expect(await field(page, 'localize', 'mean')).toBe('-0.25');
  const text = page.locator('#preset-localize-early');
  expect(await text.isVisible()).toBe(true);
  const box = await page.locator('#figure-lead').boundingBox();
  expect(box && box.y < 450).toBe(true);
  await page.locator('#field-localize-mean').fill('0.3');
  const left = () => text.evaluate((it) => getComputedStyle(it, '::after').content);
  await expect.poll(left).toContain('The controls have changed since.');
  expect(await page.locator('#localize .preset[aria-current]').count()).toBe(0);
  expect(hash(page)).toContain('head=sample:2.5'); // chosen for the whole page
  expect(await field(page, 'collapse', 'mean')).toBe('0.5');
  expect(await field(page, 'collapse', 'depth')).toBe('2');
});

test('help stands above the control in use, in the page’s words', async () => {
  const { page } = await visit(browser, host.address);
  const help = page.locator('#localize [data-help]');
  expect(await help.isVisible()).toBe(false);
  const control = page.locator('#field-localize-variance');
  await control.focus();
  expect(await help.textContent()).toMatch(/Variance v .*Typical: .* to .*Allowed: a number from 0 to 10¹²/);
  const [above, own] = await Promise.all([help.boundingBox(), control.boundingBox()]);
  expect(above!.y + above!.height).toBeLessThanOrEqual(own!.y);
  expect(above!.y).toBeGreaterThan(0);
  await page.locator('#tab-localize').focus();
  expect(await help.isVisible()).toBe(false);
});

test('no help says 1e+12 or the name of a variable', async () => {
  const { page } = await visit(browser, host.address, { settle: false });
  await page.locator('#model .help').first().waitFor({ state: 'attached' });
  const texts = await page.locator('.help').allTextContents();
  expect(texts.length).toBeGreaterThan(50);
  for (const text of texts) expect(text).not.toMatch(/\de[+-]?\d|\b[a-z]+_[a-z]+\b|undefined/);
});

test('on a phone the sheet of controls leaves the figure in sight above it, in every view', async () => {
  const { page } = await visit(browser, `${host.address}#${QUICK}`, { viewport: { width: 390, height: 844 } });
  for (const view of viewNames) {
    await page.locator(`#tab-${view}`).click();
    expect(await shown(page)).toEqual([view]);
    const toggle = page.locator(`#${view} [data-action="sheet"]`);
    if ((await toggle.count()) === 0) continue; // each control of a model is at its figure
    // The controls of Train are those of its runs, not of the published ones with which it opens.
    const id = view === 'train' ? 'run-attention' : figuresOf(view)[0]!.id;
    await settled(page, id);
    await toggle.click();
    const share = view === 'uses' ? 0.4 : 0.8; // there the figure is two charts, one below the other
    const sheet = await page.locator(`#${view} .controls`).boundingBox();
    expect(sheet?.height, view).toBeLessThanOrEqual(0.4 * 844 + 1);
    await expect
      .poll(async () => {
        const chart = await page.locator(`#figure-${id} .chart svg`).first().boundingBox();
        return chart && sheet && chart.y >= 0 && chart.y + share * chart.height <= sheet.y;
      }, PATIENCE)
      .toBe(true);
  }
});

test('paper has all views with their charts drawn, and no heading parts from its figure', async () => {
  const { page, errors } = await visit(browser, `${host.address}#${QUICK}`);
  await page.emulateMedia({ media: 'print' });
  const instead = (it: Element) => getComputedStyle(it, '::after').content;
  expect(await page.locator('#figure-depth .chart').evaluate(instead)).toBe('none');
  // Its model has to be read first: figures of the build's answers are drawn as soon as paper shows their view.
  expect(await page.locator('#figure-wall .chart').evaluate(instead)).toContain('Print all chapters');
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate(() => Object.assign(window, { print: () => dispatchEvent(new Event('beforeprint')) }));
  await page.getByRole('button', { name: 'Print all chapters' }).click();
  await page.locator('.printing').waitFor({ state: 'attached', timeout: 120_000 });
  await page.emulateMedia({ media: 'print' });
  expect(await shown(page)).toEqual([...viewNames]);
  for (const view of viewNames) {
    for (const { id } of figuresOf(view)) {
      const figure = page.locator(`#figure-${id}`);
      if (WAITING.includes(id)) continue; // there is one model only, without weights
      expect(await figure.locator('.chart svg[role="img"]').count(), id).toBe(1);
      const box = await figure.locator('.chart svg[role="img"]').first().boundingBox();
      expect(box?.width, id).toBeGreaterThan(200);
      expect(box?.width, id).toBeLessThanOrEqual(660);
      // The caption of a folded one may move on.
      const rule = (it: Element) => [!it.closest('.folded'), getComputedStyle(it).breakInside === 'avoid'];
      expect(new Set(await figure.evaluate(rule)).size, id).toBe(1);
    }
  }
  expect(await page.locator('.lab-picture:visible').count()).toBe(0); // the figures follow
  const line = page.locator('details.folded').first(); // the title of a folded figure stays with it
  expect(await line.evaluate((it) => getComputedStyle(it).breakInside)).toBe('avoid');
  const wide = await page
    .locator('table, .formula, pre')
    .evaluateAll((all) =>
      all.filter((it) => it.scrollWidth * it.currentCSSZoom > 660).map((it) => it.outerHTML.slice(0, 200)),
    );
  expect(wide).toEqual([]); // it would shrink every page
  const ground = (it: Element) => getComputedStyle(it).printColorAdjust;
  expect(await page.locator('[data-heads] button').first().evaluate(ground)).toBe('exact');
  expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(50_000);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  expect(await shown(page)).toEqual(['collapse']);
  await settled(page, 'depth');
  expect(errors).toEqual([]);
});

test('paper is light, and the page dark again after it', async () => {
  const { page } = await visit(browser, host.address, { colorScheme: 'dark' });
  const ground = () =>
    page.locator('#figure-lead canvas').evaluate((it: HTMLCanvasElement) => {
      const [red] = it.getContext('2d')!.getImageData(it.width - 1, 0, 1, 1).data;
      return [document.documentElement.dataset.theme, red! > 127 ? 'light' : 'dark'];
    });
  await expect.poll(ground).toEqual(['dark', 'dark']);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  expect(await ground()).toEqual(['light', 'light']); // at once: the browser does not wait
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await expect.poll(ground).toEqual(['dark', 'dark']);
});

test('a file field is cut off by its label, beyond which some browsers lay it out', async () => {
  const { page } = await visit(browser, `${host.address}#model`);
  const labels = await page.locator('label:has(input[type="file"])').evaluateAll((all) =>
    all.map((it) => {
      const { display, overflowX, position } = getComputedStyle(it);
      return `${overflowX} ${position}${display === 'inline' ? ' but inline' : ''}`;
    }),
  );
  expect(labels.length).toBeGreaterThan(3);
  expect(new Set(labels)).toEqual(new Set(['hidden relative']));
});

test('a link to a place of a chapter whose markup comes with the second script goes there', async () => {
  const { page, errors } = await visit(browser, `${host.address}#limits-collapse`, { settle: false });
  await expect.poll(() => shown(page)).toEqual(['collapse']);
  const top = () => page.locator('#limits-collapse').evaluate((it) => it.getBoundingClientRect().top);
  await expect.poll(top, PATIENCE).toBeLessThan(900);
  expect(await top()).toBeGreaterThanOrEqual(0);
  expect(errors).toEqual([]);
});
