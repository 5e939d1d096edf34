import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { count } from '../../web/charts/format';
import { browser, csv, exported, fileAddress, go, host, openBrowser, saved, settled, visit } from './browser';
import { ATTACHED, ended, open, press, resume, saveButton, status, steps, TINY } from './comparison';
import { enter, pickModel, picked } from './gestures';

openBrowser();

describe.each([
  ['over http', () => host.address],
  ['from the disk', () => fileAddress],
])('the comparison of runs, %s', (_, address) => {
  test('runs, and the losses of both runs are drawn and exported', async () => {
    const { page, errors, foreign } = await visit(browser, `${address()}#${TINY}`);
    await press(page, 'play');
    await ended(page);
    expect(await steps(page)).toEqual([12, 12]);
    await settled(page, 'run-curves');
    await page.waitForTimeout(1000); // panels are drawn one by one
    const rows = await csv(page, 'run-curves');
    for (const run of ['none', 'locater']) {
      const own = rows.filter((row) => row.run === run);
      expect(own.map((row) => row.step)).toEqual(['0', '4', '8', '12']);
      expect(own.every((row) => Number(row.bits_per_byte) > 0)).toBe(true);
      expect(own[0].train_bits).toBe(''); // no step gave it yet
      expect(Number(own[3].train_bits)).toBeGreaterThan(0);
    }
    const picture = (await exported(page, 'run-curves', 'svg')).toString();
    for (const name of ['baseline', 'LocAteR']) {
      expect(picture).toContain(`data-mark="bits_per_byte, ${name}"`);
    }
    expect(errors).toEqual([]);
    expect(foreign).toEqual([]);
  });
});

/** Texts of a chapter that begin on the first screen, without those that only screen readers have. */
const textsInSight = (page: Page) =>
  page.evaluate(() => {
    scrollTo({ top: 0, behavior: 'instant' });
    const walker = document.createTreeWalker(document.querySelector('#train')!, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const { top, width } = range.getBoundingClientRect();
      const isSeen = node.parentElement!.checkVisibility({ visibilityProperty: true });
      if (width > 1 && top < innerHeight && isSeen) texts.push(node.textContent!);
    }
    return texts;
  });

test('the first screen has Play, a card for each run and the findings, in at most 120 words', async () => {
  const { page, errors } = await visit(browser, `${host.address}#train`, { viewport: { width: 1280, height: 800 } });
  const cards = page.locator('[data-comparison-runs] li');
  await cards.locator('em', { hasText: 'recorded' }).nth(1).waitFor();
  await page.locator('[data-verdict] .strip').waitFor();
  // Before a run there is no text, and no place for one.
  for (const place of await cards.locator('p, .card-measured').all()) expect(await place.isVisible()).toBe(false);
  const bottom = async (selector: string) =>
    page
      .locator(selector)
      .last()
      .evaluate((it) => it.getBoundingClientRect().bottom + scrollY);
  for (const selector of ['[data-action="play"]', '[data-comparison-runs] li', '.findings li']) {
    expect(await bottom(selector), selector).toBeLessThanOrEqual(800);
  }
  const words = (await textsInSight(page)).join(' ').match(/[\p{L}’-]*\p{L}[\p{L}’-]*/gu)!;
  expect(words.length, words.join(' ')).toBeLessThanOrEqual(120);
  const picture = cards.first().locator('polyline[stroke-dasharray]'); // recorded, and drawn as such
  expect((await picture.first().getAttribute('points'))!.split(' ').length).toBeGreaterThan(20);
  // The recorded attention is that of the end, on the chapter's prompt; on another one the runs that are ready answer.
  const attention = cards.first().locator('canvas');
  await expect.poll(() => attention.getAttribute('aria-label')).toMatch(/at step 1000$/);
  await go(page, 'train?prompt=The+whale+sleeps');
  await expect.poll(() => attention.getAttribute('aria-label')).toMatch(/at step 0$/);
  expect(errors).toEqual([]);
});

