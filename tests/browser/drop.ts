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

/** Drops a folder with these files, by their names and beginnings. */
export async function dropFolder(page: Page, files: Record<string, string>): Promise<void> {
  await page.evaluate((contents) => {
    const file = (name: string) => new File([contents[name]], name);
    const entries = Object.keys(contents).map((name) => ({
      name,
      isFile: true,
      isDirectory: false,
      file: (take: (file: File) => void) => take(file(name)),
    }));
    const reader = () => {
      const parts = [entries, []]; // a browser gives them in parts, of which the last is empty
      return { readEntries: (take: (part: unknown[]) => void) => take(parts.shift() ?? []) };
    };
    const folder = { name: 'folder', isFile: false, isDirectory: true, createReader: reader };
    DataTransferItem.prototype.webkitGetAsEntry = () => folder as unknown as FileSystemEntry;
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([], 'folder'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
  }, files);
}
