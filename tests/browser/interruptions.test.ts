// Workers that end, files that only the main thread can read, and hosts that do not answer.
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  browser,
  checkpoint,
  expectSampleHead,
  fileAddress,
  host,
  openBrowser,
  QUICK,
  saved,
  settled,
  showView,
  visit,
  type Visit,
} from './browser';
import { enter } from './gestures';
import { writeLayers } from './trained';

openBrowser();

/** Opens the page after a script has changed what browsers give it. */
async function visitAfter(script: () => void, address: string): Promise<Visit> {
  const visited = await visit(browser, 'about:blank', { settle: false });
  await visited.page.addInitScript(script);
  await visited.page.goto(address);
  return visited;
}

const ENGINE = '**/engine-*.wasm';

/** Opens the page where requests for the engine are answered by `answer`: none is, unless told otherwise. */
async function visitWithout(address: string, answer = (route: Route) => route.abort()): Promise<Page> {
  const { page } = await visit(browser, 'about:blank', { settle: false });
  await page.route(ENGINE, answer);
  await page.goto(address);
  return page;
}

/** Has workers run a script before their own. */
async function beginWorkersWith(page: Page, script: string): Promise<void> {
  await page.addInitScript((first) => {
    window.Blob = new Proxy(Blob, {
      construct(target, [parts, options]) {
        const worker = (options as BlobPropertyBag | undefined)?.type?.startsWith('text/javascript');
        return new target(worker ? [first, ...(parts as BlobPart[])] : parts, options);
      },
    });
  }, script);
}

/** Keeps the workers of the page, so that a test can end them. */
function keepWorkers(): void {
  const kept: Worker[] = [];
  Object.assign(window, { kept });
  window.Worker = new Proxy(Worker, {
    construct(target, [url, options]) {
      const worker = new target(url, options);
      kept.push(worker);
      return worker;
    },
  });
}

/** Ends every worker as the browser does when it needs the memory: no event tells of it. */
async function endWorkers(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { kept } = window as unknown as { kept: Worker[] };
    for (const worker of kept.splice(0)) worker.terminate();
  });
}

test('a worker that vanishes is replaced, and its run resumes from its checkpoint', async () => {
  const { page } = await visitAfter(keepWorkers, `${host.address}#train`);
  await settled(page, 'run-curves');
  const runs = page.locator('[data-comparison-runs]');
  await runs.scrollIntoViewIfNeeded();
  await page.locator('[data-comparison] [data-action="play"]').click();
  await runs.filter({ hasText: /step [1-9]/ }).waitFor();
  await endWorkers(page);
  await runs.filter({ hasText: /Its worker stopped; it resumed from step \d/ }).waitFor();
  const step = async () => Number(/step (\d+)/.exec((await runs.textContent()) ?? '')?.[1]);
  const before = await step();
  await expect.poll(step, { timeout: 30_000 }).toBeGreaterThan(before);
});

test('a worker that vanishes while heads are read is named, and another reads its heads', async () => {
  const { page } = await visitAfter(keepWorkers, `${host.address}#model`);
  await page.locator('[data-files]').setInputFiles(writeLayers(8));
  const report = page.locator('[data-report]');
  await report.filter({ hasText: 'heads so far' }).waitFor();
  await endWorkers(page);
  await report.filter({ hasText: 'A worker stopped; another one reads its heads.' }).waitFor();
  await report.filter({ hasText: '256 heads of' }).waitFor();
  expect(await page.locator('[data-problem]').textContent()).toBe('');
});

/** Workers stay inside a loop once they are told to. */
const OBEY_HANG = "addEventListener('message', ({ data }) => { while (data.kind === 'hang'); });";

test('a worker that is stuck is replaced, and a paused run rests at its next checkpoint', async () => {
  const { page } = await visit(browser, 'about:blank', { settle: false });
  await page.clock.install(); // the page's; workers have the machine's
  await page.addInitScript(keepWorkers);
  await beginWorkersWith(page, OBEY_HANG);
  await page.goto(`${host.address}#train?steps=100000&width=16&depth=1&heads=2&length=8&batch=1`);
  await settled(page, 'run-attention');
  const runs = page.locator('[data-comparison-runs]');
  const play = page.locator('[data-comparison] [data-action="play"]');
  await play.click();
  // A job of a kind that is not timed yet may be silent for two minutes: each must have done a step.
  const timed = async () => ((await runs.textContent()) ?? '').match(/step \d{2}/g)?.length;
  await expect.poll(timed, { timeout: 30_000 }).toBe(2);
  await page.evaluate(() => {
    const { kept } = window as unknown as { kept: Worker[] };
    for (const worker of kept) worker.postMessage({ kind: 'hang' });
  });
  await play.click(); // to pause
  const status = page.locator('[data-comparison-status]');
  await status.filter({ hasText: 'Pausing' }).waitFor();
  // Half a minute passes, between which new workers answer.
  for (let seconds = 0; seconds < 60 && !/Its worker stopped/.test((await runs.textContent())!); seconds += 5)
    await page.clock.runFor(5000);
  await status.filter({ hasText: 'Paused' }).waitFor();
  expect(await runs.textContent()).toMatch(/Its worker stopped; it resumed from step \d/);
});

