// What stands in the page for the parts of Observable Plot's packages that no figure uses.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { leanPlot } from '../../web/plugins/lean-plot.mts';
import { temporaryFolder } from '../cli/eigenscope';

type Hooks = {
  resolveId(this: object, source: string, importer?: string): Promise<string | null>;
  transform(code: string, id: string): { code: string } | null;
  load(id: string): Promise<string | null>;
};
const hooks = leanPlot() as unknown as Hooks;

/** What stands for a package, or for a module of Plot that its module `plot.js` imports. */
async function standIn(name: string): Promise<Record<string, unknown>> {
  const isOfPlot = name.startsWith('.');
  const importer = '/node_modules/@observablehq/plot/src/plot.js';
  const path = isOfPlot
    ? join(fileURLToPath(new URL('../..', import.meta.url)), dirname(importer), name)
    : createRequire(import.meta.url).resolve(name);
  const id = await hooks.resolveId.call({ resolve: () => Promise.resolve({ id: path }) }, name, importer);
  const file = join(temporaryFolder(onTestFinished), 'module.mjs');
  writeFileSync(file, (await hooks.load(id!))!);
  return import(pathToFileURL(file).href);
}

test('a part that is left out fails with the name of its package when it is used', async () => {
  const { geoMercator } = (await standIn('d3-geo')) as { geoMercator: () => object };
  expect(() => geoMercator()).toThrow('without this part of d3-geo');
  const { Delaunay } = (await standIn('d3-delaunay')) as { Delaunay: { new (): object; from: () => object } };
  expect(() => new Delaunay()).toThrow('without this part of d3-delaunay');
  expect(() => Delaunay.from()).toThrow('without this part of d3-delaunay');
});

test('tips and legends of Plot are left out, and a chart has no legend of its own', async () => {
  const { tip } = (await standIn('./marks/tip.js')) as { tip: () => object };
  expect(() => tip()).toThrow('without this part of marks/tip.js');
  const { legend, createLegends } = (await standIn('./legends.js')) as Record<string, (of: object) => object>;
  expect(createLegends!({})).toEqual([]);
  expect(() => legend!({})).toThrow('without this part of legends.js');
  const resolve = () => Promise.resolve({ id: '/node_modules/@observablehq/plot/src/marks/dot.js' });
  const importer = '/node_modules/@observablehq/plot/src/plot.js';
  expect(await hooks.resolveId.call({ resolve }, './marks/dot.js', importer)).toBeNull();
});

test('a chart has no projection and no markers', async () => {
  const { createProjection, hasProjection } = (await standIn('./projection.js')) as Record<string, () => unknown>;
  expect([createProjection!(), hasProjection!()]).toEqual([undefined, false]);
  const { markers } = (await standIn('./marker.js')) as Record<string, () => unknown>;
  expect(markers!()).toBeUndefined();
});

test('schemes of colours are marked as pure and keep their values', () => {
  const path = createRequire(import.meta.url).resolve('d3-scale-chromatic');
  const { code } = hooks.transform(readFileSync(path, 'utf8'), path)!;
  expect(code.match(/@__PURE__/g)!.length).toBeGreaterThan(50);
  expect(code).toContain('var category10 = /* @__PURE__ */ (() => colors("1f77b4');
  expect(hooks.transform('var a = colors("");', '/web/charts/palette.ts')).toBeNull();
});

test('a part that figures use is that of the package', async () => {
  const { line } = (await standIn('d3-shape')) as { line: () => (points: number[][]) => string };
  expect(
    line()([
      [0, 1],
      [2, 3],
    ]),
  ).toBe('M0,1L2,3');
});

test('other packages are left as they are', async () => {
  expect(await hooks.resolveId.call({}, 'd3-color')).toBeNull();
});
