// Published runs that are chosen, and the figures of runs that have been trained.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { LOGIT_PARTS } from '../../web/chapters/train/runs/log';
import { csv, openBrowser, settled } from './browser';
import { ATTACHED, ended, open, press, status, steps, TINY } from './comparison';

openBrowser();

test('a published run is chosen by pointing at it, trained here to the same loss, and joins the figure', async () => {
  const { page, errors } = await open();
  await settled(page, 'trainability');
  const figure = page.locator('#figure-trainability');
  expect(await figure.locator('[data-picker]').isVisible()).toBe(false); // until a cell is chosen
  const cells = figure.locator('[data-mark="cells"]').first();
  const { height } = (await cells.boundingBox())!;
  const corner = { x: 5, y: height - 5 };
  await cells.click({ position: corner, force: true }); // lines lie over it
  const lists = figure.locator('[data-picker] select');
  const chosen = await lists.evaluateAll((all) => all.map((it) => (it as HTMLSelectElement).value));
  expect(chosen).toEqual(['post', '2', '0.25', '-1', '1']); // the first seed
  expect(await figure.locator('.chart svg[role="img"]').count()).toBe(1); // panels and rings are its parts
  // In both panels, around the cell.
  const rings = figure.locator('[data-mark="chosen"] circle');
  await expect.poll(() => rings.count()).toBe(2);
  const fromCorner = async () => {
    const [ring, box] = [await rings.first().boundingBox(), await cells.boundingBox()];
    const [x, y] = [ring!.x + ring!.width / 2, ring!.y + ring!.height / 2];
    return Math.hypot(x - box!.x, y - box!.y - box!.height);
  };
  await expect.poll(() => fromCorner().catch(() => NaN)).toBeLessThan(20);
  await lists.nth(0).selectOption('pre');
  // The link's settings, and steps that were trained with them, are replaced when the question is answered.
  await press(page, 'advance');
  await status(page, 'Paused');
  const train = figure.getByRole('button', { name: 'Train this run here' });
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void (questions.length === 1 ? dialog.dismiss() : dialog.accept());
  });
  const before = page.url();
  await train.click();
  expect(await steps(page)).toEqual([4, 4]);
  expect(page.url()).toBe(before);
  await train.click();
  const question =
    'Train this run in place of baseline (step 4 of 12), LocAteR (step 4 of 12), the settings of the controls?';
  expect(questions).toEqual([question, question]);
  const said = figure.locator('[data-picker] [role="status"]');
  await said.filter({ hasText: /Here: [\d.]+ bits/ }).waitFor({ timeout: 150_000 });
  const [published, here] = (await said.textContent())!.match(/\d+\.\d+/g)!;
  expect(here).toBe(published);
  expect(await page.evaluate(() => location.hash)).toContain('alpha=-1&init_scale=0.25');
  // Over alpha and s, and over mean and variance.
  await expect.poll(() => figure.locator('[data-mark="trained here"] path').count()).toBe(2);
  expect(errors).toEqual([]);
}, 180_000);

/** Labels, and the first seed, of the first mark of the figure of escapes. */
function firstEscape(): string[] {
  const file = new URL('../../web/results/experiments/rank-escape.results.json', import.meta.url);
  const { analysis } = JSON.parse(readFileSync(file, 'utf8'));
  const [first] = (analysis[0].rows as { axes: Record<string, string> }[])
    .map(({ axes }) => [axes.depth!, axes.init_scale!, axes.alpha!])
    .sort((a, b) => a.map((it, i) => Number(it) - Number(b[i])).find(Boolean) ?? 0);
  return [...first!, '1'];
}

const POINTED = [
  ['rates' as const, 'warm-up and clipping, mean', ['warmup-clip', '0.0015', '1'], 2],
  ['escape' as const, 's = 1, mean', firstEscape(), 1],
  ['strength' as const, 'baseline, mean', ['none', 'with', '1'], 2],
] as const;