/** Loses the first result of stacks, on its way from a worker. */
function loseResult(): void {
  let lost = false;
  window.Worker = new Proxy(Worker, {
    construct(target, [url, options]) {
      const worker = new target(url, options);
      let receive: (event: MessageEvent) => void = () => {};
      Object.defineProperty(worker, 'onmessage', { set: (it) => (receive = it) });
      worker.addEventListener('message', (event: MessageEvent) => {
        const { kind, output } = event.data;
        if (lost || kind !== 'done' || !('residual' in output)) receive(event);
        else lost = true;
      });
      return worker;
    },
  });
}

test('a lost result is computed again', async () => {
  const { page, errors } = await visitAfter(loseResult, `${host.address}#${QUICK}`);
  for (const id of ['depth', 'collapse-map'] as const) await settled(page, id);
  expect(errors).toEqual([]);
});

test('leaving the page asks for confirmation while a run trains, or rests with steps that no file has', async () => {
  const { page } = await visit(browser, `${host.address}#train?runs=none`);
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await page.reload();
  expect(asked).toEqual([]);
  const play = page.locator('[data-comparison] [data-action="play"]');
  await play.click();
  await page.locator('[data-comparison-runs]', { hasText: /step [1-9]/ }).waitFor();
  await page.reload();
  expect(asked).toEqual(['beforeunload']);
  await page.locator('[data-action="advance"]').click();
  await page.locator('[data-comparison-status]', { hasText: 'Paused' }).waitFor();
  await page.reload();
  expect(asked).toEqual(['beforeunload', 'beforeunload']);
  await page.locator('[data-action="advance"]').click();
  await page.locator('[data-comparison-status]', { hasText: 'Paused' }).waitFor();
  await page.locator('.comparison-files summary', { hasText: 'Files, texts' }).click();
  await saved(page.getByRole('button', { name: 'Save .safetensors of baseline' }));
  await page.reload();
  expect(asked).toEqual(['beforeunload', 'beforeunload']);
});

/** Opens the chapter of a model where a worker cannot read files, as in WebKit on a page from the disk. */
async function visitWithoutReading(address: string): Promise<Visit> {
  const visited = await visit(browser, 'about:blank', { settle: false });
  await beginWorkersWith(
    visited.page,
    'FileReaderSync.prototype.readAsArrayBuffer = () => {' +
      "throw new DOMException('The I/O read operation failed.', 'NotReadableError'); };",
  );
  await visited.page.goto(`${address}#model`);
  await settled(visited.page, 'head-spectra');
  return visited;
}

test.each([
  ['over http', () => host.address],
  ['from the disk', () => fileAddress],
])('files that a worker cannot read are read by the page, %s', async (_, address) => {
  const { page, errors } = await visitWithoutReading(address());
  const files = ['model.fp16.safetensors', 'config.json', 'tokenizer.json'];
  await page.locator('[data-files]').setInputFiles(files.map((name) => join(checkpoint, name)));
  await page.locator('[data-report]', { hasText: '72 heads' }).waitFor();
  await expectSampleHead(page);
  await showView(page, 'model');
  const figure = page.locator('#figure-head-text');
  await figure.scrollIntoViewIfNeeded();
  await enter(page.locator('#field-model-reading'), 'The whale swam.');
  await figure.locator('[data-live]', { hasText: 'on 6 tokens' }).waitFor({ state: 'attached' });
  expect(errors).toEqual([]);
});

test('a file that the page cannot read either is named', async () => {
  const { page } = await visitWithoutReading(host.address);
  await page.evaluate(() => {
    Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException('', 'NotReadableError'));
  });
  await page.locator('[data-files]').setInputFiles(join(checkpoint, 'model.fp16.safetensors'));
  const problem = page.locator('[data-problem]');
  await expect.poll(() => problem.textContent()).toContain('is it still there?');
});

