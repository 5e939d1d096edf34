// What tests of opened checkpoints share.
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { FigureId } from '../../web/ui/registry';
import { checkpoint } from './browser';

/** The sample checkpoint's files of these names. */
export const files = (...names: string[]) => names.map((name) => join(checkpoint, name));
/** Those that a text needs. */
export const ALL = files('model.fp16.safetensors', 'config.json', 'tokenizer.json');

/** Waits until the numbers in a figure's details say something. */
export async function said(page: Page, id: FigureId, text: string | RegExp, timeout = 30_000): Promise<void> {
  await page.locator(`#figure-${id} [data-live]`, { hasText: text }).waitFor({ state: 'attached', timeout });
}

/** The cells below a title, read at once: a model that arrives changes the columns. */
export function column(page: Page, title: string): Promise<string[]> {
  return page.evaluate((title) => {
    const texts = (cells: string) =>
      [...document.querySelectorAll(`[data-head-table] ${cells}`)].map((it) => it.textContent);
    return texts(`td:nth-child(${texts('th').indexOf(title) + 1})`);
  }, title);
}

/** A number of the table as it is written there. */
export const number = (text: string) => Number(text.replace('−', '-').replace(/·10.*/, 'e-5'));
