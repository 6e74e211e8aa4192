// A model hub on loopback that behaves as badly as a test asks: breaks off, lies, refuses, limits.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeHubRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

/** Files of one repository by path; those ending in .safetensors are stored as large files (sha256). */
export type FakeFiles = Readonly<Record<string, Uint8Array>>;

export class FakeHub {
  readonly requests: FakeHubRequest[] = [];
  /** Statuses answered before anything else, one per request. */
  readonly refusals: { status: number; headers?: Record<string, string> }[] = [];
  /** Bytes of a body after which the connection is cut, one per download. */
  readonly cuts: number[] = [];
  /** Paths whose bytes come out altered, that many times. */
  readonly lies = new Map<string, number>();
  /** Sizes listed instead of the true ones. */
  readonly listedSizes = new Map<string, number>();
  /** Answers ranges with the whole file. */
  ignoresRanges = false;
  /** Requests need this token. */
  token: string | undefined;
  /** Bytes per chunk of a body, with a pause between chunks. */
  slow: { readonly bytes: number; readonly pauseMs: number } | undefined;
  commit = 'c0ffee0000000000000000000000000000000001';
  readonly #server: Server;

  private constructor(private readonly repos: Record<string, FakeFiles>) {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(repos: Record<string, FakeFiles>): Promise<FakeHub> {
    const hub = new FakeHub(repos);
    await new Promise<void>((resolve) => hub.#server.listen(0, '127.0.0.1', resolve));
    return hub;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests for file contents. */
  get downloads(): FakeHubRequest[] {
    return this.requests.filter(({ path }) => path.includes('/resolve/'));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.endpoint);
    const path = decodeURIComponent(url.pathname);
    const { range, authorization } = request.headers;
    this.requests.push({ path, range, authorization });
    const refusal = this.refusals.shift();
    if (refusal !== undefined) {
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
      response.end('{"error": "refused"}');
      return;
    }
    if (path.startsWith('/cdn/')) {
      void this.#download(request, response, path.slice(5));
      return;
    }
    if (this.token !== undefined && authorization !== `Bearer ${this.token}`) {
      response.writeHead(401).end();
      return;
    }
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/([^/]+)$/.exec(path);
    const files = this.repos[api?.[1] ?? ''];
    if (api !== null && files !== undefined && [this.commit, 'main', 'v1'].includes(api[3] ?? '')) {
      if (api[2] === 'revision')
        this.#json(response, { _id: '1', id: api[1], private: false, lastModified: '2026-01-01', sha: this.commit });
      else this.#list(response, files, url);
      return;
    }
    const file = /^\/([^/]+\/[^/]+)\/resolve\/([0-9a-f]{40})\/(.+)$/.exec(path);
    if (file !== null && file[2] === this.commit && this.repos[file[1] ?? '']?.[file[3] ?? ''] !== undefined) {
      // As the real hub does, contents come from another origin: the token must not travel there.
      const port = new URL(this.endpoint).port;
      response
        .writeHead(302, { location: `http://localhost:${port}/cdn/${file[1]}/${encodeURIComponent(file[3] ?? '')}` })
        .end();
      return;
    }
    response.writeHead(404).end();
  }

  #json(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  }

  // Two pages, so that a client has to follow the link.
  #list(response: ServerResponse, files: FakeFiles, url: URL): void {
    const entries = Object.entries(files).map(([path, bytes]) => {
      const size = this.listedSizes.get(path) ?? bytes.length;
      const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return {
        type: 'file',
        path,
        size,
        oid,
        ...(path.endsWith('.safetensors') ? { lfs: { oid: sha256, size, pointerSize: 130 } } : {}),
      };
    });
    const half = Math.ceil(entries.length / 2);
    if (url.searchParams.has('cursor')) {
      this.#json(response, entries.slice(half));
      return;
    }
    url.searchParams.set('cursor', 'second');
    this.#json(response, [...entries.slice(0, half), { type: 'directory', path: 'vae', size: 0, oid: '0' }], {
      link: `<${url.href}>; rel="next"`,
    });
  }

  async #download(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const [owner, repo, ...rest] = name.split('/');
    const path = rest.join('/');
    const whole = this.repos[`${owner}/${repo}`]?.[path] ?? new Uint8Array();
    const start = this.ignoresRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const bytes = whole.slice(start);
    const lies = this.lies.get(path) ?? 0;
    if (lies > 0 && bytes.length > 0) {
      this.lies.set(path, lies - 1);
      bytes[0] = (bytes[0] ?? 0) ^ 1;
    }
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': bytes.length,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${whole.length - 1}/${whole.length}` } : {}),
    });
    const cut = this.cuts.shift();
    if (cut !== undefined && cut < bytes.length) {
      response.write(bytes.subarray(0, cut), () => setTimeout(() => response.destroy(), 20));
      return;
    }
    if (this.slow !== undefined) {
      for (let at = 0; at < bytes.length && !response.destroyed; at += this.slow.bytes) {
        response.write(bytes.subarray(at, at + this.slow.bytes));
        await new Promise((resolve) => setTimeout(resolve, this.slow?.pauseMs));
      }
      response.end();
      return;
    }
    response.end(bytes);
  }
}