test('a run of an experiment is chosen by pointing at it', async () => {
  const { page, errors } = await open();
  for (const [id, mark, labels, panels] of POINTED) {
    await settled(page, id);
    const figure = page.locator(`#figure-${id}`);
    await figure.locator(`[data-mark="${mark}"] circle`).first().click({ force: true });
    const lists = figure.locator('[data-picker] select');
    const values = () => lists.evaluateAll((all) => all.map((it) => (it as HTMLSelectElement).value));
    await expect.poll(values, { message: id }).toEqual(labels);
    await expect.poll(() => figure.locator('[data-mark="chosen"] circle').count(), { message: id }).toBe(panels);
    await figure.getByRole('button', { name: 'Train this run here' }).waitFor();
    const said = figure.locator('[data-picker] [role="status"]');
    await said.filter({ hasText: /Published: [\d.]+ / }).waitFor();
  }
  expect(errors).toEqual([]);
});

test('a run of the plateaus is chosen by pointing at it, in its own experiment', async () => {
  const { page, errors } = await open();
  await settled(page, 'plateaus');
  const figure = page.locator('#figure-plateaus');
  await figure.locator('details.more > summary').click();
  const experiment = figure.getByRole('combobox', { name: 'Experiment' });
  expect(await experiment.inputValue()).toBe('0');
  // The first mark of the path that has them all begins at its upper corner.
  const marks = figure.locator('[data-mark^="learning more than letter frequencies"] path').first();
  await marks.scrollIntoViewIfNeeded();
  const corner = await marks.evaluate((it: SVGPathElement) => {
    const { x, y } = it.getPointAtLength(0).matrixTransform(it.getScreenCTM()!);
    return { x, y };
  });
  await page.mouse.click(corner.x, corner.y + 4);
  await expect.poll(() => experiment.inputValue()).toBe('1');
  const lists = figure.locator('.picker:visible select');
  expect(await lists.count()).toBe(4); // depth, scale, alpha, seed
  const ring = figure.locator('[data-mark="chosen"] circle').first();
  const place = () => ring.evaluate((it) => [it.getAttribute('cx'), it.getAttribute('cy')].join());
  const first = await place();
  const said = figure.locator('.picker:visible [role="status"]');
  await said.filter({ hasText: /Published: [\d.]+ bits per byte/ }).waitFor();
  // The lists choose too.
  await lists.nth(0).selectOption('16');
  await expect.poll(place).not.toBe(first);
  await lists.nth(0).selectOption('8');
  page.once('dialog', (dialog) => void dialog.accept()); // it replaces the link's settings
  await figure.getByRole('button', { name: 'Train this run here' }).click();
  await said.filter({ hasText: /Here: step \d+ of/ }).waitFor({ timeout: 60_000 });
  expect(await page.evaluate(() => location.hash)).toContain('alpha=');
  expect(errors).toEqual([]);
}, 120_000);

test('the figures of the runs show its heads, its attention and its words', async () => {
  const { page, errors } = await open();
  await press(page, 'play');
  await ended(page);
  await settled(page, 'run-map');
  const map = await csv(page, 'run-map');
  expect(map.length).toBe(2 * 4 * 2); // runs, rows, heads
  await page.locator('#figure-run-map [data-mark="heads, LocAteR"] circle').nth(1).waitFor();
  await settled(page, 'run-attention');
  await page.locator('[data-watch="run"]').selectOption('locater');
  await page.locator('[data-watch="head"]').selectOption('0.1');
  await page.waitForFunction(() => location.hash.includes('watched=locater:0.1'));
  await page
    .locator('#figure-run-attention [data-live]', { hasText: 'LocAteR, step 12, layer 0, head 1' })
    .waitFor(ATTACHED);
  const rows = await csv(page, 'run-attention');
  expect(rows.length).toBe(16); // the model's length
  rows.forEach((row, query) => {
    const weights = rows.map((_, key) => Number(row[`key_${key + 1}`]));
    expect(weights.reduce((a, b) => a + b)).toBeCloseTo(1, 5);
    expect(weights.slice(query + 1).every((weight) => weight === 0)).toBe(true);
  });
  await page.locator('.cards').scrollIntoViewIfNeeded();
  await page.locator('.cards li:nth-child(2) p', { hasText: /\S/ }).waitFor();
  expect(await page.locator('.cards h2').allTextContents()).toEqual(['baseline', 'LocAteR']);
  expect(errors).toEqual([]);
});

