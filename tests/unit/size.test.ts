import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MODULES } from '../../web/engine/module-names';
import { MOST, sizes } from '../page-size';

test('script, styles and markup are small enough', () => {
  expect(sizes().page).toBeLessThan(MOST.page);
});

test('the WASM of each section is small enough', () => {
  const { wasm } = sizes();
  expect(Object.keys(wasm).sort()).toEqual([...MODULES].sort());
  for (const [name, bytes] of Object.entries(wasm)) expect(bytes, name).toBeLessThan(MOST.wasm);
});

test('results files hold what docs and page show, no more', () => {
  const files = ['docs/experiments', 'docs/results'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => `${folder}/${name}`),
  );
  const bytes = files.map((name) => statSync(name).size);
  files.forEach((name, i) => expect(bytes[i], name).toBeLessThan(400_000));
  expect(bytes.reduce((sum, it) => sum + it, 0)).toBeLessThan(1_500_000);
});
