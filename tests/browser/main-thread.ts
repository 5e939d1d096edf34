// What the main thread of the page does while something is dragged or drawn, for `npm run bench:page`. Each value is
// over the time of fixed work beside it, since minutes of one machine differ by a factor of two.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { VIEWS, viewNames, type ViewName } from '../../web/chapters/views';
import { figuresOf } from '../../web/ui/registry';
import { blocks, browser, host, settled, visit } from './browser';

/** The tasks of the page's main thread in a trace, by the milliseconds of CPU that each took. */
function mainThreadTasks(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const thread = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`;
  const main = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(thread),
  );
  return traceEvents
    .filter((event) => event.name.endsWith('RunTask') && event.ph === 'X' && main.has(thread(event)))
    .flatMap(({ tdur }) => (tdur === undefined ? [] : [tdur / 1000]));
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /**
   * CPU time of the thread in microseconds: unlike wall time, not what others on the machine take.
   * The task that the end of the trace cuts has none.
   */
  tdur?: number;
  args: { name?: string };
}

/** The main thread's tasks while something is done, by the milliseconds of CPU that each took. */
async function traced(page: Page, act: () => Promise<void>): Promise<number[]> {
  await browser.stopTracing().catch(() => {}); // of a test that took too long
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await act();
  return mainThreadTasks(await browser.stopTracing());
}

/** How many times the fixed work is done. */
const TIMES = 40;

/** Milliseconds that the fixed work takes now, sorted; in a page of its own, whose tasks alone it counts. */
export async function fixedWork(): Promise<number[]> {
  const page = await browser.newPage();
  const taken = await page.evaluate(async (times) => {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const circles = Array.from({ length: 2000 }, () => document.createElementNS(svg.namespaceURI, 'circle'));
    svg.append(...circles);
    document.body.append(svg);
    const all: number[] = [];
    for (let turn = 0; turn < times; turn++) {
      const start = performance.now();
      circles.forEach((circle, i) => {
        const place = { cx: (i + turn) % 50, cy: i / 50, r: 3 };
        for (const [name, value] of Object.entries(place)) circle.setAttribute(name, `${value}`);
      });
      svg.getBoundingClientRect();
      all.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve));
    }
    return all;
  }, TIMES);
  await page.close();
  return taken.sort((a, b) => a - b);
}

/** Drags what a selector names to and fro along a row of pixels, by `reach` or a share of its own width. */
async function drag(page: Page, selector: string, reach?: number): Promise<void> {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`${selector} has no place`);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) await page.mouse.move(x + (reach ?? 0.4 * box.width) * Math.sin(i / 8), y);
  await page.mouse.up();
}

/** Main-thread tasks while something is done, by their processor time over that of the fixed work around them. */
async function tasksOf(page: Page, act: () => Promise<void>, least = 100): Promise<number[]> {
  // The least is what others on the machine disturb least.
  const before = (await fixedWork())[0]!;
  const tasks = await traced(page, act);
  const work = Math.max(before, (await fixedWork())[0]!);
  expect(tasks.length).toBeGreaterThan(least); // or else nothing was dragged
  return tasks.map((milliseconds) => milliseconds / work).sort((a, b) => a - b);
}

/** The main-thread tasks on a page that is opened by a link: the one than which one in a hundred is longer, and the longest. */
async function tasksOn(link: string, act: (page: Page) => Promise<void>, least?: number): Promise<[number, number]> {
  const { page } = await visit(browser, `${host.address}${link}`);
  await page.waitForTimeout(1000);
  const tasks = await tasksOf(page, () => act(page), least);
  await page.context().close(); // or its runs would train on beside the next page
  return [tasks[Math.floor(0.99 * tasks.length)]!, tasks.at(-1)!];
}

/** The wait for the first figure of a chapter after a click on its tab. */
async function tabShown(view: ViewName): Promise<number> {
  const { page } = await visit(browser, host.address);
  const chart = page.locator(`#figure-${figuresOf(view)[0]!.id} .chart`);
  const start = performance.now();
  await page.locator(`#tab-${view}`).click();
  await chart.scrollIntoViewIfNeeded();
  await chart.locator('svg[role="img"]').waitFor();
  const waited = performance.now() - start;
  const ratio = waited / (await fixedWork())[TIMES / 2]!; // by the clock: others on the machine delay both
  await page.context().close();
  return ratio;
}

