// What tests of the comparison of runs share.
import type { Page } from 'playwright-core';
import { browser, host, visit } from './browser';
import { picked } from './gestures';

/** A comparison that is soon over: 12 steps of a tiny model, logged at every fourth. */
export const TINY = 'train?steps=12&width=16&depth=1&heads=2&length=16&batch=2&log_every=4';
/** The numbers of a caption are in the closed Details. */
export const ATTACHED = { state: 'attached' } as const;
/** Opens the page at the view of training. */
export async function open(hash = TINY) {
  const opened = await visit(browser, `${host.address}#${hash}`, { settle: false });
  await opened.page.locator('[data-comparison]').scrollIntoViewIfNeeded();
  return opened;
}
/** A button that saves a file of a run, once the group of them is open. */
export async function saveButton(page: Page, name: string) {
  const group = page.locator('.comparison-files details', { has: page.locator('[data-comparison-saves]') });
  if (!(await group.evaluate((it) => (it as HTMLDetailsElement).open))) await group.locator('summary').click();
  return page.getByRole('button', { name: `Save ${name}` });
}
export const resume = (page: Page, file: string | Buffer) =>
  page.locator('[data-resume]').setInputFiles(picked('run.safetensors', file));
export const press = (page: Page, action: string) => page.locator(`[data-action="${action}"]`).click();
export const status = (page: Page, words: string) =>
  page.locator('[data-comparison-status]', { hasText: words }).waitFor();
export const ended = (page: Page) => status(page, 'All runs have ended');

/** The steps that the list of runs shows: nothing is said of a run that has not begun. */
export async function steps(page: Page): Promise<number[]> {
  const texts = await page.locator('[data-comparison-runs] span').allTextContents();
  return texts.map((text) => (text === '' ? 0 : Number(/step (\d+)/.exec(text.replaceAll(',', ''))?.[1])));
}
