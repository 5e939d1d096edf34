// Every figure once, for several observers: the policies that hosts send, the layout on two screens, and axe.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { viewNames } from '../../web/chapters/views';
import { figuresOf } from '../../web/ui/registry';
import { check, DARK, FORCED, LIGHT } from './axe';
import { ALWAYS, browser, openBrowser, QUICK, settled, unfold, visit } from './browser';
import type { Host } from './host';
import { serveStrictly } from './policies';

openBrowser();

let strict: Host;
beforeAll(async () => {
  strict = await serveStrictly();
});
afterAll(() => strict.close());

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };

/** Width and height of the whole page on a screen, once its pictures were drawn for it. */
async function sizeOn(page: Page, screen: typeof PHONE): Promise<typeof PHONE> {
  await page.setViewportSize(screen);
  return page.evaluate(async () => {
    const root = document.documentElement;
    // One that was drawn for a wider screen is scaled to its place.
    const isStale = (svg: SVGSVGElement) => {
      const { width, height } = svg.getBoundingClientRect();
      return height > 0 && width < svg.width.baseVal.value - 1;
    };
    for (let height = NaN, same = 0; same < 3; height = root.scrollHeight) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const stale = [...document.querySelectorAll<SVGSVGElement>('.chart svg[role="img"]')].some(isStale);
      same = root.scrollHeight === height && !stale ? same + 1 : 0;
    }
    return { width: root.scrollWidth, height: root.scrollHeight };
  });
}

test.each(viewNames)(
  '%s: every figure computes under strict policies and comes into its reserved place, nothing exceeds the screen of a ' +
    'desktop or phone, and axe finds no violation in any colours',
  async (view) => {
    const link = view === 'collapse' ? `${QUICK}&head=sample:0.3` : `${view}?head=sample:0.3`;
    const { page, errors, foreign } = await visit(browser, `${strict.address}#${link}`, { settle: false });
    const ids = figuresOf(view)
      .map(({ id }) => id)
      .filter((id) => ALWAYS.includes(id));
    for (const id of ids) await page.locator(`#figure-${id} .exports`).first().waitFor({ state: 'attached' });
    for (const folded of await page.locator(`#${view} details.folded > *`).all()) await unfold(folded);
    // The wider screen first: what was drawn for a narrow one does not fill its place.
    const before = { desktop: await sizeOn(page, DESKTOP), phone: await sizeOn(page, PHONE) };
    await page.setViewportSize(DESKTOP);
    for (const id of ids) {
      await settled(page, id);
      expect(await page.locator(`#figure-${id} .chart svg[role="img"]`).count(), id).toBe(1);
      expect(await page.locator(`#figure-${id} .message`).textContent(), id).toBe('');
    }
    const expectPlaced = async (screen: typeof PHONE, reserved: typeof PHONE) => {
      const { width, height } = await sizeOn(page, screen);
      expect(width).toBeLessThanOrEqual(screen.width);
      // Captions gain a line or two.
      expect(Math.abs(height / reserved.height - 1)).toBeLessThan(0.08);
    };
    await expectPlaced(DESKTOP, before.desktop);
    await check(page, `${view} on a desktop`, [LIGHT, DARK, FORCED]);
    await page.emulateMedia(LIGHT[1]);
    await page.setViewportSize(PHONE);
    for (const id of ids) {
      await settled(page, id); // drawn again in its new width
      const wider = () => page.locator(`#figure-${id}`).evaluate((it) => it.scrollWidth - innerWidth);
      await expect.poll(wider, { message: id }).toBeLessThanOrEqual(0);
    }
    await expectPlaced(PHONE, before.phone);
    await check(page, `${view} on a phone`, [LIGHT]);
    expect(errors).toEqual([]);
    expect(foreign).toEqual([]);
  },
  120_000,
);
