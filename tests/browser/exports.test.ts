import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { numberOf, type FigureId } from '../../web/ui/registry';
import { browser, csv, exported, go, expectPlaced, ALWAYS, host, marks, openBrowser, settled, visit } from './browser';

openBrowser();

describe('of the page as it opens', () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await visit(browser, `${host.address}#localize?detail=all`, { kept: true }));
  });

  test('the lead figure exports the numbers of its marks', async () => {
    const rows = await csv(page, 'lead');
    const svg = (await exported(page, 'lead', 'svg')).toString();
    const dots = rows.filter((row) => row.kind === 'head predicted');
    const heads = await marks(page, svg, 'heads of the sample');
    expect(dots.length).toBe(72);
    expectPlaced(dots, 'variance', heads, 'x', Math.log);
    expectPlaced(dots, 'localization', heads, 'y');
    const simulated = rows.filter((row) => row.kind === 'simulation' && row.mean === '0.25');
    const circles = await marks(page, svg, 'simulation, mean 0.25');
    expect(simulated.length).toBeGreaterThan(10);
    expectPlaced(simulated, 'localization', circles, 'y');
    expect(simulated.every((row) => row.samples === '2000')).toBe(true);
  });

  test('the lead figure exports eigenvalues, keys and the matrix, whose rows add up to one', async () => {
    await settled(page, 'lead');
    const rows = await csv(page, 'lead');
    const own = (kind: string) => rows.filter((row) => row.kind === kind);
    expect(own('eigenvalue').length).toBe(64);
    const keys = own('key');
    expect(keys.length).toBe(48);
    for (const { rho_theory, rho, rho_error, samples } of keys) {
      expect(Math.abs(Number(rho) - Number(rho_theory))).toBeLessThan(5 * Number(rho_error) + 0.03);
      expect(samples).toBe('2000');
    }
    const sums = new Map<string, number>();
    for (const { query, key, weight } of own('weight')) {
      if (Number(key) > Number(query)) expect(weight).toBe('0'); // causal
      sums.set(query!, (sums.get(query!) ?? 0) + Number(weight));
    }
    expect(sums.size).toBe(48);
    for (const sum of sums.values()) expect(sum).toBeCloseTo(1, 5);
    expect(
      own('query')
        .map(({ row_entropy }) => row_entropy)
        .slice(1),
    ).not.toContain('');
  });

  test('the map exports its cells, whose colours the picture has', async () => {
    await settled(page, 'phase-map');
    const rows = await csv(page, 'phase-map');
    expect((await exported(page, 'phase-map', 'json')).length).toBeLessThan(3_000_000);
    const cells = rows.filter((row) => row.kind === 'cell');
    const shades = await page.locator('#figure-phase-map canvas').evaluate((it) => {
      const canvas = it as HTMLCanvasElement;
      const { width, height } = canvas;
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
      return { width, height, red: Array.from({ length: width * height }, (_, i) => pixels[4 * i]) };
    });
    expect(cells.length).toBe(shades.width * shades.height);
    const { width, height } = shades;
    // Darker means more: one hue whose red falls as the localization grows. Rows count from below.
    const seen = cells.map((row, i) => {
      const line = height - 1 - Math.floor(i / width);
      return { value: Number(row.localization), red: shades.red[line * width + (i % width)] };
    });
    seen.sort((a, b) => a.value - b.value);
    const rises = seen.filter((it, i) => i > 0 && it.red > seen[i - 1].red).length;
    expect(rises).toBe(0);
    expect(rows.filter((row) => row.kind === 'head').length).toBe(72);
  });
});

test('the lead figure exports complex eigenvalues, and those of the chosen head', async () => {
  const { page } = await visit(browser, `${host.address}#localize?ensemble=shifted-gaussian&head=sample:0.3`);
  await settled(page, 'lead');
  const rows = await csv(page, 'lead');
  const own = rows.filter((row) => row.kind === 'eigenvalue');
  expect(own.length).toBe(64);
  expect(own.filter(({ im }) => Math.abs(Number(im)) > 0.01).length).toBeGreaterThan(40);
  expect(rows.filter((row) => row.kind === 'eigenvalue of head').length).toBe(32);
  const svg = (await exported(page, 'lead', 'svg')).toString();
  expect(svg).toContain('data-mark="eigenvalues of the head"');
});

/** Figures without random draws: of one row, of published results, of a model that is read. */
const DRAWLESS: FigureId[] = [
  ...(['softmax-row', 'self-attention', 'head-text', 'head-spectra', 'token-metric'] as const),
  'head-distance',
  'rotary-circuits',
  ...(['published', 'rates', 'escape', 'strength', 'trainability', 'surgery-changes'] as const),
  ...(['plateaus', 'equal-deviation', 'early-warning', 'wall', 'scatter', 'attention-entries'] as const),
];

/** Lines under an exported picture that do not lie within its width. */
async function outside(page: Page, svg: string): Promise<string[]> {
  return page.evaluate((text) => {
    const host = document.createElement('div');
    host.innerHTML = text.slice(text.indexOf('<svg'));
    document.body.append(host);
    const picture = host.querySelector('svg')!;
    const { left, right } = picture.getBoundingClientRect();
    const texts = [...picture.children].filter((it) => it.tagName === 'text');
    const cut = texts.filter((it) => {
      const box = it.getBoundingClientRect();
      return box.left < left - 1 || box.right > right + 1;
    });
    host.remove();
    return cut.map((it) => it.textContent);
  }, svg);
}

