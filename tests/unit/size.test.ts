import { expect, test } from 'vitest';
import { MOST, sizes } from '../page-size';

test('script, styles, markup and engine are small enough', () => {
  const { page, engine } = sizes();
  expect(page + engine).toBeLessThan(MOST);
});
