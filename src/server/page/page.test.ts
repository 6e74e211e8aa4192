import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addPage, pagePolicy } from './page-files.js';

let folder: string;
let app: FastifyInstance;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-page-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><script type="module" src="./assets/main-B4x9Zq_1.js"></script>',
  );
  writeFileSync(join(folder, 'assets/main-B4x9Zq_1.js'), 'export {};');
  writeFileSync(join(folder, 'assets/plain.js'), '1;');
  app = fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'none' }));
  app.get('/v1/models', async () => ({ object: 'list' }));
  addPage(app, folder, (reply) => reply.send('documents'));
  await app.listen({ port: 0 });
});

afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

const get = (path: string, init?: RequestInit) => fetch(`${app.listeningOrigin}${path}`, init);

describe('the page', () => {
  test('is asked for anew each time, and runs nothing inline', async () => {
    const answer = await get('/');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html;charset=utf-8']);
    expect(await answer.text()).toContain('main-B4x9Zq_1.js');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('content-security-policy')).toBe(pagePolicy);
    expect(pagePolicy).not.toContain('unsafe');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const etag = answer.headers.get('etag') ?? '';
    expect((await get('/', { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  test('has files that are kept for ever where their names say what is in them', async () => {
    const hashed = await get('/assets/main-B4x9Zq_1.js');
    expect([hashed.status, await hashed.text()]).toEqual([200, 'export {};']);
    expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await get('/assets/plain.js')).headers.get('cache-control')).toBe('no-cache');
    expect((await get('/assets/plain.js', { headers: { range: 'bytes=9-1' } })).status).toBe(200);
    const head = await get('/assets/plain.js', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '2', '']);
  });

  test('leaves everything else to the interface', async () => {
    for (const path of ['/nothing', '/../package.json', '/%2e%2e/package.json', '/assets', '/%00']) {
      const answer = await get(path);
      expect([path, answer.status, await answer.json()]).toEqual([path, 404, { error: 'none' }]);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(await (await get('/v1/models')).json()).toEqual({ object: 'list' });
  });

  test('gives way to the documents where it was not built', async () => {
    const bare = fastify();
    addPage(bare, join(folder, 'nowhere'), (reply) => reply.send('documents'));
    const answer = await bare.inject({ url: '/' });
    expect([answer.statusCode, answer.body]).toEqual([200, 'documents']);
  });
});
