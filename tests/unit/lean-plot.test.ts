// What stands in the page for the parts of Observable Plot's packages that no figure uses.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { leanPlot } from '../../web/plugins/lean-plot.mts';
import { temporaryFolder } from '../cli/eigenscope';

type Hooks = {
  resolveId(this: object, source: string): Promise<string | null>;
  load(id: string): Promise<string | null>;
};
const hooks = leanPlot() as unknown as Hooks;

async function standIn(name: string): Promise<Record<string, unknown>> {
  const path = createRequire(import.meta.url).resolve(name);
  const id = await hooks.resolveId.call({ resolve: () => Promise.resolve({ id: path }) }, name);
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

test('a part that figures use is that of the package', async () => {
  const { geoTransform } = (await standIn('d3-geo')) as { geoTransform: (methods: object) => object };
  expect(geoTransform({})).toHaveProperty('stream');
});

test('other packages are left as they are', async () => {
  expect(await hooks.resolveId.call({}, 'd3-color')).toBeNull();
});