/** Of a run's panel in the figure of the logits: the shares at the last step, as its areas are drawn. */
async function drawnShares(page: Page, run: string): Promise<number[]> {
  const panel = page.locator(`#figure-run-logits [data-panel="${run}"]`);
  return panel.evaluate((it, parts) => {
    const numbers = (text: string | null) => (text?.match(/-?[\d.]+/g) ?? []).map(Number);
    const tick = (text: string) => {
      const labels = [...it.querySelectorAll('[data-mark="y-axis tick label"] text')];
      return numbers(labels.find((label) => label.textContent === text)!.getAttribute('transform'))[1];
    };
    const unit = tick('0%')! - tick('100%')!;
    const share = (part: string, side: string) => {
      // There along one edge and back along the other: in the middle are both ends of the last step.
      const path = it.querySelector(`[data-mark="${part}, ${side} zero"]`);
      const ends = numbers(path?.getAttribute('d') ?? null);
      const middle = ends.length / 2;
      return path ? Math.abs(ends[middle - 1]! - ends[middle + 1]!) / unit : 0;
    };
    return parts.map((part) => share(part, 'above') - share(part, 'below'));
  }, LOGIT_PARTS);
}

test('the parts of the logits’ variance add up to it, and what escapes a penalty on W is said', async () => {
  const penalty = 'runs=none,locater-frobenius&scale_weight=10&learning_rate=0.01&warmup=0';
  const model = 'steps=120&width=16&depth=1&heads=2&length=16&batch=2&log_every=20';
  const { page, errors } = await open(`train?${penalty}&${model}`);
  await settled(page, 'run-logits');
  const live = page.locator('#figure-run-logits [data-live]');
  const sample = 'Recorded runs until Play: eigenscope train';
  expect(await live.textContent()).toContain(sample);
  await press(page, 'play');
  await ended(page);
  await settled(page, 'run-logits');
  const rows = await csv(page, 'run-logits');
  const logged = [0, 20, 40, 60, 80, 100, 120];
  expect(rows.map(({ step }) => Number(step))).toEqual([...logged, ...logged]);
  for (const row of rows) {
    const whole = Number(row.logit_variance);
    const sum = LOGIT_PARTS.reduce((so, part) => so + Number(row[part]), 0);
    expect(whole).toBeGreaterThan(0);
    expect(Math.abs(sum / whole - 1)).toBeLessThan(1e-4);
    for (const mass of [row.self_mass, row.self_reference]) {
      expect(Number(mass)).toBeGreaterThan(0);
      expect(Number(mass)).toBeLessThan(1);
    }
  }
  const sharesOf = (row: Record<string, string>) =>
    LOGIT_PARTS.map((part) => Number(row[part]) / Number(row.logit_variance));
  for (const run of ['none', 'locater-frobenius']) {
    const shares = sharesOf(rows.filter((row) => row.run === run).at(-1)!);
    const gap = async () => {
      const drawn = await drawnShares(page, run).catch(() => [NaN]);
      return Math.max(...shares.map((share, i) => Math.abs(drawn[i]! - share)));
    };
    await expect.poll(gap, { message: run }).toBeLessThan(0.01);
  }
  const bias = sharesOf(rows.at(-1)!)[LOGIT_PARTS.indexOf('bias_part')]!;
  expect(bias).toBeGreaterThan(0.5);
  const escaped = `${Math.round(100 * bias)}% of it from the query bias, which this regularizer leaves free`;
  await live.filter({ hasText: escaped }).waitFor(ATTACHED);
  expect(await live.textContent()).not.toContain(sample);
  expect(errors).toEqual([]);
});

