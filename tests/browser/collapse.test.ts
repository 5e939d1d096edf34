import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  blocks,
  browser,
  caption,
  csv,
  exported,
  expectPlaced,
  go,
  host,
  marks,
  openBrowser,
  settled,
  unfold,
  visit,
} from './browser';
import { enter } from './gestures';

openBrowser();

const SECTION = ['collapse-map', 'collapse-tokens', 'depth', 'cosines'] as const;
const open = (hash: string, options = {}) => visit(browser, `${host.address}#${hash}`, options);
/** Blocks that are soon computed. */
const SOON = 'depth=2&stacks=2&width=16&length=16';
const field = (page: Page, name: string) => page.locator(`#field-collapse-${name}`);

test('figures out of sight wait until they are seen', async () => {
  const { page } = await open(blocks(SOON));
  expect(await page.locator('#figure-cosines .chart > svg').count()).toBe(0);
  await settled(page, 'cosines');
  await expect.poll(() => page.locator('#figure-cosines .chart > svg').count()).toBe(1);
});

test('the figures over depth export the numbers of their rings', async () => {
  const { page } = await open(blocks('depth=4&stacks=3&residual_weight=0.5'));
  await settled(page, 'depth');
  const ranks = await csv(page, 'depth');
  expect(ranks.length).toBe(3 * 5);
  expect(ranks.every((row) => row.samples === '3')).toBe(true);
  const own = ranks.filter((row) => row.variance === '0.1');
  const rings = await marks(page, (await exported(page, 'depth', 'svg')).toString(), 'variance 0.1');
  expectPlaced(own, 'residual', rings.slice(0, 5), 'y', Math.log);
  const rows = ranks.filter((row) => row.variance === '10');
  const picture = (await exported(page, 'depth', 'svg')).toString();
  const means = (await marks(page, picture, 'variance 10')).slice(5); // of the second chart
  expect(rows[0].entropy).toBe(''); // the input has no attention
  expectPlaced(rows.slice(1), 'entropy', means, 'y');
  for (const row of rows.slice(1)) {
    expect(Number(row.entropy_minimum)).toBeLessThanOrEqual(Number(row.entropy));
    expect(Number(row.entropy_bound)).toBeLessThanOrEqual(Number(row.entropy));
  }
});

test('a sentence says whether the paper’s claim holds in the stack, by the numbers of the figures', async () => {
  const { page } = await open('collapse');
  await settled(page, 'depth');
  const claim = page.locator('#figure-depth [data-claim]');
  await claim.filter({ hasText: /fails in this stack: with v = 0\.01 / }).waitFor();
  const ends = (await csv(page, 'depth')).filter((row) => row.layer === '12');
  const small = ends.find((row) => row.variance === '0.01')!;
  const [, said] = /residual (\S+)·10⁻¹⁶/.exec((await claim.textContent())!) ?? [];
  expect(Number(said)).toBeCloseTo(1e16 * Number(small.residual), 1);
  await go(page, 'collapse?layer_norm=post&residual_weight=1&mean=1&stacks=2&depth=4&collapse_threshold=0');
  await claim.filter({ hasText: /cannot be tested/ }).waitFor();
});

test('the axis of the first figure is on the first screen', async () => {
  const { page } = await open('collapse', { viewport: { width: 1280, height: 800 } });
  await settled(page, 'collapse-map');
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  const bottom = () =>
    page
      .locator('#figure-collapse-map [data-mark="x-axis label"] text')
      .evaluate((it) => it.getBoundingClientRect().bottom);
  await expect.poll(bottom).toBeLessThanOrEqual(800);
});

test('the bound is drawn for the exact softmax alone, and the last block on demand', async () => {
  const { page } = await open(blocks(`${SOON}&softmax=hard&mask=blocks&blocks=3`));
  await settled(page, 'depth');
  const first = (await csv(page, 'depth'))[1];
  expect(Object.keys(first)).not.toContain('entropy_bound');
  expect(first.entropy).toBe('0');
  await page.locator('input[name="field-collapse-rows"][value="last"]').check();
  await settled(page, 'depth');
  expect(Object.keys((await csv(page, 'depth'))[1])).toContain('entropy_final');
});

