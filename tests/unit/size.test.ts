import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MOST, sizes } from '../page-size';

test('script, styles, markup and engine are small enough', () => {
  const { page, engine } = sizes();
  expect(page + engine).toBeLessThan(MOST);
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
