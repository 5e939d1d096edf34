import { expect, test } from 'vitest';
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
  SOON,
  visit,
} from './browser';

openBrowser();

test('the lead figure exports the numbers of its marks', async () => {
  const { page, close } = await visit(browser, host.address);
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
  await close();
});

test('the profile exports the numbers of its marks', async () => {
  const { page, close } = await visit(browser, host.address);
  await settled(page, 'profile');
  const rows = await csv(page, 'profile');
  const svg = (await exported(page, 'profile', 'svg')).toString();
  const circles = await marks(page, svg, 'simulation, signal propagation probability ρ');
  expect(rows.length).toBe(48);
  expectStraight(
    rows.map((row) => Number(row.rho)),
    circles.map(({ y }) => y),
  );
  await close();
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

test('the map exports its cells, whose colours the picture has', async () => {
  const { page, close } = await visit(browser, host.address);
  await settled(page, 'phase-map');
  const rows = await csv(page, 'phase-map');
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
  await close();
});

test('the attention matrix exports rows that add up to one', async () => {
  const { page, close } = await visit(browser, host.address);
  await settled(page, 'attention');
  const rows = await csv(page, 'attention');
  expect(rows.length).toBe(48);
  rows.forEach((row, query) => {
    const weights = Array.from({ length: 48 }, (_, key) => Number(row[`key_${key + 1}`]));
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
    expect(weights.slice(query + 1).every((weight) => weight === 0)).toBe(true); // causal
  });
  await close();
});

test('every picture stands alone as SVG and as PNG of twice its size', async () => {
  const { page, close } = await visit(browser, `${host.address}#${SOON}`);
  for (const id of ALWAYS) {
    await settled(page, id);
    const svg = (await exported(page, id, 'svg')).toString();
    const [title] = (await page.locator(`#title-${id}`).textContent())!.trim().split('.');
    const lines = svg.replaceAll('&amp;', '&').replace(/<\/text><text[^>]*>/g, '');
    expect(lines, id).toContain(new URL(page.url()).hash);
    expect(svg, id).toContain(`${title}.`);
    expect(svg, id).not.toContain('var(--');
    expect(svg, id).not.toMatch(/(href|src)="(?!data:|#)/);
    const png = await exported(page, id, 'png');
    expect(png.subarray(1, 4).toString(), id).toBe('PNG');
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
});

test('every export says which figure it is, with which parameters, and how to find it', async () => {
  const { page, close } = await visit(browser, `${host.address}#v=0.3&s=7`);
  await settled(page, 'profile');
  const svg = (await exported(page, 'profile', 'svg')).toString();
  const csvText = (await exported(page, 'profile', 'csv')).toString();
  const json = (await exported(page, 'profile', 'json')).toString();
  const { title, link, parameters } = JSON.parse(json);
  expect(title).toMatch(/^Figure \d+\. /);
  expect(link).toBe(page.url());
  expect(parameters).toMatchObject({ variance: 0.3, seed: 7 });
  for (const text of [svg, csvText]) {
    expect(text).toContain(title);
    expect(text).toContain('seed=7');
    expect(text.replaceAll('&amp;', '&')).toContain(new URL(link).hash);
  }
  await close();
});

test('the map as JSON is below 3 MB', async () => {
  const { page, close } = await visit(browser, host.address);
  await settled(page, 'phase-map');
  expect((await exported(page, 'phase-map', 'json')).length).toBeLessThan(3_000_000);
  await close();
});
