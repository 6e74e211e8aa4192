// How the page is built: into dist/web, with addresses relative to the page, so that a server may stand below a path.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const server = process.env.ORRERY_URL ?? 'http://127.0.0.1:8000';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // Everything is a file of its own: the page's Content-Security-Policy knows no inline data beyond pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `npx vite web` beside a running server.
  server: { proxy: { '/v1': server } },
});
