// Pictures of every view for README and docs, on screens of several sizes, light and dark, and the picture of links to
// the page; in build/screenshots those of every figure, to look at.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'vitest';
import { viewNames } from '../../web/chapters/views';
import { ALWAYS, browser, host, openBrowser, QUICK, settled, visit } from './browser';

const root = fileURLToPath(new URL('../..', import.meta.url));
const KEPT = join(root, 'docs/screenshots');
const LOOKED_AT = join(root, 'build/screenshots');
/** Of the pictures in the repository: all together below 2 MB. */
const QUALITY = 75;
/** Milliseconds for the last drawing. */
const DRAWING = 400;

/** Size of the picture that services show beside a link (Open Graph). */
const PREVIEW = { width: 1200, height: 630 };
/** Pixels above the figure in it. */
const MARGIN = 14;

openBrowser();
for (const folder of [KEPT, LOOKED_AT]) mkdirSync(folder, { recursive: true });

const devices = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const screens = [
  { name: 'desktop', viewport: devices.desktop, colorScheme: 'light' },
  { name: 'wide-dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  { name: 'phone', viewport: devices.phone, colorScheme: 'light' },
] as const;
/** Of the first view alone: all pictures of a repository are to stay small. */
const DARK_PHONE = { name: 'phone-dark', viewport: devices.phone, colorScheme: 'dark', view: 'localize' } as const;

test.each([...screens.flatMap((screen) => viewNames.map((view) => ({ ...screen, view }))), DARK_PHONE])(
  '$view, $name',
  async ({ name, view, ...look }) => {
    const { page } = await visit(browser, `${host.address}#${view}`, { ...look, reducedMotion: 'reduce' });
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    await page.waitForTimeout(DRAWING);
    await page.screenshot({ path: join(KEPT, `${view}-${name}.jpg`), quality: QUALITY });
    await page.context().close();
  },
);

test.each([
  ['small', 0.001],
  ['large', 30],
])('the first figure at a %s variance', async (name, variance) => {
  const address = `${host.address}#localize?variance=${variance}`;
  const { page } = await visit(browser, address, { viewport: devices.desktop, colorScheme: 'light' });
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  await page.waitForTimeout(DRAWING);
  await page.addStyleTag({ content: '.cell-line, .controls { visibility: hidden }' });
  const { x, y, width, height } = (await page.locator('#figure-lead .chart > svg').boundingBox())!;
  const clip = { x: x - MARGIN, y: y - MARGIN / 2, width: width + 2 * MARGIN, height: height + MARGIN };
  await page.screenshot({ path: join(KEPT, `lead-${name}.jpg`), quality: QUALITY, clip });
  await page.context().close();
});

test('the picture of links to the page', async () => {
  const viewport = { width: PREVIEW.width, height: 830 }; // the whole figure
  const { page } = await visit(browser, host.address, { viewport, colorScheme: 'light' });
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  await page.waitForTimeout(DRAWING);
  await page.addStyleTag({ content: '.lede, figcaption, .controls { visibility: hidden }' });
  const { y } = (await page.locator('#figure-lead').boundingBox())!;
  await page.screenshot({ path: join(root, 'web/preview.png'), clip: { x: 0, y: y - MARGIN, ...PREVIEW } });
  await page.context().close();
});

test.each(
  Object.entries(devices).flatMap(([device, viewport]) =>
    (['light', 'dark'] as const).map((colours) => [device, colours, viewport] as const),
  ),
)('every figure on a %s, %s', async (device, colorScheme, viewport) => {
  const address = `${host.address}#${QUICK}&head=sample:0.7`;
  const { page } = await visit(browser, address, { viewport, colorScheme });
  const path = (name: string) => join(LOOKED_AT, `${device}-${colorScheme}-${name}.png`);
  for (const id of ALWAYS) {
    await settled(page, id);
    await page.waitForTimeout(DRAWING);
    await page.locator(`#figure-${id}`).screenshot({ path: path(id) });
  }
  await page.locator('#tab-localize').click();
  await page.locator('#models').screenshot({ path: path('models') });
  await page.context().close();
});
