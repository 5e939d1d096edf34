import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MOST, MOST_LATER, sizes } from '../page-size';

test('the first screen with its engine and the script of the other chapters are small enough', () => {
  const { page, engine, later } = sizes();
  expect(page + engine).toBeLessThan(MOST);
  expect(later).toBeLessThan(MOST_LATER);
});

test('results files hold what docs and page show, no more', () => {
  const files = ['docs/experiments', 'web/results'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => `${folder}/${name}`),
  );
  const bytes = files.map((name) => statSync(name).size);
  files.forEach((name, i) => expect(bytes[i], name).toBeLessThan(400_000));
  expect(bytes.reduce((sum, it) => sum + it, 0)).toBeLessThan(1_500_000);
});
