// `npm run soak` prints, and with --write writes into docs/performance/soak.md: minutes of random use of the built page in the system's
// Chromium, and the memory, workers and errors at their end. The exit status is 1 after an error of the page
// or where more memory is held at the end than LIMIT.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';
import { reportOf, writeReport } from '../bench/report.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const minutes = numberOf('minutes', (value) => value > 0, 'a positive number');
const seed = numberOf('seed', (value) => Number.isInteger(value) && value >= 0, 'an integer >= 0');

function numberOf(name, isAllowed, range) {
  const value = Number(options[name]);
  if (options[name] !== '' && isAllowed(value)) return value;
  console.error(`--${name} must be ${range}: found '${options[name]}'`);
  process.exit(2);
}

/** MB that the page's process may hold at the end, its workers included. */
const LIMIT = 300;
/** Milliseconds at the end, with everything paused or cancelled, until the memory is read. */
const REST = 30_000;
/** Milliseconds that an action waits for its element. */
const PATIENCE = 1000;
/** The same for what must succeed. */
const SLOW = 60_000;
/** Text of a figure's message that is a failure of the engine, not a refused value. */
const BROKEN = /computation stopped|did not load|cannot be|blocks the workers/i;

const load = async (path) => (await runnerImport(`${root}${path}`)).module;
const { checkpoint, launch, serve } = await load('tests/browser/host.ts');

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
function randomFrom(start) {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** MB of a process that no other shares, and its part of those that are shared. */
function proportional(pid) {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)[1]) / 1000;
  } catch {
    return 0; // it has ended
  }
}

/** A process and all that it has started. */
function treeOf(pid) {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`))
    .flatMap((name) => {
      try {
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'));
        return [[Number(name), Number(parent)]];
      } catch {
        return []; // it has ended
      }
    });
  const childrenOf = (it) => parents.filter(([, parent]) => parent === it).map(([child]) => child);
  const below = (it) => [it, ...childrenOf(it).flatMap(below)];
  return below(pid);
}

const random = randomFrom(seed);
const oneOf = (list) => list[Math.floor(random() * list.length)];

const host = await serve();
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
page.setDefaultTimeout(PATIENCE);
const errors = [];
page.on('pageerror', (error) => errors.push(error.message));
page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
page.on('crash', () => errors.push('the page crashed'));
page.on('dialog', (dialog) => void dialog.accept());

const session = await browser.newBrowserCDPSession();
const processes = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo;

/** MB of the page's process, of all processes of the browser, and the page's workers. */
async function measured() {
  const infos = await processes();
  const own = infos.filter(({ type }) => type === 'renderer').map(({ id }) => proportional(id));
  const main = infos.find(({ type }) => type === 'browser').id;
  const all = treeOf(main).map(proportional);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  return { page: sum(own), all: sum(all), workers: page.workers().length };
}

/** An element of the view that is shown, among those that match; undefined where there is none. */
async function some(selector) {
  const found = await page.locator(`[role="tabpanel"]:not([hidden]) :is(${selector})`).all();
  const visible = [];
  for (const it of found) if (await it.isVisible()) visible.push(it);
  return oneOf(visible);
}

/** What a person does, and how often. */
const ACTIONS = [
  [3, 'show a view', async () => page.locator(oneOf(await tabs())).click()],
  [6, 'scroll to a figure', async () => (await some('figure'))?.scrollIntoViewIfNeeded()],
  [6, 'drag a slider', dragSlider],
  [4, 'choose from a list', chooseOption],
  [3, 'press a choice', async () => (await some('.segments button, .segments label'))?.click()],
  [2, 'follow a preset', async () => (await some('.presets a, a[href*="?"]'))?.click()],
  [2, 'choose a head', async () => (await some('[data-heads] button, tbody button'))?.click()],
  [3, 'point into a chart', pointIntoChart],
  [1, 'export a figure', async () => (await some('[data-export]'))?.click()],
  [2, 'train, pause', async () => (await some('[data-comparison] [data-action="play"]'))?.click()],
  [1, 'start over', async () => (await some('[data-action="runs-reset"]'))?.click()],
  [1, 'open MiniLM', openCheckpoint],
  [1, 'reset the controls', async () => (await some('[data-action="reset"]'))?.click()],
  [1, 'change the colours', async () => page.locator('[data-action="theme"]').click()],
  [1, 'change the width', changeWidth],
];

async function tabs() {
  const ids = await page.locator('[role="tab"]').evaluateAll((all) => all.map(({ id }) => id));
  return ids.map((id) => `#${id}`);
}