test('each finding has a chart of its numbers and opens its figure', async () => {
  const { page } = await visit(browser, `${host.address}#train`);
  const findings = page.locator('.findings li');
  expect(await findings.count()).toBe(5);
  expect(await findings.locator('.strip circle').count()).toBe(8);
  // The interval of the second is drawn from its first to its second number.
  const second = findings.nth(1);
  const [, low, high] = (await second.locator('b').textContent())!
    .replaceAll('−', '-')
    .match(/-?\d+\.\d+/g)!
    .map(Number);
  const [x1, x2] = await second
    .locator('line[stroke-width="4"]')
    .evaluate((it) => ['x1', 'x2'].map((name) => Number(it.getAttribute(name))));
  expect((x2! - x1!) / 224).toBeCloseTo((high! - low!) / 1.2, 5); // of an axis from -0.6 to 0.6
  await findings.nth(4).locator('a').click();
  await page.locator('#figure-trainability').waitFor({ state: 'visible' });
});

test('cards follow their runs, the verdict compares them with published seeds, and little moves', async () => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { page, errors } = await visit(browser, `${host.address}#${TINY}`, { viewport });
    const box = page.locator('[data-comparison]');
    await page.locator('[data-verdict] .strip').waitFor();
    const isPhone = viewport.width < 500;
    const height = async () => (await box.boundingBox())!.height;
    const idle = await height();
    await press(page, 'play');
    await page.locator('.comparison:not(.idle)').waitFor();
    // On a phone texts take their place now; on a wide page the pictures leave it to them.
    const before = isPhone ? await height() : idle;
    // The numbers are folded, their warnings are not.
    const text = page.locator('[data-comparison-text]');
    expect(await text.isVisible()).toBe(false);
    await text
      .filter({ hasText: /^LocAteR against baseline at step 12, one seed: loss .* the paper expects/ })
      .waitFor({ state: 'attached' });
    await page
      .locator('[data-comparison-warnings]', {
        hasText: /^A table of bigrams, which has no attention, reaches .* of baseline and of LocAteR is above/,
      })
      .waitFor();
    await ended(page);
    // On a phone a long sentence takes two lines more than its place has.
    expect((await height()) - before).toBeLessThanOrEqual(isPhone ? 40 : 0);
    const card = page.locator('[data-comparison-runs] li', { hasText: 'LocAteR' });
    await expect.poll(() => card.locator('em').isHidden()).toBe(true);
    await expect
      .poll(() => card.locator('polyline[stroke-width]').first().getAttribute('points'))
      .toMatch(/^\S+ \S+ \S+ \S+$/);
    await expect.poll(() => card.locator('canvas').getAttribute('aria-label')).toMatch(/at step 12$/);
    await card.locator('p', { hasText: /\S/ }).waitFor();
    await settled(page, 'run-curves');
    const rows = (await csv(page, 'run-curves')).filter(({ step }) => step === '12');
    const loss = (run: string) => Number(rows.find((row) => row.run === run)!.bits_per_byte);
    const verdict = page.locator('[data-verdict] p');
    await verdict.filter({ hasText: /; band: 5 seeds of figure \d+$/ }).waitFor();
    const said = (await verdict.textContent())!.replace('−', '-');
    const [, difference] = /^LocAteR minus baseline at step 12, one seed: (\S+?)(?:·10\S*)? bits per byte;/.exec(said)!;
    const actual = loss('locater') - loss('none');
    expect(Math.sign(Number(difference))).toBe(Math.sign(actual));
    const width = await verdict.locator('.strip rect').evaluate((band) => Number(band.getAttribute('width')));
    expect(width).toBeGreaterThan(2);
    expect(errors).toEqual([]);
  }
}, 120_000);

test('titles of the curves keep clear of their axes, and controls within their column', async () => {
  const { page } = await visit(browser, `${host.address}#${TINY}`, { viewport: { width: 1280, height: 800 } });
  await settled(page, 'run-curves');
  const figure = page.locator('#figure-run-curves');
  const boxes = (selector: string) =>
    figure.locator(selector).evaluateAll((all) =>
      all.map((it) => {
        const { left, right, top, bottom } = it.getBoundingClientRect();
        return { left, right, top, bottom };
      }),
    );
  await expect.poll(async () => (await boxes('[data-panel] [data-mark="title"]')).length).toBe(5);
  const ticks = await boxes('[data-mark="y-axis tick label"] text');
  expect(ticks.length).toBeGreaterThan(10);
  for (const title of await boxes('[data-panel] [data-mark="title"] text'))
    for (const tick of ticks)
      expect(
        tick.top >= title.bottom || tick.bottom <= title.top || tick.left >= title.right || tick.right <= title.left,
      ).toBe(true);
  const [tools] = await boxes('.segments');
  const place = (await page.locator('[data-comparison]').boundingBox())!;
  expect(tools!.right).toBeLessThanOrEqual(place.x + place.width + 0.5);
});