test('the step slider takes the heads back along their ways', async () => {
  const { page, errors } = await open(TINY);
  await press(page, 'play');
  await ended(page);
  await settled(page, 'run-map');
  const slider = page.locator('[data-moment]');
  await page.locator('[data-moment-text]', { hasText: 'newest' }).waitFor();
  expect(await slider.getAttribute('max')).toBe('3'); // steps 0, 4, 8 and 12
  const whole = await csv(page, 'run-map');
  await slider.fill('1');
  await page.waitForFunction(() => location.hash.includes('moment=4'));
  const live = page.locator('#figure-run-map [data-live]');
  await live.filter({ hasText: /baseline, step 4: .*LocAteR, step 4: / }).waitFor(ATTACHED);
  const early = await csv(page, 'run-map');
  expect(early.length).toBeGreaterThan(0);
  expect(early).toEqual(whole.filter(({ step }) => Number(step) <= 4));
  await slider.fill('3');
  await page.waitForFunction(() => !location.hash.includes('moment='));
  await live.filter({ hasText: 'baseline, step 12' }).waitFor(ATTACHED);
  expect(errors).toEqual([]);
});

test('trained models are evaluated as trained, with TAME and with hard attention', async () => {
  const { page, errors } = await open(TINY);
  await press(page, 'play');
  await ended(page);
  const samples = page.locator('.cards');
  await samples.scrollIntoViewIfNeeded();
  const measured = samples.locator('li:nth-child(1) .card-measured');
  await measured.filter({ hasText: /^Checkpoint at step 12: loss [\d.]+ bits per byte/ }).waitFor();
  const [, bits] = /([\d.]+) bits per byte/.exec((await measured.textContent()) ?? '') ?? [];
  await settled(page, 'run-curves');
  const last = (await csv(page, 'run-curves')).find(({ run, step }) => run === 'none' && step === '12');
  expect(Number(bits)).toBeCloseTo(Number(last?.bits_per_byte), 1); // the same evaluation
  const figure = page.locator('#figure-run-attention');
  await figure.locator('details.more > summary').click();
  await page.locator('#field-train-intervention').selectOption('hard');
  await figure.scrollIntoViewIfNeeded();
  const live = figure.locator('[data-live]');
  await live.filter({ hasText: 'with hard attention: mean entropy 0 over' }).waitFor(ATTACHED);
  await settled(page, 'run-attention');
  const rows = await csv(page, 'run-attention');
  expect(rows.length).toBe(16); // the model's length
  for (const row of rows) {
    const keys = Object.keys(row).filter((name) => name.startsWith('key_'));
    expect(keys).toHaveLength(rows.length);
    expect(
      keys
        .map((key) => Number(row[key]))
        .sort()
        .at(-1),
    ).toBe(1);
  }
  await samples.scrollIntoViewIfNeeded();
  await measured.filter({ hasText: /step 12, with hard attention: .*entropy 0$/ }).waitFor(); // one key each
  expect(await page.locator('[data-control="tame"]').isHidden()).toBe(true);
  await figure.scrollIntoViewIfNeeded();
  await page.locator('#field-train-intervention').selectOption('tame');
  await page.locator('#field-train-tame').fill('-1');
  const error = page.locator('#error-train-tame');
  await error.filter({ hasText: /^TAME must be .*: found -1$/ }).waitFor();
  await page.locator('#field-train-tame').fill('3');
  await live.filter({ hasText: 'with TAME' }).waitFor(ATTACHED);
  await page.waitForFunction(() => /intervention=tame&tame=3/.test(location.hash));
  expect(errors).toEqual([]);
});
