// What the page's main thread does while something is dragged.
import type { Page } from 'playwright-core';
import { browser } from './browser';

/** The tasks of the page's main thread in a trace, by the milliseconds of CPU that each took. */
function mainThreadTasks(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const thread = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`;
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(thread),
  );
  return traceEvents
    .filter(
      (event) => event.name.endsWith('RunTask') && event.ph === 'X' && main.has(thread(event)),
    )
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
export async function tasksOf(page: Page, act: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await act();
  return mainThreadTasks(await browser.stopTracing());
}

/** Drags a slider to and fro. */
export async function dragSlider(page: Page, name: string): Promise<void> {
  const box = await page.locator(`[data-control="${name}"] input[type="range"]`).boundingBox();
  if (!box) throw new Error(`the slider of ${name} has no place`);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) {
    await page.mouse.move(box.x + box.width * (0.5 + 0.4 * Math.sin(i / 8)), y);
  }
  await page.mouse.up();
}
