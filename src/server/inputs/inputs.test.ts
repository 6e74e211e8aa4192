import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeImage } from '../../media/index.js';
import { RequestBody } from '../bodies/request-body.js';
import { readSettings } from '../options/settings.js';
import { copyLocalInput, fetchInput } from './fetch-input.js';
import { MediaInspector } from './media-inspector.js';
import { readControlPlaces, readControlUpload } from './read-controls.js';
import { readReferences } from './read-references.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-inputs-'));
const root = join(folder, 'root');
const settings = (input: Readonly<Record<string, unknown>> = {}) => readSettings(input).settings.inputs;
const web = createServer((request, response) => {
  if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
  else if (request.url === '/big') response.end(Buffer.alloc(5000));
  else response.end('hello');
});
let url = '';

beforeAll(async () => {
  mkdirSync(join(root, 'sub'), { recursive: true });
  writeFileSync(join(root, 'sub', 'map.png'), 'map');
  writeFileSync(join(folder, 'secret.png'), 'secret');
  symlinkSync(join(folder, 'secret.png'), join(root, 'link.png'));
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterAll(() => {
  web.close();
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
const target = () => join(folder, `target-${count++}`);

describe('files of the server', () => {
  it('are read under a root', async () => {
    for (const path of [join(root, 'sub', 'map.png'), 'sub/map.png']) {
      const to = target();
      await copyLocalInput('depth.control_path', path, to, settings({ 'media-root': [root] }));
      expect(readFileSync(to, 'utf8')).toBe('map');
    }
  });

  it.each([
    ['outside', () => join(folder, 'secret.png')],
    ['by a link that leads outside', () => join(root, 'link.png')],
    ['by dots that lead outside', () => '../secret.png'],
    ['that are folders', () => join(root, 'sub')],
    ['that are not there', () => join(root, 'none.png')],
    ['of the system', () => '/etc/passwd'],
  ])('are not read %s', async (_, path) => {
    const to = target();
    await expect(
      copyLocalInput('depth.control_path', path(), to, settings({ 'media-root': [root] })),
    ).rejects.toMatchObject({ code: 'invalid_media', param: 'depth.control_path' });
    expect(existsSync(to)).toBe(false);
  });

  it('are not read without a root, or when they are too large', async () => {
    await expect(copyLocalInput('x', join(root, 'sub/map.png'), target(), settings())).rejects.toThrow('--media-root');
    await expect(
      copyLocalInput('x', 'sub/map.png', target(), { ...settings({ 'media-root': [root] }), maxUploadBytes: 2 }),
    ).rejects.toThrow('the limit is 2');
  });
});

describe('addresses', () => {
  const name = 'image_reference.image_url';

  it('of this machine and its network are refused', async () => {
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '10.0.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '2130706433',
    ])
      await expect(fetchInput(name, `http://${host}/x`, target(), settings())).rejects.toMatchObject({
        code: 'invalid_media',
        param: 'image_reference',
      });
  });

  it('of allowed hosts are fetched, but not followed elsewhere', async () => {
    const allowed = settings({ 'allow-media-hosts': '127.0.0.1' });
    const to = target();
    await fetchInput(name, `${url}/x`, to, allowed);
    expect(readFileSync(to, 'utf8')).toBe('hello');
    await expect(fetchInput(name, `${url}/away`, target(), allowed)).rejects.toThrow('redirects');
    await expect(fetchInput(name, 'http://example.org/x', target(), allowed)).rejects.toThrow(
      'does not fetch from example.org',
    );
    await expect(fetchInput(name, `${url}/big`, target(), { ...allowed, maxUploadBytes: 100 })).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });

  it('can be the content itself, and nothing else but http', async () => {
    const to = target();
    await fetchInput(name, 'data:image/png;base64,aGVsbG8=', to, settings());
    expect(readFileSync(to, 'utf8')).toBe('hello');
    for (const other of ['file:///etc/passwd', 'ftp://x/y', 'x', ''])
      await expect(fetchInput(name, other, target(), settings())).rejects.toThrow(
        'Invalid image_reference.image_url: must be an http(s) URL or data URL.',
      );
  });
});

const body = (values: Readonly<Record<string, unknown>>, files: readonly string[] = []) =>
  new RequestBody(
    values,
    files.map((field) => ({ field, path: `/tmp/${field}`, fileName: 'a.png', declaredType: 'image/png', bytes: 5 })),
    true,
  );

describe('references', () => {
  it.each([
    [body({}, ['input_reference']), [['either', 'upload']]],
    [body({}, ['input_references']), [['either', 'upload']]],
    [body({ image_reference: '{"image_url":"http://x/y"}' }), [['image', 'url']]],
    [body({ video_reference: { video_url: 'http://x/y' } }), [['video', 'url']]],
    [body({ input_reference: 'https://x/y.mp4' }), [['either', 'url']]],
    [body({ input_reference: { image_url: { url: 'https://x/y.png' } } }), [['image', 'url']]],
    [body({ image_reference: { file_id: `file-${'0a'.repeat(32)}` } }), [['image', 'kept']]],
    [body({ input_reference: { file_id: `file-${'0a'.repeat(32)}` } }), [['either', 'kept']]],
    [body({ image_reference: '', video_reference: null }), []],
  ])('case %#', (given, expected) => {
    expect(readReferences(given).map(({ role, source }) => [role, source.kind])).toEqual(expected);
  });

  it.each([
    [
      body({ image_reference: '{"image_url":"x"}' }, ['input_references']),
      'Provide input_references alone, without input_reference, image_reference, or video_reference.',
    ],
    [
      body({ image_reference: '{"image_url":"x"}' }, ['input_reference']),
      'Provide only one of input_reference, image_reference, or video_reference when using input_reference',
    ],
    [body({}, ['input_references', 'input_references']), 'This model takes one reference'],
    [body({ image_reference: '{"image_url":"x","more":1}' }), 'Invalid image_reference: unknown member more'],
    [
      body({ video_reference: '{"file_id":"x"}' }),
      'Invalid video_reference: file_id must be one that POST /v1/uploads gave',
    ],
    [body({ image_reference: '{}' }), 'image_url must be a URL, got null.'],
  ])('refusal %#', (given, message) => {
    expect(() => readReferences(given)).toThrow(message);
  });
});

describe('control maps', () => {
  it('come as uploads, with their hint', () => {
    const { params, wanted } = readControlUpload(body({ control_type: 'Depth' }, ['control_reference']), {
      depth: { control_weight: 2 },
    });
    expect(params).toEqual({ depth: { control_weight: 2 } });
    expect(wanted.map(({ role }) => role)).toEqual(['depth']);
  });

  it('leave their places behind', () => {
    const { params, wanted } = readControlPlaces({
      edge: true,
      depth: '/a/b.mp4',
      seg: { control_path: 'https://x/y', control_weight: 3 },
      blur: 'true',
      seed: 1,
    });
    expect(params).toEqual({ edge: true, depth: true, seg: { control_weight: 3 }, blur: 'true', seed: 1 });
    expect(wanted.map(({ role, name, source }) => [role, name, source.kind])).toEqual([
      ['depth', 'depth', 'path'],
      ['seg', 'seg.control_path', 'url'],
    ]);
  });

  const upload =
    (values: Readonly<Record<string, unknown>>, params: Readonly<Record<string, unknown>> = {}) =>
    () =>
      readControlUpload(body(values, ['control_reference']), params);
  it.each([
    [upload({}), 'control_reference requires control_type.'],
    [
      upload({ control_type: 'x' }),
      "Control upload type 'x' is not supported by this model. Supported control upload types: blur, depth, edge, seg, wsm.",
    ],
    [
      upload({ control_type: 'edge' }, { edge: 5 }),
      'extra_params.edge must be an object when control_reference is uploaded.',
    ],
    [
      upload({ control_type: 'edge' }, { edge: { control_path: 'x' } }),
      'Provide either control_reference or extra_params.edge.control/control_path, not both.',
    ],
    [() => readControlUpload(body({ control_type: 'edge' }), {}), 'control_type requires a control_reference upload.'],
    [
      () =>
        readControlUpload(
          new RequestBody(
            { control_type: 'edge' },
            [{ field: 'control_reference', path: '/x', fileName: 'a.txt', declaredType: 'text/plain', bytes: 5 }],
            true,
          ),
          {},
        ),
      'control_reference must be an image or video file.',
    ],
    [
      () =>
        readControlUpload(
          new RequestBody(
            { control_type: 'edge' },
            [{ field: 'control_reference', path: '/x', fileName: 'a.png', declaredType: '', bytes: 0 }],
            true,
          ),
          {},
        ),
      'control_reference must not be empty.',
    ],
  ])('refusal %#', (read, message) => {
    expect(read).toThrow(message);
  });
});

describe('the inspector', () => {
  it('tells pictures by their content, within limits of pixels and time', async () => {
    using inspector = new MediaInspector({ maxPixels: 5000, allowsAnyFfmpeg: true, ffmpeg: null, timeoutMs: 20_000 });
    const picture = async (side: number) => {
      const path = target();
      writeFileSync(
        path,
        await encodeImage({ width: side, height: side, data: new Uint8Array(side * side * 3) }, { format: 'png' }),
      );
      return path;
    };
    expect(await inspector.inspect(await picture(64))).toEqual({
      kind: 'image',
      mediaType: 'image/png',
      width: 64,
      height: 64,
      frames: null,
      fps: null,
    });
    await expect(inspector.inspect(await picture(128))).rejects.toMatchObject({ code: 'too_large' });
    const text = target();
    writeFileSync(text, 'no picture');
    await expect(inspector.inspect(text)).rejects.toMatchObject({ code: 'unsupported_type' });
    using hasty = new MediaInspector({ maxPixels: 5000, allowsAnyFfmpeg: true, ffmpeg: null, timeoutMs: 1 });
    await expect(hasty.inspect(await picture(32))).rejects.toMatchObject({ code: 'timeout' });
    using narrow = new MediaInspector({
      maxPixels: 5000,
      allowsAnyFfmpeg: true,
      ffmpeg: null,
      timeoutMs: 20_000,
      maxBytes: 1000,
    });
    await expect(narrow.inspect(await picture(32))).rejects.toThrow('bytes of memory');
  });
});
