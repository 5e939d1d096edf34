// The view Localize: what one sees at once, where the claim fails, and what the dots are.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { json } from '../cli/eigenscope';
import {
  browser,
  caption,
  checkpoint,
  csv,
  exported,
  go,
  host,
  marks,
  openBrowser,
  openMore,
  settled,
  showInLead,
  showView,
  unfold,
  visit,
} from './browser';
import { TRAINED_LENGTH, trainedFolder } from './trained';

openBrowser();

const LAPTOP = { viewport: { width: 1280, height: 800 } };
const title = async (page: Page) =>
  ((await page.locator('#title-lead').textContent()) ?? '').replace(/\s+/g, ' ').trim();
const choose = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();

/** How many words can be read on the screen: above the bar of controls, or in it. */
const wordsInSight = (page: Page) =>
  page.evaluate(() => {
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const bar = document.querySelector('#localize .controls')!;
    const end = bar.getBoundingClientRect().top;
    let text = '';
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const { width, height, top, bottom } = range.getBoundingClientRect();
      const isAbove = bar.contains(node) || top < end;
      const isVisible = isAbove && node.parentElement!.checkVisibility({ visibilityProperty: true });
      const isHidden = node.parentElement!.closest('.hidden, .skip, style, script');
      if (width > 1 && height > 1 && bottom > 0 && isVisible && !isHidden) text += ` ${node.textContent}`;
    }
    return text.split(/\s+/).filter((word) => /\p{L}{2}/u.test(word)).length;
  });

test.each([LAPTOP, { viewport: { width: 1440, height: 900 } }])(
  'on load the variance runs once, and the first screen has few words: $viewport.width pixels',
  async ({ viewport }) => {
    const { page, errors } = await visit(browser, 'about:blank', { viewport, settle: false });
    // In the page: looks from outside come late on a busy machine.
    await page.addInitScript(() => {
      const seen = new Set<number>();
      const look = () => {
        const control = document.querySelector<HTMLInputElement>('#field-localize-variance');
        if (control) seen.add(Number(control.value));
        requestAnimationFrame(look);
      };
      look();
      Object.assign(window, { seen });
    });
    await page.goto(`${host.address}#localize`);
    await expect.poll(() => page.locator('#field-localize-variance').inputValue(), { timeout: 30_000 }).toBe('0.001');
    const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<number> }).seen]);
    expect(Math.max(...seen)).toBeGreaterThan(10);
    expect(seen.length).toBeGreaterThan(4);
    const reading = page.locator('#figure-lead [data-mark="reading"]');
    await expect.poll(() => reading.textContent()).toMatch(/^L = 0\.475/);
    await expect.poll(() => new URL(page.url()).hash).toBe('#localize?variance=0.001');
    await settled(page, 'lead');
    await page.evaluate(() => scrollTo(0, 0));
    expect(await wordsInSight(page)).toBeLessThanOrEqual(120);
    // A word stands at the handle until a hand takes it.
    const handle = page.getByRole('slider', { name: 'Standard deviation of the eigenspectrum' });
    expect(await handle.getAttribute('class')).toContain('hint');
    await handle.focus();
    expect(await handle.getAttribute('class')).not.toContain('hint');
    // One curve, no heads, no simulations; the cells of the row have the theory's rho as their heights.
    for (const mark of ['heads of the sample', 'simulation, mean 0.25', 'row entropies'])
      expect(await page.locator(`#figure-lead [data-mark="${mark}"] *`).count(), mark).toBe(0);
    const cells = page.locator('#figure-lead [data-mark="propagation probability, theory"] rect');
    const heights = await cells.evaluateAll((all) => all.map((it) => Number(it.getAttribute('height'))));
    const keys = (await csv(page, 'lead')).filter(({ kind }) => kind === 'key').map((row) => Number(row.rho_theory));
    expect(heights.length).toBe(48);
    const whole = Math.max(...heights) / Math.max(...keys);
    heights.forEach((height, i) => expect(Math.abs(height - whole * keys[i]!)).toBeLessThan(0.2));
    expect(errors).toEqual([]);
  },
);