describe('offline', () => {
  test('figures that were not opened yet compute, once the page was idle', async () => {
    const { page } = await visit(browser, `${host.address}#${QUICK}`);
    const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    for (const name of ['engine', 'sample-texts', 'sample-predictions']) {
      await expect.poll(async () => (await loaded()).join(' '), { timeout: 20_000 }).toContain(`assets/${name}-`);
    }
    await page.context().setOffline(true);
    await settled(page, 'cosines');
    expect(await page.locator('#figure-cosines .message').textContent()).toBe('');
  });

  test('a figure says that it waits for the connection, and computes when it returns', async () => {
    const page = await visitWithout(`${host.address}#${QUICK}`);
    await page.locator('#figure-depth .exports').waitFor({ state: 'attached' }); // its chapter has started
    await page.context().setOffline(true);
    await showView(page, 'collapse');
    const figure = page.locator('#figure-depth');
    await figure.scrollIntoViewIfNeeded();
    await figure.locator('.message', { hasText: 'the browser is offline' }).waitFor();
    await page.unroute(ENGINE);
    await page.context().setOffline(false);
    await expect.poll(() => figure.locator('.message').textContent()).toBe('');
    await settled(page, 'depth');
  });

  test('a chapter whose script does not arrive asks for it again', async () => {
    const { page } = await visit(browser, 'about:blank', { settle: false });
    const script = '**/assets/others-*.js';
    await page.route(script, (route) => route.abort());
    await page.goto(`${host.address}#${QUICK}`);
    const notice = page.locator('[data-link-notice]');
    await notice.filter({ hasText: 'The page tries again.' }).waitFor();
    await page.unroute(script);
    await settled(page, 'depth');
    expect(await notice.isVisible()).toBe(false);
  });

  test('a run that was started offline trains when the connection returns', async () => {
    const page = await visitWithout(`${host.address}#train`);
    await page.locator('#figure-run-curves .exports').waitFor({ state: 'attached' });
    await page.context().setOffline(true);
    await page.locator('[data-comparison] [data-action="play"]').click();
    const problem = page.locator('[data-comparison-problem]');
    await problem.filter({ hasText: 'when the connection returns' }).waitFor();
    await page.unroute(ENGINE);
    await page.context().setOffline(false);
    await page.locator('[data-comparison-runs]', { hasText: /step [1-9]/ }).waitFor();
    expect(await problem.textContent()).toBe('');
  });

  test('a host that does not answer is asked again', async () => {
    const page = await visitWithout(`${host.address}#${QUICK}`);
    const figure = page.locator('#figure-depth');
    await figure.scrollIntoViewIfNeeded();
    await figure.locator('.message', { hasText: 'The page tries again' }).waitFor();
    await page.unroute(ENGINE);
    await expect.poll(() => figure.locator('.message').textContent(), { timeout: 20_000 }).toBe('');
    await settled(page, 'depth');
  });
});

describe('in place of the engine', () => {
  test('a page to log in is named, and its button loads the engine without a reload', async () => {
    const body = '<!DOCTYPE html><title>Log in</title>';
    const page = await visitWithout(`${host.address}#${QUICK}`, (route) =>
      route.fulfill({ body, contentType: 'text/html' }),
    );
    await showView(page, 'collapse');
    const figure = page.locator('#figure-depth');
    await figure.scrollIntoViewIfNeeded();
    const message = figure.locator('.message');
    await message.filter({ hasText: 'with a web page' }).waitFor();
    expect(await message.textContent()).not.toContain('Policy');
    await page.unroute(ENGINE);
    await message.getByRole('button', { name: 'Try again' }).click();
    await settled(page, 'depth');
    expect(await message.textContent()).toBe('');
    expect(await figure.evaluate((it) => it === document.activeElement)).toBe(true);
  });

  test('nothing, for a while, is told as a download', async () => {
    const { page } = await visit(browser, 'about:blank', { settle: false });
    await page.clock.install();
    await page.route(ENGINE, async () => {}); // no answer
    await page.goto(`${host.address}#${QUICK}`);
    await showView(page, 'collapse');
    const figure = page.locator('#figure-depth');
    await figure.locator('.wait', { hasText: /^Loading the engine \(engine\.wasm\), 0 of/ }).waitFor();
    const message = figure.locator('.message', { hasText: /no byte of .* for 20 s/ });
    for (let seconds = 0; seconds < 30 && (await message.count()) === 0; seconds++) await page.clock.runFor(1000);
    expect(await message.textContent()).toMatch(/The page tries again\. Try again$/);
  });
});