test('same seed, same initial weights: the runs begin at the same loss', async () => {
  const { page } = await open();
  await press(page, 'advance');
  await status(page, 'Paused');
  await settled(page, 'run-curves');
  const rows = (await csv(page, 'run-curves')).filter(({ step }) => step === '0');
  expect(rows).toHaveLength(2);
  expect(rows[0].bits_per_byte).toBe(rows[1].bits_per_byte);
});

test('a step goes to the next row, a pause stops, a reset begins anew', async () => {
  const { page } = await open(TINY.replace('steps=12', 'steps=100000'));
  await press(page, 'advance');
  await status(page, 'Paused');
  expect(await steps(page)).toEqual([4, 4]);
  await press(page, 'play');
  await page.waitForFunction(() =>
    /step [1-9]\d/.test(document.querySelector('[data-comparison-runs]')?.textContent ?? ''),
  );
  await press(page, 'play'); // it is the button that pauses, now
  await status(page, 'Paused');
  const paused = await steps(page);
  await page.waitForTimeout(500);
  expect(await steps(page)).toEqual(paused);
  await page.locator('#field-train-batch').fill('3');
  await status(page, 'Start over trains with them');
  const answers = [false, true];
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void (answers.shift() ? dialog.accept() : dialog.dismiss());
  });
  await press(page, 'runs-reset');
  expect(await steps(page)).toEqual(paused);
  await press(page, 'runs-reset');
  await status(page, 'Ready');
  expect(await steps(page)).toEqual([0, 0]);
  const question = `Discard baseline (step ${count(paused[0]!)} of 100,000)`;
  expect(asked).toEqual(Array(2).fill(expect.stringContaining(question)));
  await press(page, 'runs-reset'); // nothing is lost
  expect(asked.length).toBe(2);
});

test('a hidden tab goes on training', async () => {
  const { page } = await open(TINY.replace('steps=12', 'steps=200'));
  await press(page, 'play');
  await page.evaluate(() => {
    window.requestAnimationFrame = () => 0; // what a hidden tab does not get
  });
  await ended(page);
  expect(await steps(page)).toEqual([200, 200]);
});

test('a saved run is a readable file, and goes on at its step', async () => {
  const { page } = await open();
  await press(page, 'advance');
  await status(page, 'Paused');
  const file = await saved(await saveButton(page, '.safetensors of LocAteR'));
  const size = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + size).toString()) as Record<string, unknown>;
  expect(header.__metadata__).toMatchObject({ step: '4', regularizer: 'locater', width: '16' });
  expect(Object.keys(header)).toContain('h.0.attn.c_attn.weight');
  const config = JSON.parse((await saved(await saveButton(page, 'config.json of LocAteR'))).toString());
  expect(config).toMatchObject({ model_type: 'gpt2', n_embd: 16, n_head: 2, n_layer: 1 });
  await press(page, 'play');
  await ended(page);
  await settled(page, 'run-curves');
  const whole = (await csv(page, 'run-curves')).filter(({ run }) => run === 'locater');

  const other = await open(`${TINY}&runs=none,qk-decay`); // the file's run joins the comparison
  await resume(other.page, file);
  await other.page.locator('[data-comparison-note]', { hasText: 'resumes at step 4 of 12' }).waitFor();
  expect(await steps(other.page)).toEqual([0, 0, 4]);
  await press(other.page, 'play');
  await ended(other.page);
  await settled(other.page, 'run-curves');
  const rows = (await csv(other.page, 'run-curves')).filter(({ run }) => run === 'locater');
  expect(rows).toEqual(whole.slice(2)); // the same numbers as without the interruption

  const metadata = { ...(header.__metadata__ as object), validation: 'wiki.valid.tokens' };
  const own = Buffer.from(JSON.stringify({ ...header, __metadata__: metadata }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(own.length));
  other.page.once('dialog', (dialog) => {
    expect(dialog.message()).toBe('Resume run.safetensors in place of LocAteR (step 12 of 12)?');
    void dialog.accept();
  });
  await resume(other.page, Buffer.concat([length, own, file.subarray(8 + size)]));
  const said = 'Its validation text was wiki.valid.tokens; here it is the last tenth of the text.';
  await other.page.locator('[data-comparison-note]', { hasText: said }).waitFor();
});