const STACKS = `#${blocks('depth=12&length=64&heads=2&stacks=2')}`;
const RUNS = '#train?steps=100000&width=32&log_every=5&runs=none,locater,sigma-reparam,qk-decay';

async function dragEach(page: Page, view: ViewName, names: string[], pause = 0): Promise<void> {
  for (const name of names) {
    await drag(page, `#${view} [data-control="${name}"] input[type="range"]`);
    await page.waitForTimeout(pause);
  }
}

/** Drags handles that lie on pictures, by their names. */
async function dragHandles(page: Page, names: string[]): Promise<void> {
  for (const name of names) {
    await drag(page, `.handle[aria-label="${name} of the eigenspectrum"]`, 60);
    await page.waitForTimeout(1000);
  }
}

async function dragOverStacks(page: Page): Promise<void> {
  for (const id of ['depth', 'collapse-map'] as const) {
    await page.locator(`#figure-${id}`).scrollIntoViewIfNeeded();
    await page.locator(`#figure-${id} svg[role="img"]`).waitFor();
    await dragEach(page, 'collapse', ['residual_weight'], 1000);
  }
}

async function train(page: Page): Promise<void> {
  await page.locator('[data-action="play"]').click();
  await page.waitForTimeout(6000);
  const texts = await page.locator('[data-comparison-runs] span').allTextContents();
  expect(texts.length).toBe(4);
  for (const text of texts) expect(text).toMatch(/step [1-9]/);
}

/** Values of processor or waiting time over that of the fixed work, from one visit, and at most how large each may be. */
export interface Ratios {
  values: { what: string; limit: number }[];
  measure(): Promise<number[]>;
}

// The limits are 50 ms, a frame of 16 ms and a second on the machine where the fixed work took 12 ms at least and 13 ms
// in the median.
const LONGEST = 4.2;
const FRAME = 1.3;
const SECOND = 77;
const tasksWhile = (what: string, ...measured: Parameters<typeof tasksOn>): Ratios => ({
  values: [
    { what: `99 of 100 main-thread tasks while ${what}`, limit: FRAME },
    { what: `longest main-thread task while ${what}`, limit: LONGEST },
  ],
  measure: () => tasksOn(...measured),
});
const longestWhile = (what: string, ...measured: Parameters<typeof tasksOn>): Ratios => ({
  values: [{ what: `longest main-thread task while ${what}`, limit: LONGEST }],
  measure: async () => (await tasksOn(...measured)).slice(1),
});

export const RATIOS: Ratios[] = [
  tasksWhile('mean, length and temperature of Localize are dragged', '', (page) =>
    dragEach(page, 'localize', ['mean', 'length', 'temperature']),
  ),
  tasksWhile('the spectrum is dragged', '', (page) => dragHandles(page, ['Standard deviation', 'Mean'])),
  tasksWhile('the residual weight of stacks is dragged and their map refines', STACKS, dragOverStacks),
  tasksWhile('variance and depth of the default stacks are dragged', '#collapse', (page) =>
    dragEach(page, 'collapse', ['variance', 'depth'], 1000),
  ),
  tasksWhile('the point of the map of collapses is dragged', '#collapse', (page) =>
    dragHandles(page, ['Mean and variance']),
  ),
  longestWhile('four runs train and are drawn', RUNS, train),
  longestWhile('the maps of an experiment come into sight', '#train', (page) => settled(page, 'trainability'), 10),
  ...viewNames
    .filter((view) => view !== 'localize')
    .map((view) => ({
      values: [{ what: `first figure of ${VIEWS[view].title} after a click on its tab`, limit: SECOND }],
      measure: async () => [await tabShown(view)],
    })),
];