async function dragSlider() {
  const slider = await some('input[type="range"]:enabled');
  await slider?.scrollIntoViewIfNeeded();
  const box = await slider?.boundingBox();
  if (!box) return;
  const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
  await page.mouse.move(...at(random()));
  await page.mouse.down();
  for (let i = 0; i < 8; i++) await page.mouse.move(...at(random()), { steps: 4 });
  await page.mouse.up();
}

async function chooseOption() {
  const list = await some('select:enabled');
  const count = (await list?.locator('option').count()) ?? 0;
  if (count > 0) await list.selectOption({ index: Math.floor(random() * count) });
}

async function pointIntoChart() {
  const chart = await some('figure .chart');
  await chart?.scrollIntoViewIfNeeded();
  const box = await chart?.boundingBox();
  if (!box) return;
  for (let i = 0; i < 6; i++) {
    await page.mouse.move(box.x + random() * box.width, box.y + random() * box.height);
  }
  if (random() < 0.5) await page.mouse.click(box.x + random() * box.width, box.y + 20);
}

async function openCheckpoint() {
  await page.locator('#tab-model').click();
  const names = ['model.fp16.safetensors', 'config.json', 'tokenizer.json'];
  await page.locator('[data-files]').setInputFiles(names.map((name) => join(checkpoint, name)));
}

async function changeWidth() {
  await page.setViewportSize({ width: oneOf([390, 800, 1280, 1600]), height: 900 });
}

const weights = ACTIONS.flatMap(([weight, ...action]) => Array(weight).fill(action));
const done = new Map();

await page.goto(host.address, { timeout: SLOW });
await page.waitForTimeout(REST / 4);
const start = await measured();
console.log(`start: ${JSON.stringify(start)}`);
let most = start;
const end = performance.now() + minutes * 60_000;
let next = performance.now();
while (performance.now() < end && !page.isClosed()) {
  const [name, act] = oneOf(weights);
  await act().catch(() => {}); // the element went away or is covered
  done.set(name, (done.get(name) ?? 0) + 1);
  await page.waitForTimeout(100 + 900 * random());
  const now = await measured();
  if (now.page > most.page) most = now;
  if (performance.now() > next) {
    next += 30_000;
    console.log(`${Math.round((end - performance.now()) / 1000)} s left: ${JSON.stringify(now)}`);
  }
}

// At rest: nothing trains, nothing is computed.
await page.locator('#tab-train').click({ timeout: SLOW });
const play = page.locator('[data-comparison] [data-action="play"]');
if ((await play.textContent()) === 'Pause') await play.click({ timeout: SLOW });
await page.locator('#tab-localize').click({ timeout: SLOW });
const cancelled = await page.evaluate(() => {
  const buttons = [...document.querySelectorAll(':is(.wait, [data-busy]):not([hidden]) button')];
  const cancels = buttons.filter(({ textContent }) => textContent === 'Cancel');
  for (const button of cancels) button.click();
  return cancels.length;
});
console.log(`cancelled: ${cancelled}`);
await page.waitForTimeout(REST);
const rest = await measured();
const messages = await page.locator('.message').allTextContents();
errors.push(...messages.filter((text) => BROKEN.test(text)));

await context.close();
await browser.close();
host.close();

const MB = (value) => `${value.toFixed(0)} MB`;
const actions = [...done.values()].reduce((a, b) => a + b, 0);
const report = {
  title: `Memory after ${minutes} minutes of random use`,
  command: `npm run soak -- --write --minutes ${minutes} --seed ${seed}`,
  columns: ['', 'start', 'most', 'end', 'limit at the end'],
  rows: [
    ['process of the page (PSS)', MB(start.page), MB(most.page), MB(rest.page), MB(LIMIT)],
    ['all processes of the browser (PSS)', MB(start.all), MB(most.all), MB(rest.all), ''],
    ['workers', ...[start, most, rest].map(({ workers }) => workers), ''],
    ['errors', '', '', errors.length, '0'],
  ],
  notes: [
    `${actions} actions: ${[...done].map(([name, times]) => `${name} ${times}`).join(', ')}. ` +
      `The end is read ${REST / 1000} s after everything was paused or cancelled.`,
    ...errors.map((error) => `Error: ${error}`),
  ],
};
if (options.write) writeReport('soak', report);
else console.log(reportOf(report));
if (errors.length > 0 || rest.page > LIMIT) process.exitCode = 1;