test('the map exports its cells, and its pictures have their colours', async () => {
  const { page } = await open(blocks(`${SOON}&residual_weight=0&layer_norm=none&mean=-0.5`));
  await settled(page, 'collapse-map');
  const rows = await csv(page, 'collapse-map');
  expect(rows.length).toBe(576);
  expect(rows.every((row) => row.samples === '2')).toBe(true);
  const canvas = page.locator('#figure-collapse-map canvas');
  const at = (place: number) => [Math.floor(place / 24), place % 24] as const;
  // In the middle of each cell the colour of its fate, one for each: what the threshold makes of its numbers.
  const fates = rows.map((row) => {
    const [residual, entropy] = [Number(row.residual) >= 0.2, Number(row.entropy) >= 0.2];
    return `${residual} ${entropy}`;
  });
  const colours = await canvas.evaluate((it) => {
    const { width, height } = it as HTMLCanvasElement;
    const { data } = (it as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height);
    const cell = width / 24;
    return Array.from({ length: 576 }, (_, i) => {
      const [row, column] = [Math.floor(i / 24), i % 24];
      const x = Math.floor((column + 0.5) * cell);
      const pixel = 4 * (Math.floor((23 - row + 0.5) * cell) * width + x);
      return [...data.slice(pixel, pixel + 3)].join();
    });
  });
  const byFate = new Map<string, Set<string>>();
  fates.forEach((fate, i) => {
    if (!byFate.has(fate)) byFate.set(fate, new Set());
    byFate.get(fate)!.add(colours[i]!);
  });
  expect(byFate.size).toBeGreaterThan(1);
  // Half a pixel from the middle of a cell another fate may begin.
  const most = [...byFate].map(([fate]) => {
    const own = fates.flatMap((it, i) => (it === fate ? [colours[i]!] : []));
    const [first] = [...new Set(own)].sort(
      (a, b) => own.filter((it) => it === b).length - own.filter((it) => it === a).length,
    );
    expect(own.filter((it) => it === first).length).toBeGreaterThan(0.9 * own.length);
    return first;
  });
  expect(new Set(most).size).toBe(byFate.size);
  const safe = rows.filter((row) => Math.min(Number(row.residual), Number(row.entropy)) >= 0.2);
  expect(await caption(page, 'collapse-map')).toContain(`${safe.length} keep both at 0.2 or more`);
  for (const measure of ['residual', 'entropy']) {
    const shade = page.locator(`input[name="field-collapse-shade"][value="${measure}"]`);
    await unfold(shade);
    await shade.check();
    await expect.poll(() => canvas.getAttribute('width')).toBe('24');
    await page.waitForTimeout(300);
    const red = await canvas.evaluate((it) => {
      const { data } = (it as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, 24, 24);
      return Array.from({ length: 576 }, (_, i) => data[4 * i]);
    });
    const seen = rows.map((row, i) => {
      const [line, column] = at(i);
      return { value: Number(row[measure]), red: red[(23 - line) * 24 + column] };
    });
    seen.sort((a, b) => a.value - b.value);
    expect(seen.filter((it, i) => i > 0 && it.red! > seen[i - 1]!.red!).length, measure).toBe(0);
  }
});

test('the cosines follow the slider over depth, which ends at the depth', async () => {
  const { page } = await open(blocks('depth=2&stacks=2&length=9&tokens=ar1&correlation=0&layer=2'));
  await settled(page, 'cosines');
  const rows = await csv(page, 'cosines');
  expect(rows.length).toBe(9);
  rows.forEach((row, i) => {
    expect(row.layer).toBe('2');
    expect(Number(row[`token_${i + 1}`])).toBeCloseTo(1, 5);
  });
  const slider = page.locator('#collapse [data-control="layer"] input[type="range"]');
  await slider.press('ArrowLeft');
  await page.waitForFunction(() => !location.hash.includes('layer='));
  await settled(page, 'cosines');
  expect(await caption(page, 'cosines')).toMatch(/after layer 1 of 2/);
});

test('a link reproduces the view', async () => {
  const first = await open(
    blocks(
      'depth=3&stacks=2&mean=0.5&layer_norm=post&values=gaussian&rank=effective_rank&collapse_threshold=0.3&layer=2',
    ),
  );
  await settled(first.page, 'depth');
  await enter(field(first.page, 'residual_weight'), '0.25');
  await field(first.page, 'layer_norm').selectOption('none');
  const link = first.page.url();
  expect(new URL(link).hash).toBe(
    '#collapse?mean=0.5&variance=0.1&length=48&tokens=random-walk&correlation=0.9&mask=causal&' +
      'depth=3&residual_weight=0.25&values=gaussian&stacks=2&rank=effective_rank&collapse_threshold=0.3&layer=2',
  );
  const views = [];
  for (const page of [first.page, (await visit(browser, link)).page]) {
    const view: Record<string, unknown> = {};
    for (const id of SECTION) {
      await settled(page, id);
      await page.waitForTimeout(300);
      view[id] = await caption(page, id);
      view[`${id} numbers`] = await csv(page, id);
    }
    views.push(view);
  }
  expect(views[1]).toEqual(views[0]);
  expect(views[0].depth).toMatch(/^2 of 2 stacks\. After the last layer the effective rank is/);
});