/** A title, link or settings as text of a picture or table has them, without line breaks and mark-up. */
const bare = (text: string) =>
  text
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replace(/<\/text><text[^>]*>/g, '')
    .replace(/\s+/g, '');

/** What a figure's export says of where its numbers come from. */
const originOf = async (page: Page, id: FigureId) => JSON.parse((await exported(page, id, 'json')).toString());

describe('what is exported is of the settings that it was computed with', () => {
  test('where others need weights that are not loaded', async () => {
    const { page } = await visit(browser, `${host.address}#uses?figure=attention-sinks`, { settle: false });
    await settled(page, 'attention-sinks');
    const before = await originOf(page, 'attention-sinks');
    await go(page, 'uses?figure=attention-sinks&passages=9&token_std=1');
    await page.locator('#figure-attention-sinks .tools', { hasText: 'Other settings need the weights' }).waitFor();
    expect(await originOf(page, 'attention-sinks')).toEqual({
      ...before,
      link: `${before.link.replace('?', '?token_std=1&')}`,
    });
  });

  test('where another sentence waits for weights', async () => {
    const { page } = await visit(browser, `${host.address}#model?reading=Something+else.`);
    await settled(page, 'head-text');
    const { parameters, link } = await originOf(page, 'head-text');
    expect(parameters.reading).toBe('When does attention localize?');
    expect(link).not.toContain('Something');
  });

  test('where the computation was cancelled', async () => {
    const { page } = await visit(browser, `${host.address}#uses?figure=position-meaning&datasets=300`, {
      settle: false,
    });
    const figure = page.locator('#figure-position-meaning');
    await figure.locator('[data-live]', { hasText: /\d+ training sets/ }).waitFor({ state: 'attached' });
    await figure.getByRole('button', { name: /^Cancel/ }).click();
    const { caption: said, parameters } = await originOf(page, 'position-meaning');
    expect(said).toMatch(/The computation had not ended\.$/);
    expect(parameters.datasets).toBe(300);
  });
});

describe('every export names its figure, parameters, seed and link; pictures need no other file', () => {
  let page: Page;
  let errors: string[];
  let foreign: string[];
  beforeAll(async () => {
    const small = 'width=16&length=16&seed=7';
    ({ page, errors, foreign } = await visit(browser, `${host.address}#localize?${small}&variance=0.3`, {
      kept: true,
    }));
    await go(page, `collapse?${small}&depth=2&stacks=2&variance=0.3`);
    await go(page, 'model?seed=7');
    await go(
      page,
      'uses?seed=7&token_width=20&datasets=2&repeats=2&head_width=4&feature_width=4&trainings=2&steps=20&sequences=16' +
        '&passages=2&length=16',
    );
    for (const id of ['attention-sinks', 'attention-explanation'] as const) {
      await settled(page, id);
      const load = page.locator(`#figure-${id} [data-action="load-weights"]`);
      if (await load.isVisible()) await load.click();
      await page
        .locator(`#figure-${id} [data-live]`, { hasText: '2 passages of 16 tokens' })
        .waitFor({ state: 'attached' });
    }
    await go(page, `train?${small}&steps=12&depth=1&heads=2&batch=2&log_every=4`);
    await page.locator('[data-action="play"]').click();
    await page.locator('[data-comparison-status]', { hasText: 'All runs have ended' }).waitFor();
  });

  test.each(ALWAYS)('%s', async (id) => {
    await settled(page, id);
    const json = (await exported(page, id, 'json')).toString();
    const { title, link, settings, parameters } = JSON.parse(json);
    expect(title).toMatch(new RegExp(`^Figure ${numberOf(id)}\\. \\S`));
    expect(link).toBe(`${page.url()}${page.url().includes('?') ? '&' : '?'}figure=${id}`);
    expect(Object.keys(parameters).length).toBeGreaterThan(0);
    expect(settings).toMatch(/^[A-Z]/);
    // The axes of the scatter are columns, by the names that a filter takes.
    expect(settings).not.toMatch(id === 'scatter' ? /=|: *(;|$)/ : /=|[a-z]{2}_[a-z]|: *(;|$)/);
    expect(parameters.seed).toBe(DRAWLESS.includes(id) ? undefined : 7);
    const csvText = (await exported(page, id, 'csv')).toString();
    const svg = (await exported(page, id, 'svg')).toString();
    for (const text of [csvText.slice(0, 20_000), svg].map(bare)) {
      expect(text).toContain(bare(title));
      expect(text).toContain(new URL(link).hash);
      expect(text).toContain(bare(settings));
    }
    expect(svg).not.toContain('var(--');
    expect(svg).not.toMatch(/(href|src)="(?!data:|#)/);
    const png = await exported(page, id, 'png');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(await outside(page, svg)).toEqual([]);
    const size = await page.evaluate(async (text) => {
      const image = new Image();
      image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
      await image.decode(); // rejects what is not a picture
      return [image.naturalWidth, image.naturalHeight];
    }, svg);
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(size.map((it) => 2 * it));
    expect(png.length).toBeGreaterThan(5000);
  });

  test('without an error, or a request to another origin', () => {
    expect(errors).toEqual([]);
    expect(foreign).toEqual([]);
  });
});
