import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { ViewName } from '../../web/chapters/views';
import { entryOf, FIGURES, type FigureId } from '../../web/ui/registry';
import { parseCsv } from '../csv';
import { launch, serve, type Host } from './host';

export { checkpoint, fileAddress, serve } from './host';

/** The figures that wait for a second checkpoint, or for weights. */
export const WAITING: readonly FigureId[] = ['compare', 'head-steps', 'surgery'];
/** The figures that are always there. */
export const ALWAYS: FigureId[] = FIGURES.map(({ id }) => id).filter((id) => !WAITING.includes(id));

/** A link to the view of stacks, with one that is soon computed. */
export const QUICK = 'collapse?depth=2&stacks=2&width=16&length=16';

/** A link to stacks of blocks with skip connection and normalization on random walks, and what differs. */
export function blocks(own: string): string {
  const all = new URLSearchParams(
    'variance=0.1&length=48&tokens=random-walk&correlation=0.9&mask=causal&residual_weight=1&layer_norm=pre',
  );
  new URLSearchParams(own).forEach((value, name) => all.set(name, value));
  return `collapse?${all}`;
}

/** The browser and the host of one file's tests, there once they have begun. */
export let browser: Browser;
export let host: Host;

/** Starts the browser and the host before a file's tests, and ends them after. */
export function openBrowser(): void {
  beforeAll(async () => {
    host = await serve();
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    host.close();
  });
}

/** A page with what went wrong on it and what it asked of other places. */
export interface Visit {
  page: Page;
  errors: string[];
  foreign: string[];
}

/** What a page looks like unless a test asks otherwise; the media features have their defaults. */
const LOOK = {
  viewport: { width: 1280, height: 900 },
  colorScheme: 'light',
  reducedMotion: 'no-preference',
  forcedColors: 'none',
  contrast: 'no-preference',
} as const;

/** Blank pages that tests have left, by their options. A visit on one takes half the time of one in a new context. */
const left = new Map<string, Page[]>();

/** Takes from a page what a test may have changed, and keeps it for the next test. */
async function leave(page: Page, options: BrowserContextOptions): Promise<void> {
  const context = page.context();
  for (const listened of ['console', 'pageerror', 'dialog', 'request'] as const)
    await page.removeAllListeners(listened);
  await context.removeAllListeners('request');
  await context.unrouteAll();
  await context.setOffline(false);
  await page.evaluate(() => localStorage.clear());
  await page.goto('about:blank');
  await page.emulateMedia({ media: null, ...options });
  if (options.viewport) await page.setViewportSize(options.viewport);
  await page.mouse.up();
  await page.mouse.move(0, 0);
  const key = JSON.stringify(options);
  left.set(key, [...(left.get(key) ?? []), page]);
}

/** The page at its defaults: at a bare address the variance runs from a large one to a small one. */
const AT_REST = '#localize?variance=1';

/**
 * Opens an address, and waits for the engine's first answer unless told not to. The page is for this test alone, unless
 * it is `kept` for the tests of a file; a blank one, to which scripts may be added, is always new.
 */
export async function visit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions & { settle?: boolean; kept?: boolean } = {},
): Promise<Visit> {
  const { settle = true, kept = false, ...own } = options;
  const look: BrowserContextOptions = { ...LOOK, ...own };
  const blank = address === 'about:blank';
  const page = (!blank && left.get(JSON.stringify(look))?.pop()) || (await (await browser.newContext(look)).newPage());
  const context = page.context();
  if (!kept)
    onTestFinished(async ({ task }) => {
      const again = !blank && task.result?.state === 'pass';
      await (again ? leave(page, look) : Promise.reject()).catch(() => context.close());
    });
  const errors: string[] = [];
  const foreign: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  const from = new URL(address);
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    const inside = protocol === 'data:' || protocol === 'blob:';
    if (!inside && (protocol !== from.protocol || host !== from.host)) foreign.push(request.url());
  });
  await page.goto(blank || address.includes('#') ? address : address + AT_REST);
  if (settle) {
    await settled(page, await firstFigure(page));
    await page.locator('#figure-head-text .exports').waitFor({ state: 'attached' }); // all chapters have started
  }
  return { page, errors, foreign };
}

/** The first figure of the view that is shown. */
async function firstFigure(page: Page): Promise<FigureId> {
  const first = page.locator('[role="tabpanel"]:not([hidden]) .figure').first();
  return (await first.getAttribute('id'))?.replace('figure-', '') as FigureId;
}

/** Shows the view of a figure, by its tab. */
export async function showView(page: Page, view: ViewName): Promise<void> {
  const tab = page.locator(`#tab-${view}`);
  if ((await tab.getAttribute('aria-selected')) !== 'true') await tab.click();
}

