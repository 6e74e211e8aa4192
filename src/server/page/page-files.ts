// The web page: the built folder's files with their headers. Without a built folder, the address `/` answers the documentation.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import sirv from 'sirv';
import { packageRoot } from '../../engine/package-info.js';

/** What the page may load: its own files, and pictures and clips that it has fetched. Nothing inline runs. */
export const pagePolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "worker-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Where the build puts the page. */
export function builtPage(): string {
  return join(packageRoot(), 'dist', 'web');
}

/**
 * Adds the page at `/`.
 * @param folder holds `index.html` and what it loads; files under `assets/` carry their content's hash in their names
 * @param documents answers `/` where the folder holds no page
 */
export function addPage(app: FastifyInstance, folder: string, documents: (reply: FastifyReply) => FastifyReply): void {
  const schema = { hide: true };
  if (!existsSync(join(folder, 'index.html'))) {
    app.get('/', { schema }, (_request, reply) => documents(reply));
    return;
  }
  const files = sirv(folder, {
    etag: true,
    gzip: true,
    brotli: true,
    setHeaders: (response, path) => {
      const isHashed = /^\/assets\/.*[-.][\w-]{8,}\.\w+$/.test(path);
      response.setHeader('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      response.setHeader('content-security-policy', pagePolicy);
      response.setHeader('cross-origin-opener-policy', 'same-origin');
    },
  });
  app.get('/*', { schema }, (request, reply) => sendFile(files, request, reply));
}

/** Answers with a file, or like any address that is not there. */
function sendFile(files: ReturnType<typeof sirv>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const given = reply.getHeaders();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) reply.raw.setHeader(name, value);
  // Whole files only: nothing here is long.
  delete request.raw.headers.range;
  let isFound = true;
  files(request.raw, reply.raw, () => {
    isFound = false;
  });
  if (isFound) return reply.hijack();
  for (const name of Object.keys(given)) reply.raw.removeHeader(name);
  reply.callNotFound();
  return reply;
}
