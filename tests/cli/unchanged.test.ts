// Every command gives the numbers that it gave before its inputs and results were declared in one place.
// unchanged.json was written by the program of that time, with the names of fields that have changed since
// replaced; of long lists it has some rows, by their number. Runs of sigma-reparam are of a later program, which
// iterates the spectral norms at initialization to convergence. Those of predict are by head and level.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { raw, root } from './eigenscope.ts';

interface Call {
  args: string[];
  expected: object;
}
const calls = JSON.parse(readFileSync(`${root}tests/cli/unchanged.json`, 'utf8')) as Call[];

/** Networks compute in single precision, and their sums depend on the processor. */
const TOLERANCE: Record<string, number> = { attend: 1e-3, predict: 1e-3, train: 1e-4, heads: 1e-7 };

/**
 * Collapsed stacks are alike: of nearly equal numbers a standard error, the root of a difference of sums of
 * squares, has half the digits.
 */
const ROUNDING_OF_ERRORS = 2 ** -26;

/** Everything that is expected is there; there may be more. */
function expectSame(found: unknown, expected: unknown, tolerance: number, path: string): void {
  if (typeof expected === 'number') {
    expect(found, path).toBeTypeOf('number');
    const error = Math.abs((found as number) - expected);
    const rounding = /^collapse\..*_error(\.\d+)*$/.test(path) ? ROUNDING_OF_ERRORS : 0;
    expect(error, path).toBeLessThanOrEqual(tolerance * (1e-3 + Math.abs(expected)) + rounding);
  } else if (typeof expected === 'object' && expected !== null) {
    expect(found, path).toBeTypeOf('object');
    if (Array.isArray(expected)) expect(found, path).toHaveLength(expected.length);
    for (const [key, value] of Object.entries(expected)) {
      const own = (found as Record<string, unknown>)[key];
      expectSame(own, value, tolerance, `${path}.${key}`);
    }
  } else expect(found, path).toBe(expected);
}

test('there are enough of them', () => {
  expect(calls.length).toBeGreaterThan(40);
});

test.each(calls.map(({ args, expected }) => [args.join(' '), args, expected] as const))(
  '%s',
  (_, args, expected) => {
    const { status, stdout, stderr } = raw(...args);
    expect(status, stderr).toBe(0);
    expectSame(JSON.parse(stdout), expected, TOLERANCE[args[0]!] ?? 1e-9, args[0]!);
  },
);