test('the file of a run opens among the heads of the page', async () => {
  const { page } = await open();
  await press(page, 'advance');
  await status(page, 'Paused');
  await pickModel(page, [
    picked('model.safetensors', await saved(await saveButton(page, '.safetensors of baseline'))),
    picked('config.json', await saved(await saveButton(page, 'config.json of baseline'))),
  ]);
  await page.locator('#tab-model').click();
  const report = page.locator('[data-report]', { hasText: '2 heads of model.safetensors' });
  await report.waitFor();
  expect(await report.isVisible()).toBe(true);
});

test('a file that is no run is refused in words, and the page lives on', async () => {
  const { page, errors } = await open();
  const give = (text: string) => page.locator('input[data-text]').setInputFiles(picked('short.txt', text));
  await resume(page, 'no checkpoint');
  const problem = page.locator('[data-comparison-file-problem]');
  await problem.filter({ hasText: /run\.safetensors: .*plain text/ }).waitFor();
  await give('too short');
  await problem.filter({ hasText: /short\.txt: .*text/ }).waitFor();
  await give('');
  await problem.filter({ hasText: 'at least 1 byte: it has 0' }).waitFor();
  await press(page, 'advance'); // on the text that was there
  await status(page, 'Paused');
  await resume(page, '');
  await problem.filter({ hasText: /run\.safetensors: .* 0 bytes/ }).waitFor();
  expect(await steps(page)).toEqual([4, 4]);
  await give('a text that is long enough. '.repeat(40));
  await press(page, 'play');
  await ended(page);
  expect(errors).toEqual([]);
});

test('values that do not go together are refused at their control; mended, the runs start', async () => {
  const { page, errors } = await open(TINY.replace('heads=2', 'heads=3'));
  await press(page, 'play');
  const error = page.locator('#error-train-heads');
  await error.filter({ hasText: /\S/ }).waitFor();
  expect(await error.textContent()).toMatch(/^Heads must divide the width: width \d+, heads 3$/);
  await page.locator('#field-train-heads').fill('2');
  await press(page, 'play');
  await ended(page);
  await page.locator('#field-train-width').fill('1');
  const width = page.locator('#error-train-width');
  await width.filter({ hasText: 'Width must be an integer from' }).waitFor();
  await go(page, `${TINY}&runs=none,wishful&initialization=lucky`);
  const runs = page.locator('#error-train-runs');
  await runs.filter({ hasText: /locater.*: found 'wishful'/ }).waitFor();
  await page
    .locator('#error-train-initialization')
    .filter({ hasText: /mimetic.*: found 'lucky'/ })
    .waitFor();
  expect(errors).toEqual([]);
});

test('a comparison has one to four runs', async () => {
  const { page } = await open(`${TINY}&runs=none`);
  await page.locator('input[name="field-train-runs"][value="none"]').click();
  await page.locator('#error-train-runs', { hasText: 'Runs must have 1 to 4 names' }).waitFor();
  expect(await page.locator('input[name="field-train-runs"][value="none"]').isChecked()).toBe(true);
  for (const name of ['locater', 'sigma-reparam', 'qk-decay', 'locater-frobenius']) {
    await page.locator(`input[name="field-train-runs"][value="${name}"]`).click();
  }
  await page.locator('#error-train-runs', { hasText: 'Runs must have 1 to 4 names' }).waitFor();
  await expect.poll(() => page.locator('[data-comparison-runs] li').count()).toBe(4);
});

test('a run that breaks says where and why, and the charts stay', async () => {
  const { page, errors } = await open(`${TINY.replace('steps=12', 'steps=400')}&learning_rate=1000000`);
  await press(page, 'play');
  const list = page.locator('[data-comparison-runs]');
  await list.filter({ hasText: /baseline.*Stopped at step \d+: .*learning_rate/s }).waitFor();
  await ended(page);
  await settled(page, 'run-curves');
  await page.locator('#figure-run-curves [data-live]', { hasText: 'Stopped at step' }).waitFor(ATTACHED);
  const rows = await csv(page, 'run-curves');
  expect(rows.filter(({ run }) => run === 'none')[0].step).toBe('0');
  await expect.poll(() => page.locator('#figure-run-curves .chart svg svg').count()).toBe(5);
  expect(errors).toEqual([]);
});