test('a change of the state cancels what is under way', async () => {
  const { page } = await open(blocks('depth=200&length=256&heads=4&stacks=1000'), { settle: false });
  await page.locator('#figure-collapse-map').scrollIntoViewIfNeeded();
  await page.locator('#figure-depth').scrollIntoViewIfNeeded();
  await page.locator('#figure-depth .chart svg[role="img"]').waitFor();
  await go(page, blocks(SOON));
  await settled(page, 'depth'); // the thousand stacks would take minutes
  await page.locator('#figure-depth [data-live]', { hasText: '2 of 2 stacks' }).waitFor({ state: 'attached' });
  expect(await caption(page, 'depth')).toMatch(/^2 of 2 stacks\./);
});

test('bad values show the words of the library at the control, and the page lives on', async () => {
  const { page, errors } = await open(blocks(`${SOON}&heads=2`));
  await settled(page, 'depth');
  await go(page, blocks('depth=-1&heads=5'));
  const depth = page.locator('#error-collapse-depth');
  await depth.filter({ hasText: /\S/ }).waitFor();
  expect(await depth.textContent()).toBe('Depth must be an integer from 0 to 512: found -1');
  const heads = page.locator('#error-collapse-heads');
  await heads.filter({ hasText: /\S/ }).waitFor();
  expect(await heads.textContent()).toMatch(/^Heads must divide the width: width \d+, heads 5$/);
  await field(page, 'depth').fill('2');
  await field(page, 'heads').fill('4');
  await heads.filter({ hasNotText: /\S/ }).waitFor({ state: 'attached' });
  await settled(page, 'depth');
  expect(await page.locator('#figure-depth .message').textContent()).toBe('');
  await go(page, blocks(`${SOON}&layer_norm=sometimes`));
  const place = page.locator('#error-collapse-layer_norm');
  await place.filter({ hasText: /\S/ }).waitFor();
  expect(await place.textContent()).toMatch(/^Normalization must be one of none.*: found 'sometimes'$/);
  expect(errors).toEqual([]);
});

test('numbers that overflow are said, and those before are drawn', async () => {
  const { page } = await open(blocks('depth=200&stacks=2&length=8&width=8&residual_weight=10&layer_norm=none'));
  await settled(page, 'depth');
  expect(await caption(page, 'depth')).toMatch(/the numbers overflow in layer \d+/);
  const rings = page.locator('#figure-depth [data-mark="variance 0.1"] circle');
  expect(await rings.count()).toBeGreaterThan(5);
});

test('a stack without layers shows its input', async () => {
  const { page } = await open(blocks('depth=1&stacks=2'));
  await settled(page, 'depth');
  const layers = page.locator('#figure-depth [data-mark="x-axis tick label"]').first();
  expect(await layers.locator('text').allTextContents()).toEqual(['0', '1']);
  await go(page, blocks('depth=0&stacks=2'));
  await settled(page, 'depth');
  expect((await csv(page, 'depth')).length).toBe(3);
  await settled(page, 'cosines');
  expect(await caption(page, 'cosines')).toMatch(/before the first layer/);
  for (const id of SECTION) {
    await settled(page, id);
    expect(await page.locator(`#figure-${id} .message`).textContent(), id).toBe('');
  }
});

test('only controls that are of use are shown', async () => {
  const { page } = await open(blocks(SOON));
  await settled(page, 'depth');
  await page.locator('#collapse .panel details > summary').click();
  const visible = async (...names: string[]) => {
    const all = names.map((name) => page.locator(`#collapse .panel [data-control="${name}"]`).isVisible());
    return Promise.all(all);
  };
  const show = (names: string[], expected: boolean[]) => expect.poll(() => visible(...names)).toEqual(expected);
  await show(['residual_weight', 'norm', 'shear', 'window', 'blocks'], [true, true, false, false, false]);
  await field(page, 'layer_norm').selectOption('none');
  await field(page, 'values').selectOption('shear');
  await field(page, 'mask').selectOption('window');
  await show(['norm', 'shear', 'window', 'blocks'], [false, true, true, false]);
  await field(page, 'mask').selectOption('blocks');
  await show(['window', 'blocks', 'prefix', 'selected'], [false, true, true, true]);
});

/** Where an element is once the page above it has stopped to grow. */
async function restingBox(page: Page, element: Locator) {
  for (let before = ''; ;) {
    const box = await element.boundingBox();
    if (box && JSON.stringify(box) === before) return box;
    before = JSON.stringify(box);
    await page.waitForTimeout(300);
  }
}