test('a hand stops the run of the variance; without movement the page opens at its end', async () => {
  const { page } = await visit(browser, `${host.address}#localize`, { ...LAPTOP, settle: false });
  const variance = page.locator('#field-localize-variance');
  await expect.poll(async () => Number(await variance.inputValue()), { interval: 20 }).toBeLessThan(30);
  await page.mouse.move(640, 120);
  await page.mouse.down();
  await page.mouse.up();
  const left = await variance.inputValue();
  await page.waitForTimeout(600);
  expect(await variance.inputValue()).toBe(left);
  const still = await visit(browser, `${host.address}#localize`, { ...LAPTOP, reducedMotion: 'reduce' });
  expect(await still.page.locator('#field-localize-variance').inputValue()).toBe('0.001');
});

test('the opening says what localized means, and the first figure’s axis is on the first screen', async () => {
  const { page } = await visit(browser, host.address, LAPTOP);
  const opening = (await page.locator('#localize .lede').innerText()).replace(/\s+/g, ' ');
  expect(opening).toMatch(/If fewer do, attention is more localized: its index/);
  await page.evaluate(() => scrollTo(0, 0));
  const box = await page.locator('#figure-lead .chart > svg').boundingBox();
  expect(box!.y + box!.height).toBeLessThanOrEqual(800 - 50); // above the bar of controls
  expect(box!.height).toBeGreaterThan(340);
  await choose(page, 'Mean near zero');
  await page.locator('#figure-lead [data-mark="the index rises"] rect').first().waitFor();
  const bottom = () => page.locator('#figure-lead .chart > svg').evaluate((it) => it.getBoundingClientRect().bottom);
  await expect.poll(bottom).toBeLessThanOrEqual(800 - 50);
  // What a notice takes above the picture, the picture leaves; and takes back.
  const height = () => page.locator('#figure-lead .chart > svg').evaluate((it) => it.getBoundingClientRect().height);
  const free = await height();
  await go(page, 'localize?mean=0.004&variance=0.0001&colour=red');
  await expect.poll(height).toBeLessThan(free);
  await page.locator('[data-link-notice] button').click();
  await expect.poll(height).toBe(free);
});

test('where the claim fails the axis is that of the lines, the rise is shaded, the title says so', async () => {
  const { page, errors } = await visit(browser, host.address, LAPTOP);
  expect(await title(page)).toBe('Figure 1. Localization of random-walk tokens falls with the variance');
  const areas = page.locator('#figure-lead [data-mark="the index rises"] rect');
  expect(await areas.count()).toBe(0);
  await choose(page, 'Mean near zero');
  await expect.poll(() => title(page)).toBe('Figure 1. Here localization rises with the variance');
  const ends = page.locator(
    '#figure-lead .chart > svg > svg:last-of-type [data-mark="y-axis tick label"] text:last-of-type',
  );
  expect(Math.max(...(await ends.allTextContents()).map(Number))).toBe(1); // as in every preset
  await showInLead(page, 'all');
  await settled(page, 'lead');
  const rows = await csv(page, 'lead');
  const own = rows.filter(({ kind, mean }) => kind === 'theory' && mean === '0.004');
  const values = own.map((row) => Number(row.localization));
  const top = Math.max(
    ...rows.filter(({ kind }) => kind === 'theory' || kind === 'simulation').map((row) => Number(row.localization)),
  );
  // The highest line fills the picture: it ends in its upper half.
  const heads = rows.filter(({ kind }) => kind === 'head predicted').map((row) => Number(row.localization));
  const ticks = await page
    .locator('#figure-lead .chart > svg > svg:last-of-type [data-mark="y-axis tick label"] text')
    .allTextContents();
  const last = Math.max(...ticks.map(Number));
  expect(last).toBeLessThan(2 * top);
  expect(Math.max(...heads)).toBeLessThanOrEqual(last + 0.05);
  expect(await caption(page, 'lead')).toMatch(/Heads above this axis: \d+\./);
  // Shaded is where the line of the chosen mean rises, and nowhere else.
  const svg = (await exported(page, 'lead', 'svg')).toString();
  const shaded = await page.evaluate((text) => {
    const picture = new DOMParser().parseFromString(text, 'image/svg+xml');
    return [...picture.querySelectorAll('[data-mark="the index rises"] rect')].map((it) => {
      const [x, width] = ['x', 'width'].map((name) => Number(it.getAttribute(name)));
      return [x!, x! + width!];
    });
  }, svg);
  const line = await page.evaluate((text) => {
    const picture = new DOMParser().parseFromString(text, 'image/svg+xml');
    const path = picture.querySelector('[data-mark="theory, mean 0.004"] path');
    const numbers = path!
      .getAttribute('d')!
      .match(/-?[\d.]+(?:e-?\d+)?/g)!
      .map(Number);
    return numbers.filter((_, i) => i % 2 === 0);
  }, svg);
  expect(line.length).toBe(values.length);
  const isShaded = (x: number) => shaded.some(([from, to]) => x > from! - 0.01 && x < to! + 0.01);
  values.forEach((value, i) => {
    if (i === 0) return;
    const middle = (line[i]! + line[i - 1]!) / 2;
    expect(isShaded(middle), `step ${i}`).toBe(value > values[i - 1]!);
  });
  await choose(page, 'Small variance');
  await expect.poll(() => title(page)).toBe('Figure 1. Localization of random-walk tokens falls with the variance');
  await unfold(page.locator('#figure-lead .more-presets ul'));
  await choose(page, 'Almost no position passes');
  await expect.poll(() => title(page)).toBe('Figure 1. Mean of ρ over the keys against the variance');
  expect(errors).toEqual([]);
});

