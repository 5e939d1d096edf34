import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['tests/{unit,cli,presets}/**/*.test.ts'],
          testTimeout: 60_000, // some run the command line, on a machine that may be busy
        },
      },
      {
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      { test: { name: 'presets', include: ['tests/presets/write.ts'], testTimeout: 60_000 } },
      {
        test: {
          name: 'screenshots',
          include: ['tests/browser/screenshots.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
