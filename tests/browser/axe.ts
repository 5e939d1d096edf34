// axe-core on what a page shows.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

async function violations(page: Page, rules: readonly string[]): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async (values) => {
    const { axe } = window as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } };
    const some = values.length > 0 ? { runOnly: { type: 'rule', values } } : {};
    return (await axe.run({ ...some, resultTypes: ['violations'] })).violations;
  }, rules);
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary}`),
  );
}

const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

type Colours = [string, Parameters<Page['emulateMedia']>[0], string[]];

/** Colours, and the rules of axe to try in them: all the first time, then those that depend on colours, which
 * are the same on every screen. */
export const LIGHT: Colours = ['light', { colorScheme: 'light', forcedColors: 'none' }, []];
export const DARK: Colours = ['dark', { colorScheme: 'dark', forcedColors: 'none' }, OF_COLOURS];
export const FORCED: Colours = ['forced', { colorScheme: 'light', forcedColors: 'active' }, OF_COLOURS];

/** Expects that axe finds no violation in what is shown, in some colours. */
export async function check(page: Page, where: string, all: Colours[]): Promise<void> {
  for (const [name, media, rules] of all) {
    await page.emulateMedia(media);
    expect(await violations(page, rules), `${where}, ${name} colours`).toEqual([]);
  }
}
