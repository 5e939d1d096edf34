// `npm run bench:large` writes docs/performance/large-forward.md: forward passes through checkpoints in the shapes of
// LLaMAs of 1.1 and 7 billion weights, by `eigenscope attend` and by the built page in Chromium in turn, and of a
// mixture of experts, natively; their times and peak memory.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { largeFolder } from './large-folder.mjs';
import { cellOf, spread, writeReport } from './report.mjs';
import { watched } from './watched.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const load = async (path) => (await runnerImport(`${root}${path}`)).module;
const { launch, serve } = await load('tests/browser/host.ts');
const { rendererMeter } = await load('tests/browser/renderer-use.ts');

/** MB that a pass may take. */
const LIMIT = 600;
/** Layers of a prediction during which memory is measured. */
const PREDICTED = 2;
/** Tokens of a passage; the tokenizer's tokens are bytes. */
const LENGTH = 128;
/**
 * All weights of the small one are written; of the large ones queries, keys and what routers see, and the others are
 * holes.
 */
const MODELS = [
  { size: '1.1b', weights: '--full', passages: 4, turns: 3, ways: ['native', 'Chromium'] },
  {
    size: '7b',
    weights: '--dense',
    passages: 1,
    turns: 1,
    ways: ['native', 'Chromium', 'Chromium, prediction beside'],
  },
  { size: '47b', title: '47B in 8 experts', weights: '--dense', passages: 1, turns: 1, ways: ['native'] },
];

const textOf = (passages) => 'Call me Ishmael. '.repeat(LENGTH).slice(0, LENGTH * passages);

/** A folder with the checkpoint for the time of `use`. */
async function withCheckpoint({ size, weights }, use) {
  const folder = largeFolder();
  try {
    const writer = join(root, 'tests/bench/sparse-llama.mjs');
    const args = [writer, folder, '--size', size, weights, '--tokenizer'];
    const { status } = spawnSync('node', args, { stdio: 'inherit' });
    if (status !== 0) throw new Error(`${writer} ended with status ${status}`);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Seconds and peak memory of the command line, and the heads that it measured. */
async function native(folder, passages) {
  const text = join(folder, 'text.txt');
  writeFileSync(text, textOf(passages));
  const settings = ['--file', text, '--length', `${LENGTH}`, '--passages', `${passages}`];
  const run = await watched(`${root}build/native/eigenscope`, ['attend', folder, ...settings, '--csv']);
  return { ...run, heads: run.text.trim().split('\n').length - 1 };
}

/**
 * Changes the page's question about its sentence: these passages, whose matrices it keeps only where there is one as
 * on the page. The prediction beside it is refused unless it is wanted. Runs in the page.
 */
function changeQuestions({ text, passages, prediction }) {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    const { kind, id, job, input } = message;
    if (kind === 'run' && job === 'predict') {
      if (!prediction) input.passages = 0;
      this.addEventListener('message', ({ data }) => {
        const layer = data.kind === 'partial' && data.id === id && data.output?.layer.at(-1);
        if (layer > 0) Object.assign(window, { predicted: layer });
      });
    }
    if (kind === 'run' && job === 'attend') {
      Object.assign(input, { text, passages, weights: passages === 1 });
      const start = performance.now();
      Object.assign(window, { asked: true });
      this.addEventListener('message', ({ data }) => {
        if (data.id !== id || !['done', 'failed'].includes(data.kind)) return;
        const seconds = (performance.now() - start) / 1000;
        Object.assign(window, { answer: { seconds, heads: data.output?.heads.length, failure: data.failure } });
      });
    }
    post.call(this, message, ...rest);
  };
}

/**
 * The same of the page, of whose memory the most is from the choice of the files on until the sentence's answer and
 * these layers of a prediction.
 */
async function inChromium(folder, passages, prediction) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    await page.addInitScript(changeQuestions, { text: textOf(passages), passages, prediction });
    await page.goto(`${host.address}#model`);
    const meter = await rendererMeter(browser);
    const files = readdirSync(folder).filter((name) => !name.endsWith('.txt'));
    await page.locator('[data-files]').setInputFiles(files.map((name) => join(folder, name)));
    let most = 0;
    let before = 0; // until the question is asked
    for (;;) {
      const { asked, answer, predicted } = await page.evaluate(() => ({
        asked: window.asked,
        answer: window.answer,
        predicted: window.predicted ?? 0,
      }));
      const { memory, processor } = await meter();
      most = Math.max(most, memory);
      if (!asked) before = processor;
      if (answer?.failure) throw new Error(answer.failure.message);
      const isPredicted = !prediction || predicted >= PREDICTED;
      if (answer && isPredicted) return { ...answer, memory: most, processor: processor - before };
      await page.waitForTimeout(50);
    }
  } finally {
    await context.close();
  }
}

const WAYS = {
  native,
  Chromium: (folder, passages) => inChromium(folder, passages, false),
  'Chromium, prediction beside': (folder, passages) => inChromium(folder, passages, true),
};

const host = await serve();
const browser = await launch();
const rows = [];
/** Rows above the limit of memory. */
const missed = [];
try {
  for (const model of MODELS) {
    const { size, title = size.toUpperCase(), passages } = model;
    await withCheckpoint(model, async (folder) => {
      const turns = Object.fromEntries(model.ways.map((way) => [way, []]));
      for (let turn = 0; turn < model.turns; ++turn) {
        for (const way of model.ways) turns[way].push(await WAYS[way](folder, passages));
      }
      for (const [where, own] of Object.entries(turns)) {
        const cell = (value, digits) => cellOf(own.map(value), digits);
        const { median } = spread(own.map(({ memory }) => memory));
        if (median > LIMIT) missed.push(`${title} in ${where}: at most ${LIMIT} MB, found ${median.toFixed(0)} MB`);
        rows.push([
          `${title}, ${own[0].heads} heads`,
          `${passages}`,
          where,
          cell(({ seconds }) => seconds, 1),
          cell(({ processor }) => processor, 1),
          where !== 'Chromium' ? '' : cell(({ processor }, i) => processor / turns.native[i].processor, 2),
          cell(({ memory }) => memory, 0),
          `${LIMIT}`,
        ]);
      }
    });
  }
  writeReport('large-forward', {
    title: 'Forward passes through checkpoints with the shapes of LLaMAs',
    command: 'npm run bench:large',
    columns: [
      'model',
      'passages',
      'where',
      'time, s',
      'processor time, s',
      'the same over native',
      'peak memory, MB',
      'limit, MB',
    ],
    rows,
    notes: [
      `BF16, passages of ${LENGTH} tokens, every head measured; medians and ranges of ` +
        `${MODELS.map(({ size, turns }) => `${turns} (${size.toUpperCase()})`).join(' and ')} turns. ` +
        'Weights of the 7B model other than queries and keys are holes of the files, which read as zeros; so are ' +
        'those of the mixture but for the embeddings, queries, keys and routers, which choose two of 8 experts a token.',
      `Native is \`eigenscope attend\`, which uses all cores. Chromium ${browser.version()} runs the built page's ` +
        'question about its sentence in one worker, with these passages in its place; memory is the anonymous memory ' +
        'of its process from the choice of the files on, the scan of all heads included. The prediction on passages of ' +
        'its own, which the page computes in two workers while these have no other job, is refused in rows that do not ' +
        'name it. In one that does, time is that of the sentence, and processor time and memory are measured until ' +
        `the sentence is answered and ${PREDICTED} layers are predicted.`,
    ],
  });
  for (const message of missed) console.error(message);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  await browser.close();
  host.close();
}
