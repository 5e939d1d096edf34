// The figures below the first one.
// The view Localize: what one sees at once, where the claim fails, and what the dots are.
import { expect, test } from 'vitest';
import { referTo } from '../../web/ui/registry';
import {
  browser,
  caption,
  csv,
  expectPlaced,
  exported,
  host,
  marks,
  openBrowser,
  openMore,
  settled,
  unfold,
  visit,
} from './browser';
import { enter } from './gestures';

openBrowser();

test('the map names three places and exports both quantities', async () => {
  const { page } = await visit(browser, host.address);
  await settled(page, 'phase-map');
  const svg = (await exported(page, 'phase-map', 'svg')).toString();
  for (const name of ['localized, middle', 'many pass', 'uniform, few pass']) {
    expect(svg).toContain(name);
  }
  const cells = (await csv(page, 'phase-map')).filter(({ kind }) => kind === 'cell');
  for (const { localization, rho_mean, signal } of cells.filter((_, i) => i % 97 === 0)) {
    const level = Number(rho_mean) >= 0.25 ? 'uniform-alive' : 'uniform-dead';
    expect(signal).toBe(Number(localization) >= 0.1 ? 'localized' : level);
  }
  const json = JSON.parse((await exported(page, 'phase-map', 'json')).toString());
  expect(json.grid.values.rho_mean.length).toBe(cells.length);
  expect(json.grid.axes.map(({ name }: { name: string }) => name)).toEqual([
    'sqrt_eta_f_over_lambda',
    'xi_over_lambda',
  ]);
  expect(json.grid.values.localization[97]).toBe(Number(cells[97]!.localization));
});

test('the rank floor lies below every head of the map', async () => {
  const { page } = await visit(browser, host.address);
  await settled(page, 'phase-map');
  const floor = page.locator('#figure-phase-map [data-mark="rank floor"]');
  expect(await floor.isVisible()).toBe(false);
  await page.locator('#figure-phase-map .chart').hover();
  await floor.waitFor();
  const heads = (await csv(page, 'phase-map')).filter(({ kind }) => kind === 'head');
  for (const { xi_over_lambda: x, sqrt_eta_f_over_lambda: y } of heads) {
    expect(Number(y)).toBeGreaterThan(Math.abs(Number(x)) / Math.sqrt(32));
  }
});

test('a moved logit leaves the range of the clip, and its clipped gradient vanishes', async () => {
  const { page, errors } = await visit(browser, host.address);
  await settled(page, 'softmax-row');
  const moved = async () => {
    await settled(page, 'softmax-row');
    return (await csv(page, 'softmax-row'))[8]!;
  };
  expect(Number((await moved()).clipped_gradient)).toBeGreaterThan(0);
  const field = page.locator('#field-localize-logit');
  for (const [logit, clipped] of [
    ['18', '1'],
    ['-6', '0'],
  ]) {
    await enter(field, logit!);
    await expect.poll(async () => (await moved()).clipped).toBe(clipped);
    expect((await moved()).clipped_gradient).toBe('0');
    expect(Number((await moved()).gradient)).toBeGreaterThan(0);
  }
  const handle = page.locator('#figure-softmax-row .handle');
  await handle.focus();
  await page.keyboard.press('Shift+ArrowUp');
  await expect.poll(() => field.inputValue()).toBe('-5.5');
  expect(errors).toEqual([]);
});

test('the freezing figure has theory within the errors of simulation, and the measured heads', async () => {
  const { page } = await visit(browser, `${host.address}#localize?sigma=layer`);
  await settled(page, 'row-entropy');
  const rows = await csv(page, 'row-entropy');
  const drawn = rows.filter(({ kind }) => kind === 'row');
  expect(new Set(drawn.map(({ length }) => length)).size).toBe(4);
  const far = drawn.filter((row) => {
    const error = Number(row.entropy_error);
    return Math.abs(Number(row.entropy) - Number(row.theory_entropy)) > 4 * error + 1e-9;
  });
  expect(far).toEqual([]);
  const heads = rows.filter(({ kind }) => kind === 'head');
  expect(heads.length).toBeGreaterThan(60);
  const svg = (await exported(page, 'row-entropy', 'svg')).toString();
  const dots = await marks(page, svg, 'heads of the sample');
  expectPlaced(heads, 'logit_std', dots, 'x', Math.log);
  expectPlaced(heads, 'entropy', dots, 'y');
});

test('attention to oneself is ranked by the trace with the layer’s covariance, less without', async () => {
  const { page } = await visit(browser, `${host.address}#localize?sigma=layer`);
  const ranked = async () => {
    await settled(page, 'self-attention');
    const text = (await caption(page, 'self-attention')) ?? '';
    return Number(/rank correlation (−?\d*\.\d+)/.exec(text)?.[1]?.replace('−', '-'));
  };
  await expect.poll(ranked).toBeGreaterThan(0.8);
  await openMore(page);
  await page.locator('#field-localize-sigma').selectOption('identity');
  await expect.poll(ranked).toBeLessThan(0.7);
});

test('the table of rank correlations leads to the figure that explains the heads', async () => {
  const { page } = await visit(browser, host.address);
  expect(await page.locator('#localize .correlations tbody tr').count()).toBeGreaterThan(6);
  await unfold(page.locator('#localize .correlations'));
  await page.locator('details:has(.correlations) a', { hasText: referTo('predictors') }).click();
  await page.locator('#figure-predictors').waitFor();
  expect(await page.locator('#tab-model').getAttribute('aria-selected')).toBe('true');
});