test('a fault is injected into a run under way, and the alarms say at which step they rang', async () => {
  const { page, errors } = await open();
  await press(page, 'advance');
  await status(page, 'Paused');
  const broken = page.locator('[data-break]');
  await broken.locator('summary').click();
  await broken.locator('tbody tr').nth(3).waitFor(); // the chosen alarm, the freezing line, two references
  const watched = broken.locator('tbody tr');
  const before = await watched.count();
  await broken.getByLabel('Add or remove an alarm').selectOption({ index: 1 });
  expect(await watched.count()).toBe(before + 1);
  await broken.getByLabel('Fault').selectOption('learning rate × 32');
  await press(page, 'break-run');
  await ended(page);
  await broken.getByText('Fault at step 4.').waitFor();
  for (const rang of await broken.locator('tbody td:last-child').allTextContents()) {
    expect(rang).toMatch(/^(silent|step (8|12)\b)/);
  }
  expect(await page.locator('[data-action="break-run"]').isDisabled()).toBe(true);
  const finalLosses = async (of: Page) => {
    await settled(of, 'run-curves');
    const rows = await csv(of, 'run-curves');
    return rows.filter(({ step }) => step === '12').map(({ bits_per_byte }) => bits_per_byte);
  };
  const [injected, spared] = await finalLosses(page);
  const { page: whole } = await open(`${TINY}&fault=learning-rate&fault_size=32&fault_step=4`);
  await press(whole, 'play');
  await ended(whole);
  const [expected, alsoBroken] = await finalLosses(whole);
  expect(injected).toBe(expected);
  expect(spared).not.toBe(alsoBroken);
  expect(errors).toEqual([]);
});

test('another architecture and words for tokens train too, and their file goes on', async () => {
  const shape = 'mlp_ratio=2&key_heads=1&layer_norm=post&positions=rotary&output=free&tokenizer=words&min_count=2';
  const { page, errors } = await open(`${TINY}&${shape}`);
  await press(page, 'advance');
  await status(page, 'Paused');
  const config = JSON.parse((await saved(await saveButton(page, 'config.json of LocAteR'))).toString());
  expect(config).toMatchObject({ n_head: 2, n_head_kv: 1, n_inner: 32, tie_word_embeddings: false });
  expect(config).toMatchObject({ layer_norm: 'post', positions: 'rotary' });
  expect(config.vocab_size).toBeGreaterThan(256); // words, not bytes
  const file = await saved(await saveButton(page, '.safetensors of LocAteR'));
  page.once('dialog', (dialog) => void dialog.accept()); // the baseline is not saved
  await press(page, 'runs-reset');
  await resume(page, file);
  await page.locator('[data-comparison-note]', { hasText: 'resumes at step 4 of 12' }).waitFor();
  const taken = JSON.parse((await saved(await saveButton(page, 'config.json of LocAteR'))).toString());
  expect(taken).toEqual(config);
  await press(page, 'play');
  await ended(page);
  expect(await steps(page)).toEqual([12, 12]);
  expect(errors).toEqual([]);
});

test('what is wrong with a rare setting is said at its control, whose group opens', async () => {
  const { page } = await open(TINY);
  const group = page.locator('details:not([data-section])', { hasText: 'More model' });
  expect(await group.getAttribute('open')).toBe(null);
  await go(page, `${TINY}&key_heads=3&positions=sideways&mlp_ratio=99`);
  await page.locator('#error-train-positions', { hasText: /rotary.*: found 'sideways'/ }).waitFor();
  await page.locator('#error-train-mlp_ratio', { hasText: /^MLP ratio must be .*: found 99$/ }).waitFor();
  expect(await group.getAttribute('open')).not.toBe(null);
  await go(page, `${TINY}&key_heads=3`);
  await press(page, 'play');
  await page.locator('#error-train-key_heads', { hasText: /must divide the heads: heads 2, key_heads 3/ }).waitFor();
  await go(page, `${TINY}&tokenizer=runes`);
  await page.locator('#error-train-tokenizer', { hasText: /bytes, words: found 'runes'/ }).waitFor();
});

test('a link reproduces the settings, and with them the numbers', async () => {
  const first = await open(`${TINY}&seed=7`);
  await first.page.locator('input[name="field-train-runs"][value="qk-decay"]').click();
  await enter(first.page.locator('#field-train-target'), '0.5');
  const link = first.page.url();
  expect(new URL(link).hash).toContain('runs=none,locater,qk-decay');
  const views = [];
  for (const page of [first.page, (await visit(browser, link)).page]) {
    await press(page, 'play');
    await ended(page);
    await settled(page, 'run-curves');
    views.push(await csv(page, 'run-curves'));
  }
  expect(views[0]).toHaveLength(12);
  expect(views[1]).toEqual(views[0]);
});
