// The table of systems on which the project was tested.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../cli/eigenscope';
// @ts-expect-error a script without types
import { nameOf, rowsOf, withResult } from '../systems/table.mjs';

const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

const page = `Before
<!--systems-->
| system | command | date | compiler | Emscripten | result | minutes |
|---|---|---|---|---|---|---|
| Debian 13 | \`./check\` | 2026-11-21 | GCC 14 | 3.1.69 | 909 passed, 0 failed |  |
| Ubuntu 22.04 | \`./check\` | 2026-11-21 | GCC 11 | LLVM 14 | 909 passed, 0 failed | 8 |
<!--/systems-->
After`;
const found = {
  system: 'debian-13',
  command: './demo --no-open',
  result: 'HTTP 200',
  seconds: '239',
  commit: '1234abc',
  versions: 'clang-19.1.7 3.1.69',
  date: '2026-11-23',
};

test('a result has a row of its own, and rows without a commit keep their cells', () => {
  const [demo, check, other] = rowsOf(withResult(page, found));
  expect(Object.values(demo)).toEqual([
    'Debian 13',
    '`./demo --no-open`',
    '1234abc',
    '2026-11-23',
    'clang-19.1.7',
    '3.1.69',
    'HTTP 200',
    '4',
  ]);
  expect(check).toMatchObject({ command: '`./check`', commit: '', compiler: 'GCC 14' });
  expect(other).toMatchObject({ system: 'Ubuntu 22.04', date: '2026-11-21', minutes: '8' });
});

test('a newer result replaces that of the same system and command, and the text around stays', () => {
  const newer = { ...found, result: 'failed', commit: '5678def' };
  const written = withResult(withResult(page, found), newer);
  expect(written).toBe(withResult(page, newer));
  expect(written).toMatch(/^Before\n<!--systems-->\n\| system [^]*<!--\/systems-->\nAfter$/);
});

test('a system that is not tried keeps its results, marked once', () => {
  const marked = withResult(page, { system: 'ubuntu-22.04', command: 'not tried' });
  expect(rowsOf(marked)[1].result).toBe('not tried; before: 909 passed, 0 failed');
  expect(withResult(marked, { system: 'ubuntu-22.04', command: 'not tried' })).toBe(marked);
});

test('a page without the table is refused', () => {
  expect(() => withResult('Before', found)).toThrow('must have <!--systems--> and <!--/systems-->');
});

test('the table has every system that npm run test:systems knows, and README refers to it', () => {
  const known = /^known="(.*)"$/m.exec(read('tests/systems/run.sh'))![1]!.split(' ').map(nameOf);
  const rows: { system: string }[] = rowsOf(read('docs/tests.md'));
  const tested = rows.map(({ system }) => system.replace(/,.*/, ''));
  expect([...new Set(tested)].sort()).toEqual(known.sort());
  expect(read('README.md')).toContain('docs/tests.md#systems');
  expect(read('README.md')).not.toMatch(/\b(Debian|Ubuntu) \d/);
});
