// The page in a browser, apart from `npm test`: it needs Chromium and ffmpeg. `npm run test:web` builds the page first.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/web/browser-*.ts'],
    globalSetup: ['test/web/serve-page.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
});