test('a dot says both its numbers; legends have the shapes of the marks and the colours of the grid', async () => {
  const { page } = await visit(browser, `${host.address}#localize?detail=heads`, LAPTOP);
  const dot = page.locator('#figure-lead [data-mark="heads of the sample"] path').first();
  const circle = page.locator('#figure-lead [data-mark="heads of the sample"] circle').first();
  const mark = (await circle.count()) > 0 ? circle : dot;
  const box = await mark.boundingBox();
  await page.mouse.move(box!.x + box!.width / 2, box!.y + box!.height / 2);
  const tip = page.locator('#figure-lead .tip:visible');
  await tip.waitFor();
  const [head, measured] = (await tip.textContent())!.split('; ');
  expect(head).toMatch(
    /^all-MiniLM-L6-v2, layer \d, head \d+: weights only, Frobenius variance [\d.]+, predicted localization index L [\d.]+$/,
  );
  expect(measured).toMatch(/^measured attention entropy [\d.]+$/);
  const legend = page.locator('#figure-lead svg g[aria-hidden="true"] > g', {
    hasText: '72 heads of all-MiniLM-L6-v2, predicted from weights only',
  });
  await expect.poll(() => legend.locator('circle').count()).toBe(3);
  const key = page.locator('[data-heads-key] svg');
  expect(await key.getAttribute('aria-label')).toMatch(/^localization index L, predicted: 0 to 0\.\d+$/);
  expect(await key.locator('rect').count()).toBeGreaterThan(5);
});

test('a chosen head of the sample shows its matrix in a sentence, until a setting of the random one changes', async () => {
  const { page } = await visit(browser, `${host.address}#localize?detail=heads&head=sample:2.3`, LAPTOP);
  const cells = page.locator('#figure-lead .cells');
  const label = () => cells.getAttribute('aria-label');
  await expect.poll(label).toMatch(/^attention weights of layer 2, head 3/);
  expect(await caption(page, 'lead')).toContain(
    'The matrix is its measured attention in “When does attention localize?”.',
  );
  expect(await caption(page, 'lead')).not.toContain('48 by 48 weights');
  const answer = json('attend', { text: 'When does attention localize?' }, checkpoint, '--weights');
  const heads = answer.weights as { layer: number; head: number; weights: number[][] }[];
  const { weights } = heads.find(({ layer, head }) => layer === 2 && head === 3)!;
  const rows = (await csv(page, 'lead')).filter(({ kind }) => kind === 'weight of layer 2, head 3');
  expect(rows).toHaveLength(64);
  rows.forEach((row) => expect(Number(row.weight)).toBeCloseTo(weights[Number(row.query) - 1][Number(row.key) - 1], 3));
  await page.locator('#localize [data-control="variance"] input[type="range"]').press('ArrowLeft');
  await expect.poll(label).toMatch(/^attention weights:/);
  await expect.poll(() => caption(page, 'lead')).not.toContain('its measured attention');
  await page.locator('[data-heads] [data-head="sample:0.1"]').click();
  await expect.poll(label).toMatch(/^attention weights of layer 0, head 1/);
});

