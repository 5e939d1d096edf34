// The table of the steps of ./check.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
// @ts-expect-error a script without types
import { rowsOf, secondsIn, withSteps } from '../../.ci/steps/table.mjs';
import { root } from '../cli/eigenscope';

const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const page = 'Before\n<!--steps-->\n| `c` | `./check --all` | rare | 2.0 | 3.0 |\n<!--/steps-->\nAfter';
const steps = [
  { name: 'a', command: './check', subject: 'first', guard: '' },
  { name: 'b-1', command: './check', subject: 'several', guard: '' },
  { name: 'b-2', command: './check', subject: 'several', guard: '' },
  { name: 'c', command: './check --all', subject: 'rare', guard: 'a' },
];
const times = (name: string) => (name === 'c' ? null : { wall: 60, processor: 90 });

test('steps with one subject have one row, and a step that did not run keeps its minutes', () => {
  const written = withSteps(page, steps, times);
  expect(rowsOf(written)).toEqual([
    ['`a`', '`./check`', 'first', '1.0', '1.5'],
    ['`b-*`', '`./check`', 'several', '2.0', '3.0'],
    ['`c`', '`./check --all`', 'rare (without it: a)', '2.0', '3.0'],
  ]);
  expect(written).toMatch(/^\| all \| `\.\/check` \| .* \| 4\.5 \|$/m);
  expect(written).toMatch(/^\| all \| `\.\/check --all` \| .* \| 7\.5 \|$/m);
  expect(withSteps(written, steps, times)).toBe(written);
  const unknown = withSteps(page.replace('| 2.0 | 3.0 |', '|  |  |'), steps, times);
  expect(unknown).toMatch(/^\| all \| `\.\/check` \| .* \| 4\.5 \|$/m);
  expect(unknown).toMatch(/^\| all \| `\.\/check --all` \| .* \|  \|$/m);
});

test('seconds are those that run.sh prints', () => {
  const format = /TIMEFORMAT="(.*)"/.exec(read('.ci/steps/run.sh'))![1]!;
  const line = ['1.5', '2.25', '0.75'].reduce((text, it) => text.replace(/%[RUS]/, it), format);
  expect(secondsIn(line)).toEqual({ wall: 1.5, processor: 3 });
});

test('docs/tests.md has a row of every step', () => {
  const declared = [...read('.ci/steps/CMakeLists.txt').matchAll(/^ *step\(([\w-]+)/gm)].map(([, name]) => name);
  expect(declared.length).toBeGreaterThan(15);
  const rows = rowsOf(read('docs/tests.md')).map(([name]: string[]) => name!.replace(/[`*]/g, ''));
  expect(rows).toEqual(declared);
});
