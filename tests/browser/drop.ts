// Files dropped on the page, as a hand would.
import type { Page } from 'playwright-core';

/** Picks files into a hidden input of the test. */
export async function pick(page: Page, paths: string[]): Promise<void> {
  await page.evaluate(() => {
    const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true });
    input.id = 'test-files';
    input.hidden = true;
    document.body.append(input);
  });
  await page.locator('#test-files').setInputFiles(paths);
}

/** Drops what was picked. Runs in the page. */
export function dropPicked(): void {
  const input = document.querySelector<HTMLInputElement>('#test-files');
  const dataTransfer = new DataTransfer();
  for (const file of input?.files ?? []) dataTransfer.items.add(file);
  document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
  input?.remove();
}

export async function drop(page: Page, paths: string[]): Promise<void> {
  await pick(page, paths);
  await page.evaluate(dropPicked);
}