test('the covariance of the tokens moves the dots and leaves the simulations', async () => {
  const { page } = await visit(browser, `${host.address}#localize?detail=all`, LAPTOP);
  const placeOf = async (id: 'lead' | 'phase-map') => {
    await settled(page, id);
    const svg = (await exported(page, id, 'svg')).toString();
    return marks(page, svg, 'heads of the sample');
  };
  const rowsOf = async () => (await csv(page, 'lead')).filter(({ kind }) => kind === 'simulation');
  const before = { lead: await placeOf('lead'), map: await placeOf('phase-map') };
  const simulated = await rowsOf();
  await openMore(page);
  await page.locator('#field-localize-sigma').selectOption('layer');
  await expect.poll(() => caption(page, 'lead')).toMatch(/W in the metric of the layer’s tokens, predicted/);
  const after = { lead: await placeOf('lead'), map: await placeOf('phase-map') };
  const moved = (a: { x: number; y: number }[], b: { x: number; y: number }[]) =>
    a.filter(({ x, y }, i) => Math.hypot(x - b[i]!.x, y - b[i]!.y) > 2).length;
  expect(after.map.length).toBe(72);
  expect(moved(before.map, after.map)).toBeGreaterThan(60);
  expect(after.lead.length).toBe(72);
  expect(moved(before.lead, after.lead)).toBeGreaterThan(60);
  const known = new Set((await rowsOf()).map((row) => JSON.stringify(row)));
  expect(simulated.filter((row) => known.has(JSON.stringify(row))).length).toBe(simulated.length);
});

test('an opened checkpoint is read again with the chosen covariance, and has its measured entropies', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?passages=2`);
  const folder = trainedFolder();
  await page.locator('[data-folder]').setInputFiles(folder);
  await page.locator('[data-report]', { hasText: '8 heads of export:' }).waitFor();
  await go(page, 'localize?samples=100&detail=heads'); // few: the dots are meant
  const placesOf = async () => {
    const rows = (await csv(page, 'lead')).filter(({ head }) => head?.startsWith('file:'));
    return rows.map((row) => Number(row.variance));
  };
  // The numbers of the command line, with the covariance of each layer for the same passages.
  const drawn = { length: TRAINED_LENGTH, passages: 2 };
  const read: Record<string, () => { heads: Record<string, number>[] }> = {
    embeddings: () => json('heads', { frame: 'embeddings' }, folder),
    layer: () => json('layer-spectra', { file: 'web/generated/text.txt', ...drawn }, folder),
    random: () => json('layer-spectra', drawn, folder),
  };
  const seen = new Set<number>();
  await openMore(page);
  for (const [sigma, terminal] of Object.entries(read)) {
    await page.locator('#field-localize-sigma').selectOption(sigma);
    await expect.poll(async () => (await placesOf()).length).toBe(8);
    await settled(page, 'lead');
    const places = await placesOf();
    const variances = terminal().heads.map((head) => head.variance_frobenius!);
    expect(variances).toHaveLength(8);
    variances.forEach((it, i) => expect(Math.abs(places[i]! / it - 1)).toBeLessThan(1e-4));
    seen.add(variances[0]!);
  }
  expect(seen.size).toBe(3);
  await page.locator('#field-localize-sigma').selectOption('identity');
  await showView(page, 'model');
  await page.locator('#figure-predictors').scrollIntoViewIfNeeded();
  await page
    .locator('#figure-predictors [data-live]', { hasText: /8 heads of export: rank/ })
    .waitFor({ state: 'attached', timeout: 60_000 });
  await settled(page, 'row-entropy');
  const heads = async () => (await csv(page, 'row-entropy')).filter(({ head }) => head?.startsWith('file:'));
  await expect.poll(async () => (await heads()).length).toBe(8);
  expect(errors).toEqual([]);
}, 120_000);

test('the measurement of the covariance of the layers can be cancelled', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?passages=32`);
  await page.locator('[data-folder]').setInputFiles(checkpoint);
  await page.locator('[data-report]', { hasText: '72 heads of model:' }).waitFor();
  await go(page, 'localize?samples=100&sigma=layer&detail=heads');
  await openMore(page);
  const busy = page.locator('[data-covariance-busy]');
  await expect.poll(() => busy.locator('progress').getAttribute('value').then(Number)).toBeGreaterThan(0);
  expect(await caption(page, 'lead')).toContain('Left out: 72 heads of model: their traces are being');
  await busy.getByRole('button', { name: 'Cancel' }).click();
  await expect
    .poll(() => caption(page, 'lead'))
    .toContain('Left out: 72 heads of model: the computation of their traces was cancelled.');
  expect(await busy.isVisible()).toBe(false);
  expect(errors).toEqual([]);
});

