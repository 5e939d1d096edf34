// What a page takes of the machine in Chromium.
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** Of a renderer: its memory without what it maps from files, in MB, and its processor time, in seconds. */
interface Use {
  memory: number;
  processor: number;
}

/** Tells what Chromium's largest renderer has taken, on Linux. */
export async function rendererMeter(browser: Browser): Promise<() => Promise<Use>> {
  const session = await browser.newBrowserCDPSession();
  return async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const uses = processInfo
      .filter(({ type }) => type === 'renderer')
      .map(({ id, cpuTime }) => {
        const found = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, 'utf8'));
        return { memory: Number(found?.[1]) / 1000, processor: cpuTime };
      });
    return uses.reduce((most, it) => (it.memory > most.memory ? it : most));
  };
}
