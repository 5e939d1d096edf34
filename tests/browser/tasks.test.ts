// How soon the page is painted, and what its main thread does while something is dragged: times, so nothing runs
// beside this file. They are compared with fixed work, since minutes of one machine differ by a factor of two.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { ViewName } from '../../web/chapters/views';
import { figuresOf } from '../../web/ui/registry';
import { blocks, browser, host, openBrowser, settled, visit } from './browser';

openBrowser();

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

/** How many times the fixed work is done; the least and the median milliseconds of one on the machine of the limits. */
const TIMES = 40;
const LEAST = 12;
const MEDIAN = 13;

/** Milliseconds that the fixed work takes now, sorted; in a page of its own, whose tasks alone it counts. */
async function fixedWork(): Promise<number[]> {
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

/** How many times as slow this machine is now; 1 at least. The least is what others on the machine disturb least. */
async function slowness(): Promise<number> {
  return Math.max(1, (await fixedWork())[0] / LEAST);
}

/** The tasks while something is done, by the milliseconds that each would take on the machine of the limits. */
async function tasksOf(page: Page, act: () => Promise<void>): Promise<number[]> {
  const before = await slowness();
  const tasks = await traced(page, act);
  const slow = Math.max(before, await slowness());
  return tasks.map((milliseconds) => milliseconds / slow);
}

/** Expects tasks, none of which takes over 50 ms. */
function expectShort(tasks: number[], least = 100): void {
  expect(tasks.length).toBeGreaterThan(least);
  expect(tasks.filter((milliseconds) => !(milliseconds <= 50))).toEqual([]);
}

/** Drags a slider to and fro. */
async function dragSlider(page: Page, view: ViewName, name: string): Promise<void> {
  const box = await page.locator(`#${view} [data-control="${name}"] input[type="range"]`).boundingBox();
  if (!box) throw new Error(`the slider of ${name} has no place`);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) {
    await page.mouse.move(box.x + box.width * (0.5 + 0.4 * Math.sin(i / 8)), y);
  }
  await page.mouse.up();
}

/** Expects something within a second of the machine of the limits, by the clock: others on this one delay both. */
async function expectSoon(milliseconds: number): Promise<void> {
  const median = (await fixedWork())[TIMES / 2];
  expect(milliseconds / Math.max(1, median / MEDIAN)).toBeLessThan(1000);
}

test('the lead figure is painted within a second of navigation, before the engine answers', async () => {
  const { page } = await visit(browser, 'about:blank', { settle: false });
  await page.route('**/*.wasm', (route) => route.abort());
  await page.addInitScript(() => {
    const look = () => {
      const points = document.querySelectorAll('#figure-lead [data-mark^="simulation"] circle');
      // A frame in which they are there has begun: the next one is told after it was painted.
      if (points.length > 30) requestAnimationFrame((time) => Object.assign(window, { painted: time }));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(host.address);
  const painted = await page.waitForFunction(() => (window as { painted?: number }).painted);
  await expectSoon((await painted.jsonValue())!);
});

test('no main-thread task takes over 50 ms while a slider of the first section is dragged', async () => {
  const { page } = await visit(browser, host.address);
  const tasks = await tasksOf(page, async () => {
    for (const name of ['mean', 'length', 'temperature']) await dragSlider(page, 'localize', name);
  });
  expectShort(tasks);
});

test('a step of a drag of the spectrum costs the main thread less than a frame', async () => {
  const { page } = await visit(browser, host.address);
  await page.waitForTimeout(1000);
  for (const name of ['Standard deviation', 'Mean']) {
    const handle = page.getByRole('slider', { name: `${name} of the eigenspectrum` });
    const box = (await handle.boundingBox())!;
    const steps = 60;
    const tasks = await tasksOf(page, async () => {
      await page.mouse.move(box.x + 22, box.y + 22);
      await page.mouse.down();
      for (let i = 0; i < steps; i++) {
        await page.mouse.move(box.x + 22 + 60 * Math.sin(i / 8), box.y + 22);
      }
      await page.mouse.up();
    });
    expectShort(tasks, 0);
    const known = tasks.sort((a, b) => a - b);
    expect(known[Math.floor(0.99 * known.length)]).toBeLessThan(16);
    await page.waitForTimeout(1000);
  }
});

test('nor while a slider of the stacks is dragged or their maps refine', async () => {
  const { page } = await visit(browser, `${host.address}#${blocks('depth=12&length=64&heads=2&stacks=2')}`);
  const tasks = await tasksOf(page, async () => {
    for (const id of ['depth', 'collapse-map'] as const) {
      await page.locator(`#figure-${id}`).scrollIntoViewIfNeeded();
      await page.locator(`#figure-${id} svg[role="img"]`).waitFor();
      await dragSlider(page, 'collapse', 'residual_weight');
      await page.waitForTimeout(1000);
    }
  });
  expectShort(tasks);
});

test('nor while the variance or the depth of the stacks that the section begins with is dragged', async () => {
  const { page } = await visit(browser, `${host.address}#collapse`);
  const tasks = await tasksOf(page, async () => {
    for (const name of ['variance', 'depth']) {
      await dragSlider(page, 'collapse', name);
      await page.waitForTimeout(1000);
    }
  });
  expectShort(tasks);
});

test('nor while four runs train and are drawn', async () => {
  const runs = 'train?steps=100000&width=32&log_every=5&runs=none,locater,sigma-reparam,qk-decay';
  const { page } = await visit(browser, `${host.address}#${runs}`, { settle: false });
  await settled(page, 'run-curves');
  const tasks = await tasksOf(page, async () => {
    await page.locator('[data-action="play"]').click();
    await page.waitForTimeout(6000);
  });
  expectShort(tasks);
  const texts = await page.locator('[data-comparison-runs] span').allTextContents();
  expect(texts.length).toBe(4);
  for (const text of texts) expect(text).toMatch(/step [1-9]/);
});

test('nor while the maps of an experiment come into sight', async () => {
  const { page } = await visit(browser, `${host.address}#train`);
  const tasks = await tasksOf(page, () => settled(page, 'trainability'));
  expectShort(tasks, 10);
});

test.each(['collapse', 'train', 'model', 'uses'] as const)(
  'the first figure of the tab %s is there within a second',
  async (view) => {
    const { page } = await visit(browser, host.address);
    const chart = page.locator(`#figure-${figuresOf(view)[0]!.id} .chart`);
    const start = Date.now();
    await page.locator(`#tab-${view}`).click();
    await chart.scrollIntoViewIfNeeded();
    await chart.locator('svg[role="img"]').waitFor();
    await expectSoon(Date.now() - start);
  },
);