test('keys and a drag move the present point of the map', async () => {
  const { page, errors } = await open(blocks(SOON));
  await settled(page, 'collapse-map');
  const value = (name: string) => field(page, name).inputValue().then(Number);
  const handle = page.locator('#figure-collapse-map .handle');
  await handle.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Shift+ArrowUp');
  expect(await value('mean')).toBeGreaterThan(0.25);
  expect(await value('variance')).toBeGreaterThan(0.15);
  await handle.scrollIntoViewIfNeeded();
  const box = await restingBox(page, handle);
  await page.mouse.move(box.x + 22, box.y + 22);
  await page.mouse.down();
  await page.mouse.move(box.x + 82, box.y + 52, { steps: 5 });
  // The verdict on the cell of the point, while the hand moves it.
  const tip = page.locator('#figure-collapse-map .tip');
  await tip
    .filter({ hasText: /^(alive|rank collapse|entropy collapse|both collapses), residual .*, entropy / })
    .waitFor();
  const held = (await value('mean')) + (await value('variance'));
  await page.mouse.up();
  await expect.poll(() => tip.isHidden()).toBe(true);
  expect((await value('mean')) + (await value('variance'))).toBe(held);
  await settled(page, 'collapse-map');
  const moved = await handle.boundingBox();
  expect(Math.abs(moved!.x - box.x - 60)).toBeLessThan(4);
  // The map begins at mean 0, and has negative means where a link has one.
  await handle.press('Home');
  await expect.poll(() => value('mean')).toBe(0);
  await go(page, `${blocks(SOON)}&mean=-1`);
  await settled(page, 'collapse-map');
  expect(await handle.getAttribute('aria-valuemin')).toMatch(/^-/);
  expect(errors).toEqual([]);
});

/** Places of the dots, in pixels of the picture. */
const dots = (page: Page) =>
  page.locator('#figure-collapse-tokens [data-mark="tokens"] circle').evaluateAll((all) =>
    all.map((it) =>
      it
        .getAttribute('transform')!
        .match(/-?[\d.]+/g)!
        .map(Number),
    ),
  );
const extent = (places: number[][]) => Math.max(...[0, 1].map((k) => span(places.map((place) => place[k]!))));
const span = (values: number[]) => Math.max(...values) - Math.min(...values);

test('tokens play the layers: in the stack of the chapter they merge', async () => {
  const { page, errors } = await open('collapse');
  await settled(page, 'collapse-tokens');
  const figure = page.locator('#figure-collapse-tokens');
  const slider = figure.locator('[data-layer]');
  await expect.poll(() => slider.inputValue(), { timeout: 20_000 }).toBe('12');
  expect(await figure.locator('h2').textContent()).toMatch(/The tokens merge$/);
  expect(extent(await dots(page))).toBeLessThan(2);
  const rows = await csv(page, 'collapse-tokens');
  expect(rows.length).toBe(13 * 64);
  const norm = (layer: number) => {
    const places = rows.filter((row) => row.layer === String(layer)).map(({ x, y }) => [Number(x), Number(y)]);
    return Math.sqrt(places.reduce((sum, [x, y]) => sum + x! ** 2 + y! ** 2, 0) / places.length);
  };
  expect(norm(0)).toBeGreaterThan(0.9);
  expect(norm(12)).toBeLessThan(1e-6);
  // The slider goes back to the input; the button plays again.
  await slider.fill('0');
  await expect.poll(async () => extent(await dots(page))).toBeGreaterThan(100);
  await figure.getByRole('button', { name: 'Play layers' }).click();
  await expect.poll(() => slider.inputValue(), { timeout: 20_000 }).toBe('12');
  expect(errors).toEqual([]);
}, 60_000);

test('with reduced motion the tokens are at their end at once, and each attends to one key where entropy collapses', async () => {
  const sharp = 'mean=1&length=64&tokens=ar1&correlation=0&mask=causal&residual_weight=0&layer_norm=post&variance=0.1';
  const { page, errors } = await open(`collapse?${sharp}`, { reducedMotion: 'reduce' });
  await settled(page, 'collapse-tokens');
  const figure = page.locator('#figure-collapse-tokens');
  expect(await figure.locator('[data-layer]').inputValue()).toBe('12');
  expect(await figure.locator('h2').textContent()).toMatch(/Each token attends to one key$/);
  const lines = figure.locator('[data-mark="lines to the key with most weight"] line[visibility="visible"]');
  expect(await lines.count()).toBeGreaterThan(48);
  expect(extent(await dots(page))).toBeGreaterThan(100);
  expect(errors).toEqual([]);
});

test('four presets of the map tell what they change, the threshold too', async () => {
  const { page } = await open('collapse');
  const presets = page.locator('#figure-collapse-map .presets a.preset');
  expect(await presets.count()).toBe(4);
  await presets.first().click();
  const text = page.locator('#figure-collapse-map .preset-text p:visible');
  await text.filter({ hasText: /Changed: .*Mean m: 1; .*Collapse threshold: 0\.3/ }).waitFor();
  const shown = page.locator('#collapse .panel .field:visible');
  await expect.poll(() => shown.count()).toBe(4); // the rest under More
});
