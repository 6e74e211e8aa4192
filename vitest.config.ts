import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        // Units keep nothing in their modules: loading those once for all files halves the time.
        test: {
          name: 'units',
          include: ['src/**/*.test.ts', 'web/src/**/*.test.ts'],
          isolate: false,
          testTimeout: 30_000,
        },
      },
      { test: { name: 'product', include: ['test/**/*.test.ts'], testTimeout: 30_000 } },
    ],
  },
});
