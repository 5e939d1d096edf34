import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { numberOf, type FigureId } from '../../web/ui/registry';
import {
  browser,
  csv,
  exported,
  expectStraight,
  ALWAYS,
  host,
  marks,
  openBrowser,
  settled,
  showView,
  SOON,
  visit,
} from './browser';

openBrowser();

describe('of the page as it opens', () => {
  let page: Page, close: () => Promise<void>;
  beforeAll(async () => {
    ({ page, close } = await visit(browser, host.address));
  });
  afterAll(() => close());

  test('the lead figure exports the numbers of its marks', async () => {
    const rows = await csv(page, 'lead');
    const svg = (await exported(page, 'lead', 'svg')).toString();
    const dots = rows.filter((row) => row.kind === 'head');
    const heads = await marks(page, svg, 'heads of the sample');
    expect(dots.length).toBe(72);
    expectStraight(
      dots.map((row) => Math.log(Number(row.variance))),
      heads.map(({ x }) => x),
    );
    expectStraight(
      dots.map((row) => Number(row.localization)),
      heads.map(({ y }) => y),
    );
    const simulated = rows.filter((row) => row.kind === 'simulation' && row.mean === '0.25');
    const circles = await marks(page, svg, 'simulation, mean 0.25');
    expect(simulated.length).toBeGreaterThan(10);
    expectStraight(
      simulated.map((row) => Number(row.localization)),
      circles.map(({ y }) => y),
    );
    expect(simulated.every((row) => row.samples === '2000')).toBe(true);
  });

  test('the profile exports the numbers of its marks', async () => {
    await settled(page, 'profile');
    const rows = await csv(page, 'profile');
    const svg = (await exported(page, 'profile', 'svg')).toString();
    const circles = await marks(page, svg, 'simulation, signal propagation probability ρ');
    expect(rows.length).toBe(48);
    expectStraight(
      rows.map((row) => Number(row.rho)),
      circles.map(({ y }) => y),
    );
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
      return {
        width,
        height,
        red: Array.from({ length: width * height }, (_, i) => pixels[4 * i]),
      };
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

  test('the attention matrix exports rows that add up to one', async () => {
    await settled(page, 'attention');
    const rows = await csv(page, 'attention');
    expect(rows.length).toBe(48);
    rows.forEach((row, query) => {
      const weights = Array.from({ length: 48 }, (_, key) => Number(row[`key_${key + 1}`]));
      expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
      expect(weights.slice(query + 1).every((weight) => weight === 0)).toBe(true); // causal
    });
  });
});

test('the spectrum exports the eigenvalues, and those of the chosen head', async () => {
  const { page, close } = await visit(browser, `${host.address}#e=shifted-gaussian&p=sample:0.3`);
  await settled(page, 'spectrum');
  const rows = await csv(page, 'spectrum');
  const svg = (await exported(page, 'spectrum', 'svg')).toString();
  const own = rows.filter((row) => row.kind === 'ensemble');
  const circles = await marks(page, svg, 'eigenvalues of the ensemble');
  expect(own.length).toBe(64);
  expectStraight(
    own.map((row) => Number(row.im)),
    circles.map(({ y }) => y),
  );
  expect(rows.filter((row) => row.kind === 'sample:0.3').length).toBe(32);
  const shares = rows.filter((row) => row.kind === 'ensemble histogram');
  expect(shares.reduce((sum, row) => sum + Number(row.share), 0)).toBeCloseTo(1, 9);
  await close();
});

/** Figures without random draws: of one row, of published results, of a model that is read. */
const DRAWLESS: FigureId[] = [
  ...(['softmax-row', 'self-attention', 'head-text', 'head-spectra', 'head-distance'] as const),
  ...(['published', 'high-rate', 'rates', 'escape', 'strength', 'trainability'] as const),
  'plateaus',
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

test('every export says which figure it is, with which parameters and seed, and how to find it; pictures stand alone', async () => {
  const training = 'ts=12&td=16&tD=1&tH=2&tT=16&tb=2&tl=4';
  const { page, close } = await visit(browser, `${host.address}#${SOON}&v=0.3&s=7&${training}`);
  await showView(page, 'train');
  await page.locator('[data-action="play"]').click();
  await page.locator('[data-comparison-status]', { hasText: 'All runs have ended' }).waitFor();
  const bare = (text: string) =>
    text
      .replaceAll('&amp;', '&')
      .replaceAll('&lt;', '<')
      .replace(/<\/text><text[^>]*>/g, '')
      .replace(/\s+/g, '');
  for (const id of ALWAYS) {
    await settled(page, id);
    const json = (await exported(page, id, 'json')).toString();
    const { title, link, settings, parameters } = JSON.parse(json);
    expect(title, id).toMatch(new RegExp(`^Figure ${numberOf(id)}\\. \\S`));
    expect(link, id).toBe(page.url());
    expect(Object.keys(parameters).length, id).toBeGreaterThan(0);
    expect(settings, id).toMatch(/^[A-Z]/);
    expect(settings, id).not.toMatch(/=|[a-z]{2}_[a-z]|: *(;|$)/);
    expect(parameters.seed, id).toBe(DRAWLESS.includes(id) ? undefined : 7);
    const csvText = (await exported(page, id, 'csv')).toString();
    const svg = (await exported(page, id, 'svg')).toString();
    for (const text of [csvText.slice(0, 20_000), svg].map(bare)) {
      expect(text, id).toContain(bare(title));
      expect(text, id).toContain(new URL(link).hash);
      expect(text, id).toContain(bare(settings));
    }
    expect(svg, id).not.toContain('var(--');
    expect(svg, id).not.toMatch(/(href|src)="(?!data:|#)/);
    const png = await exported(page, id, 'png');
    expect(png.subarray(1, 4).toString(), id).toBe('PNG');
    expect(await outside(page, svg), id).toEqual([]);
    const size = await page.evaluate(async (text) => {
      const image = new Image();
      image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
      await image.decode(); // rejects what is not a picture
      return [image.naturalWidth, image.naturalHeight];
    }, svg);
    expect([png.readUInt32BE(16), png.readUInt32BE(20)], id).toEqual(size.map((it) => 2 * it));
    expect(png.length, id).toBeGreaterThan(5000);
  }
  await close();
}, 180_000);