/** Opens what a place is folded into. */
export async function unfold(place: Locator): Promise<void> {
  await place.evaluate((it) => {
    for (let around = it.closest('details'); around; around = around.parentElement!.closest('details'))
      around.open = true;
  });
}

/** Opens the table of heads. */
export const openTable = (page: Page) => unfold(page.locator('[data-head-table]'));

/** Opens the controls of Localize that are not always in sight. */
export async function openMore(page: Page): Promise<void> {
  await page.locator('#localize .more-controls').evaluate((it: HTMLDetailsElement) => {
    it.open = true;
  });
}

/** Shows heads in the first figure, or all that it can show. */
export async function showInLead(page: Page, detail: 'heads' | 'all'): Promise<void> {
  await showView(page, 'localize');
  await openMore(page);
  await page.locator('#field-localize-detail').selectOption(detail);
}

/** Waits until a figure has the engine's full answer. */
export async function settled(page: Page, id: FigureId): Promise<void> {
  await showView(page, entryOf(id).chapter);
  const figure = page.locator(`#figure-${id}`);
  await unfold(figure);
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('.progress.done').waitFor({ state: 'attached', timeout: 60_000 });
}

/** Gives a page that is open the state of a link, and waits until it has heard of it. */
export async function go(page: Page, hash: string): Promise<void> {
  await page.evaluate(async (it) => {
    const heard = new Promise((done) => addEventListener('hashchange', done, { once: true }));
    const before = location.hash;
    location.hash = it;
    if (location.hash !== before) await heard;
  }, hash);
}

/** The live part of a figure's caption. */
export async function caption(page: Page, id: FigureId): Promise<string | null> {
  return page.locator(`#figure-${id} [data-live]`).textContent();
}

/** Presses a button that saves a file, and returns it. Chromium drops downloads beyond ten a second. */
export async function saved(button: Locator): Promise<Buffer> {
  await unfold(button);
  for (let tries = 0; ; ++tries) {
    const waiting = button.page().waitForEvent('download', { timeout: tries < 3 ? 2000 : 30_000 });
    const [download] = await Promise.allSettled([waiting, button.click()]);
    if (download.status === 'fulfilled') return readFileSync(await download.value.path());
    if (tries === 3) throw download.reason;
  }
}

/** Presses an export button of a figure and returns what was saved. */
export async function exported(page: Page, id: FigureId, kind: string): Promise<Buffer> {
  await showView(page, entryOf(id).chapter);
  return saved(page.locator(`#figure-${id} [data-export="${kind}"]`));
}

/** The rows of a figure's CSV file. */
export async function csv(page: Page, id: FigureId): Promise<Record<string, string>[]> {
  return parseCsv((await exported(page, id, 'csv')).toString());
}

/** Expects that a head of the open MiniLM says the same in Localize as that of the sample. */
export async function expectSampleHead(page: Page): Promise<void> {
  await showView(page, 'localize');
  const details = [];
  for (const id of ['sample:3.7', 'file:3.7']) {
    await page.locator(`[data-head="${id}"]`).focus();
    const text = await page.locator('[data-head-detail]').textContent();
    details.push(text?.replace(/^.*layer/, 'layer'));
  }
  expect(details[1]).toBe(details[0]);
}

/** The centre of a mark in an exported picture. */
export interface Mark {
  x: number;
  y: number;
}

/** Centres of the marks of one kind in the exported picture. */
export async function marks(page: Page, svg: string, kind: string): Promise<Mark[]> {
  return page.evaluate(
    ([text, name]) => {
      const picture = new DOMParser().parseFromString(text, 'image/svg+xml');
      const found = picture.querySelectorAll(`[data-mark="${name}"] circle`);
      const number = (it: Element, key: string) => Number(it.getAttribute(key));
      return [...found].map((it) => ({ x: number(it, 'cx'), y: number(it, 'cy') }));
    },
    [svg, kind],
  );
}

/** Whether marks are at the values of a column, along an axis with this scale. */
export function expectPlaced(
  rows: Record<string, string>[],
  column: string,
  marks: Mark[],
  axis: keyof Mark,
  scale = (value: number) => value,
): void {
  const values = rows.map((row) => scale(Number(row[column])));
  const pixels = marks.map((mark) => mark[axis]);
  expectStraight(values, pixels);
}

/** Whether pixels are one straight line of the values, as an axis makes them. */
export function expectStraight(values: number[], pixels: number[]): void {
  expect(pixels.length).toBe(values.length);
  expect(values.length).toBeGreaterThan(2); // two points always lie on a line
  const low = values.indexOf(Math.min(...values));
  const high = values.indexOf(Math.max(...values));
  const slope = (pixels[high] - pixels[low]) / (values[high] - values[low]);
  values.forEach((value, i) => {
    expect(pixels[i]).toBeCloseTo(pixels[low] + slope * (value - values[low]), 1);
  });
}