test('the query position shortens the strip of keys; the mean over queries has every key', async () => {
  const { page } = await visit(browser, `${host.address}#localize?queries=one&query=12&samples=200`);
  const keys = async () => (await csv(page, 'lead')).filter(({ kind }) => kind === 'key').length;
  await settled(page, 'lead');
  await openMore(page);
  expect(await keys()).toBe(12);
  expect(await page.locator('#field-localize-query').isVisible()).toBe(true);
  const one = (await csv(page, 'lead')).find(({ kind }) => kind === 'theory');
  await page.locator('#field-localize-queries').selectOption('all');
  await expect.poll(() => page.locator('#field-localize-query').isVisible()).toBe(false);
  await settled(page, 'lead');
  expect(await keys()).toBe(48);
  await settled(page, 'lead');
  const all = (await csv(page, 'lead')).find(({ kind }) => kind === 'theory');
  expect(all!.localization).not.toBe(one!.localization);
  await go(page, 'localize?queries=one&query=60&samples=200');
  const refused = page.locator('#error-localize-query');
  await refused.filter({ hasText: /\S/ }).waitFor();
  expect(await refused.textContent()).toMatch(/^Position must be an integer from 2 to \d+: found 60$/);
});

test('Collapse opens on a stack that collapses, with lines that part', async () => {
  const { page } = await visit(browser, `${host.address}#collapse`);
  await settled(page, 'depth');
  const rows = await csv(page, 'depth');
  const variances = [...new Set(rows.map(({ variance }) => variance))];
  expect(variances.length).toBe(3);
  const at = (layer: string) =>
    variances.map((it) => Number(rows.find((row) => row.variance === it && row.layer === layer)!.residual));
  expect(Math.min(...at('4'))).toBeLessThan(1e-6);
  const third = at('3').sort((a, b) => a - b);
  expect(third[1]! / third[0]!).toBeGreaterThan(10);
  expect(third[2]! / third[1]!).toBeGreaterThan(10);
  expect(await page.locator('#collapse .preset[aria-current]').textContent()).toBe('Attention alone');
});

test('the handle of the lead figure goes as far as the slider, and its axis grows', async () => {
  const { page } = await visit(browser, `${host.address}#localize?variance=90&samples=100`);
  const handle = page.getByRole('slider', { name: 'Variance of the eigenspectrum' });
  for (let i = 0; i < 10; i++) await handle.press('Shift+ArrowRight');
  const ticks = page.locator('#figure-lead .chart > svg > svg:last-of-type [data-mark="x-axis tick label"] text');
  await expect.poll(() => ticks.allTextContents()).toContain('10⁴');
  expect(await page.locator('#field-localize-variance').inputValue()).toBe('10000');
  await settled(page, 'lead');
  expect(await caption(page, 'lead')).not.toContain('of this axis');
  await page.locator('#field-localize-variance').fill('0.1');
  await expect.poll(() => ticks.allTextContents()).not.toContain('10⁴');
});

test('a setting chosen before the engine has arrived stays: the opening run does not begin', async () => {
  const { page } = await visit(browser, 'about:blank', { settle: false });
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route('**/*.wasm', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(host.address);
  await page.locator('#figure-lead svg[role="img"]').waitFor();
  await go(page, '#localize?variance=1&mean=0.6');
  release();
  await settled(page, 'lead');
  await page.waitForTimeout(500); // the run would be under way
  const handle = page.getByRole('slider', { name: 'Variance of the eigenspectrum' });
  expect(await handle.getAttribute('aria-valuenow')).toBe('1');
});
