// Typing, picking and dropping files on the page.
import type { Locator, Page } from 'playwright-core';

/** Types another text into a field and presses Enter. */
export async function enter(field: Locator, text: string): Promise<void> {
  await field.fill(text);
  await field.press('Enter');
}

/** A file that is picked without being on the disk. */
export const picked = (name: string, content: string | Buffer) => ({
  name,
  mimeType: '',
  buffer: Buffer.from(content),
});

type Files = Parameters<Locator['setInputFiles']>[0];

/** Picks the files of a model. */
export async function pickModel(page: Page, files: Files): Promise<void> {
  await page.locator('[data-files]').setInputFiles(files);
}

/** Picks the files of a model, and waits until its heads are read. */
export async function openModel(page: Page, files: Files): Promise<void> {
  await pickModel(page, files);
  await page.locator('[data-report]', { hasText: /\d heads of .* read/ }).waitFor();
}

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
