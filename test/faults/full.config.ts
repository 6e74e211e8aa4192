// The long fault run, apart from `npm test`.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { include: ['test/faults/crash-full.ts'], globalSetup: ['test/setup.ts'], pool: 'forks' },
});
