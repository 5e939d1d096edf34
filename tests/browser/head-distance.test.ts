// The chosen head's attention over distance, beside that of the Gaussian model and of rotary positions.
import { expect, test } from 'vitest';
import sources from '../../web/generated/sample-predictions.json';
import { browser, caption, csv, host, openBrowser, settled, unfold, visit } from './browser';
import { LLAMA, trainedFolder } from './trained';

openBrowser();

const GAUSSIAN = sources.zipf.name.indexOf('neighbours');

test('what a head does over distance is shown, and that of a head that is predicted badly', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await settled(page, 'head-distance');
  const expectHead = async (at: number) => {
    const { layer, head, measured, gaussian } = sources.zipf.profiles[at]!;
    await expect.poll(() => caption(page, 'head-distance')).toContain(`layer ${layer}, head ${head}: `);
    const rows = await csv(page, 'head-distance');
    expect(rows.map((row) => Number(row.measured))).toEqual(measured);
    expect(rows.map((row) => Number(row.gaussian))).toEqual(gaussian);
    const [, decay, sink, level, predicted] = /: (\S+) and (\S+) measured; level (\d+), .* predicts (\S+) and /.exec(
      (await caption(page, 'head-distance')) ?? '',
    )!;
    const number = (text?: string) => Number(text?.replace('\u2212', '-'));
    expect(number(decay)).toBeCloseTo(sources.zipf.measured_decay[at]!, 2);
    expect(number(sink)).toBeCloseTo(sources.zipf.measured_sink[at]!, 2);
    expect(number(predicted)).toBeCloseTo(sources.zipf.decay[at]![Number(level)]!, 2);
    expect(Number(level)).toBe(GAUSSIAN);
  };
  await expectHead(2); // layer 0, head 2: the head that is shown while none is chosen
  const worst = page.locator('[data-misses] button').first();
  await unfold(worst);
  const [, layer, head] = /Layer (\d+), head (\d+)/.exec((await worst.textContent()) ?? '')!;
  await worst.click();
  const at = sources.zipf.profiles.findIndex((it) => it.layer === Number(layer) && it.head === Number(head));
  expect(at).toBeGreaterThan(0);
  await settled(page, 'head-distance'); // the list may stand too far below it for a figure in sight
  await expectHead(at);
  expect(await caption(page, 'head-distance')).toContain('no rotary positions');
  const lines = page.locator('#figure-head-distance [data-mark="rotary base alone"] path');
  expect(await lines.count()).toBe(0);
  expect(errors).toEqual([]);
});

test('of a rotary model the decay by its base stands beside what is measured', async () => {
  const { page } = await visit(browser, `${host.address}#model?passages=2`);
  await page.locator('[data-folder]').setInputFiles(trainedFolder(LLAMA));
  await page.locator('[data-report]', { hasText: '8 heads of export:' }).waitFor();
  await unfold(page.locator('#figure-head-distance'));
  await page.locator('#figure-head-distance').scrollIntoViewIfNeeded();
  const said = /alone predicts (\S+) for every head/;
  await expect.poll(() => caption(page, 'head-distance'), { timeout: 60_000 }).toMatch(said);
  // (2 theta - T sqrt 2) / (2 theta + T sqrt 2) for passages of 64 tokens and the base 10000.
  const reach = 64 * Math.SQRT2;
  const [, gamma] = said.exec((await caption(page, 'head-distance'))!)!;
  expect(Number(gamma)).toBeCloseTo((2e4 - reach) / (2e4 + reach), 3);
  const line = page.locator('#figure-head-distance [data-mark="rotary base alone"] path');
  await expect.poll(() => line.count(), { timeout: 60_000 }).toBe(1);
});
