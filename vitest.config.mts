import { defineConfig } from 'vitest/config';
import { shippedFiles } from './web/plugins/shipped-files.mts';

/** A test without an assertion fails: its loop ran zero times. */
const strict = { expect: { requireAssertions: true } };

/**
 * Strict, with time for a page that answers late because other tests run beside it. What fails is tried once more, and
 * the report names it: a machine that stalls for a minute does not fail a run of half an hour.
 */
const patient = {
  expect: { ...strict.expect, poll: { timeout: 30_000 } },
  testTimeout: 180_000, // three times what the slowest takes on a slow machine
  hookTimeout: 180_000,
  retry: 1,
};

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [shippedFiles()],
        test: {
          ...strict,
          name: 'unit',
          include: ['tests/{unit,cli,presets}/**/*.test.ts'],
          testTimeout: 60_000, // some run the command line, on a machine that may be busy
          maxWorkers: 2, // of two cores Vitest would leave one idle
        },
      },
      { test: { ...patient, name: 'browser', include: ['tests/browser/**/*.test.ts'], maxWorkers: 3 } },
      { test: { ...strict, name: 'docs', include: ['tests/docs/*.test.ts'], testTimeout: 60_000 } },
      { test: { name: 'bench', include: ['tests/browser/bench.ts'], hookTimeout: 60_000 } },
      { test: { ...strict, name: 'tokenizers', include: ['tests/tokenizers/large.ts'], testTimeout: 600_000 } },
      { test: { ...strict, name: 'gguf', include: ['tests/gguf/*.ts'], testTimeout: 600_000 } },
      { test: { name: 'documented', include: ['tests/documented/documented.ts'], testTimeout: 3_600_000 } },
      { test: { name: 'screenshots', include: ['tests/browser/screenshots.ts'], testTimeout: 60_000 } },
    ],
  },
});
