// What must be seen in any browser, at any width, with any colours.
import { describe, expect, test } from 'vitest';
import { viewNames } from '../../web/chapters/views';
import { FIGURES } from '../../web/ui/registry';
import { blocks, browser, go, host, openBrowser, openTable, settled, showView, visit } from './browser';

openBrowser();

test('nothing of a view is wider than a screen of 320 px', async () => {
  const { page } = await visit(browser, host.address, { viewport: { width: 320, height: 640 }, settle: false });
  for (const view of viewNames) {
    await showView(page, view);
    await page.locator(`#${view} .exports`).first().waitFor();
    const wider = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await expect.poll(wider, { message: view }).toBeLessThanOrEqual(0);
  }
});

test.each([1280, 390])(
  'the texts of panels lie in their picture and on no other text, at a width of %i px',
  async (width) => {
    const { page } = await visit(browser, `${host.address}#train`, { viewport: { width, height: 800 }, settle: false });
    const shown = { train: ['run-curves', 'run-logits'], model: ['token-metric'] } as const;
    for (const view of ['train', 'model'] as const) {
      await showView(page, view);
      for (const id of shown[view]) {
        await go(page, `${view}?figure=${id}`);
        await settled(page, id);
        await page.waitForTimeout(1000); // panels are drawn one by one
        const wrong = await page.locator(`#figure-${id} svg[role="img"]`).evaluate((svg) => {
          const frame = svg.getBoundingClientRect();
          const texts = [...svg.querySelectorAll('text')].filter((it) => it.textContent);
          const boxes = texts.map((it) => ({ text: it.textContent!, box: it.getBoundingClientRect() }));
          const outside = boxes.filter(({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1);
          const titles = boxes.filter((_, i) => texts[i].closest('[data-mark="title"]'));
          const covered = titles.filter((a) =>
            titles.some(
              (b) => a !== b && a.box.top === b.box.top && a.box.left < b.box.left && a.box.right > b.box.left,
            ),
          );
          return [texts.length > 5, ...[...outside, ...covered].map(({ text }) => text)];
        });
        expect(wrong, id).toEqual([true]);
      }
    }
  },
);

/** Pixels that a chapter may be high with its folded figures closed, at a width. */
const HIGHEST = [
  { viewport: { width: 1280, height: 800 }, most: 4200 },
  { viewport: { width: 390, height: 844 }, most: 7000 },
];

test.each(HIGHEST)('a view is at most $most px high at a width of $viewport.width px', async ({ viewport, most }) => {
  const { page } = await visit(browser, host.address, { viewport, settle: false });
  for (const view of viewNames) {
    await showView(page, view);
    await page.locator(`#${view} .exports`).first().waitFor();
    for (const figure of await page.locator(`#${view} .figure:visible`).all()) {
      await figure.scrollIntoViewIfNeeded();
      await figure.locator('.chart.drawn').waitFor();
    }
    const height = () => page.evaluate(() => document.documentElement.scrollHeight);
    await expect.poll(height, { message: view }).toBeLessThanOrEqual(most);
  }
});

test('at most fifteen figures are in sight, the others one click away', async () => {
  const { page } = await visit(browser, host.address, { settle: false });
  await expect.poll(() => page.locator('.figure').evaluateAll((all) => all.length)).toBe(FIGURES.length);
  let inSight = 0;
  for (const view of viewNames) {
    await showView(page, view);
    await page.locator(`#${view} .exports`).first().waitFor({ state: 'attached' });
    inSight += await page.locator(`#${view} .figure:visible`).count();
  }
  expect(inSight).toBeLessThanOrEqual(15);
  // One that a link unfolds has its title in sight, below the bar.
  await go(page, 'train?figure=trainability');
  const line = page.locator('details.folded:has(#figure-trainability) > summary');
  const bar = page.locator('.masthead');
  await expect
    .poll(async () => (await line.boundingBox())!.y - (await bar.boundingBox())!.height)
    .toBeGreaterThanOrEqual(0);
  expect((await line.boundingBox())!.y).toBeLessThan(200);
});

describe.each([
  ['with forced colours', { forcedColors: 'active' as const }],
  ['on paper', { media: 'print' as const }],
])('%s', (_, media) => {
  test('the chosen one of several buttons looks different from the others', async () => {
    const { page } = await visit(browser, host.address);
    await page.emulateMedia(media);
    const look = (state: string) =>
      page
        .locator(`#localize .segments input${state} + span`)
        .first()
        .evaluate((it) => {
          const { backgroundColor, fontWeight, borderTopWidth } = getComputedStyle(it);
          return [backgroundColor, fontWeight, borderTopWidth].join();
        });
    expect(await look(':checked')).not.toBe(await look(':not(:checked)'));
  });
});

test('titles of columns are on one line, and no list cuts its choices', async () => {
  const { page } = await visit(browser, `${host.address}#model`, { settle: false });
  await openTable(page);
  const heights = await page
    .locator('.head-table th button')
    .evaluateAll((all) => all.map((it) => it.getBoundingClientRect().height));
  expect(heights.length).toBeGreaterThan(5);
  expect(Math.max(...heights)).toBeLessThan(32);
  await page.goto(`${host.address}#collapse`);
  const cut = await page.locator('select:visible').evaluateAll((all) => {
    const context = document.createElement('canvas').getContext('2d');
    return (all as HTMLSelectElement[]).flatMap((it) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(it);
      if (context) context.font = font;
      const arrow = 18;
      const room = it.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
      const texts = [...it.options].map(({ text }) => text);
      return texts.filter((text) => (context?.measureText(text).width ?? 0) > room);
    });
  });
  expect(cut).toEqual([]);
});

test('what is wrong with a link is in sight where the link opens', async () => {
  const hash = `#collapse?colour=red&depth=2&depth=3&mean=${'9'.repeat(100_000)}%00&figure=cosines`;
  const { page } = await visit(browser, `${host.address}${hash}`, { settle: false });
  const notice = page.locator('[data-link-notice] span', { hasText: '“colour”' });
  await notice.waitFor();
  expect((await notice.textContent())?.length).toBeLessThan(400);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(500);
  const box = await notice.boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect(box?.y).toBeLessThan(300);
  await page.locator('#collapse .field .error', { hasText: '9…' }).waitFor({ state: 'attached' });
});

test('a huge problem says how long it takes, and can be cancelled and started again', async () => {
  const huge = `#${blocks('width=4096&length=2048&depth=512')}`; // days
  const { page } = await visit(browser, `${host.address}${huge}`, { settle: false });
  const wait = page.locator('#figure-depth .wait');
  await page.locator('#figure-depth').scrollIntoViewIfNeeded();
  // Nobody has asked for it but the link.
  await wait.filter({ hasText: /^Not started: it takes about \d+ (h|days)/ }).waitFor();
  await wait.getByRole('button', { name: /^Compute/ }).click();
  await wait.filter({ hasText: /^Computing for \d+ s; about \d+ (h|days) left/ }).waitFor();
  await wait.getByRole('button', { name: /^Cancel/ }).click();
  await wait.filter({ hasText: 'Cancelled.' }).waitFor();
  await page.waitForTimeout(2500);
  expect(await wait.textContent()).toContain('Cancelled.');
  await wait.getByRole('button', { name: /^Compute/ }).click();
  await wait.filter({ hasText: /^Computing for/ }).waitFor();
});

test('a copied link is answered on the button', async () => {
  const { page } = await visit(browser, host.address, { permissions: ['clipboard-read', 'clipboard-write'] });
  const button = page.locator('#localize [data-action="copy"]').first();
  await button.click();
  await expect.poll(() => button.textContent()).toBe('Link copied');
  await expect.poll(() => button.textContent(), { timeout: 10_000 }).toBe('Copy link');
});
