// Reading and writing safetensors files, damaged ones included.
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckpointError } from '../errors.js';
import { decodeFloat32 } from '../floats.js';
import { openSafetensors } from './open-safetensors.js';
import { writeSafetensors } from './write-safetensors.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-safetensors-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const goldenTransformer = new URL(
  '../../../test/golden/data/tiny-nano/transformer/diffusion_pytorch_model.safetensors',
  import.meta.url,
).pathname;

function writeRaw(name: string, header: unknown, data: Uint8Array): string {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

describe.each([true, false])('openSafetensors, map %s', (map) => {
  it('reads a golden checkpoint', () => {
    using file = openSafetensors(goldenTransformer, { map });
    expect(file.metadata).toEqual({ format: 'pt' });
    const norm = file.tensors.get('layers.0.self_attn.norm_q.weight');
    expect(norm).toMatchObject({ dtype: 'f32', fileDtype: 'F32', shape: [16], byteLength: 64 });
    expect(norm?.address === undefined).toBe(!map);
    const raw = readFileSync(goldenTransformer);
    const bytes = norm?.bytes() ?? new Uint8Array();
    expect(Buffer.from(bytes).equals(raw.subarray(norm?.offset, (norm?.offset ?? 0) + 64))).toBe(true);
    expect(decodeFloat32(bytes, 'f32').every((value) => Number.isFinite(value) && value !== 0)).toBe(true);
  });

  it('opens 1.6 GB within 50 MB of resident memory', () => {
    const path = writeRaw(
      `sparse-${map}.safetensors`,
      { big: { dtype: 'BF16', shape: [800, 1_000_000], data_offsets: [0, 1_600_000_000] } },
      new Uint8Array(),
    );
    truncateSync(path, readFileSync(path).length + 1_600_000_000);
    const descriptor = openSync(path, 'r+');
    writeSync(descriptor, Uint8Array.of(0x80, 0x3f), 0, 2, readSize(path) - 2);
    closeSync(descriptor);
    const before = process.memoryUsage.rss();
    using file = openSafetensors(path, { map });
    expect(file.tensors.get('big')?.shape).toEqual([800, 1_000_000]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(50e6);
    if (map) expect(file.tensors.get('big')?.bytes().subarray(-2)).toEqual(Uint8Array.of(0x80, 0x3f));
  });
});

function readSize(path: string): number {
  using file = openSafetensors(path);
  return file.size;
}

describe('damaged files', () => {
  const one = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
  const data = new Uint8Array(8);
  it.each([
    [
      'truncated data',
      { a: one },
      data.subarray(0, 5),
      /truncated: its header describes \d+ bytes, it has \d+; .*download it again/,
    ],
    ['extra data', { a: one }, new Uint8Array(9), /followed by bytes of no tensor/],
    ['wrong size', { a: { ...one, shape: [3] } }, data, /tensor a: F32 \[3\] takes 12 bytes, its data_offsets span 8/],
    ['overlap', { a: one, b: { dtype: 'U8', shape: [4], data_offsets: [4, 8] } }, data, /tensor b overlaps/],
    ['gap', { a: { dtype: 'U8', shape: [4], data_offsets: [4, 8] } }, data, /gap of 4 bytes/],
    ['unknown dtype', { a: { ...one, dtype: 'F31' } }, data, /unknown dtype F31/],
    ['negative size', { a: { ...one, shape: [-2] } }, data, /shape \[-2\]/],
    ['fractional shape', { a: { ...one, shape: [0.5] } }, data, /shape \[0.5\]/],
    ['reversed range', { a: { ...one, data_offsets: [8, 0] } }, data, /span -8/],
    ['no range', { a: { dtype: 'F32', shape: [2] } }, data, /data_offsets undefined/],
    ['no JSON', '{"a": ', data, /no valid JSON/],
    ['an array', '[]', data, /not a safetensors file/],
  ])('%s', (name, header, bytes, message) => {
    const path = writeRaw(`${name.replaceAll(' ', '-')}.safetensors`, header, bytes);
    const error = catchError(() => openSafetensors(path));
    expect(error).toBeInstanceOf(CheckpointError);
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain(path);
  });

  it('other files', () => {
    const text = join(folder, 'text.safetensors');
    writeFileSync(text, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n');
    expect(() => openSafetensors(text)).toThrow(/not a safetensors file/);
    writeFileSync(text, 'abc');
    expect(() => openSafetensors(text)).toThrow(/not a safetensors file/);
    const header = Buffer.from([0, 0, 1, 0, 0, 0, 0, 0, 0x7b, 0x22]);
    writeFileSync(text, header);
    expect(() => openSafetensors(text)).toThrow(/header alone takes 65544 bytes, it has 10/);
    expect(() => openSafetensors(join(folder, 'absent'))).toThrow(/cannot be opened \(ENOENT/);
  });

  it('dtypes that networks do not use open all the same', () => {
    const path = writeRaw('foreign.safetensors', { a: { dtype: 'F64', shape: [1], data_offsets: [0, 8] } }, data);
    using file = openSafetensors(path);
    expect(file.tensors.get('a')).toMatchObject({ dtype: undefined, fileDtype: 'F64' });
  });
});

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('writeSafetensors', () => {
  it('writes what it reads: aligned, in a fixed order, with metadata', async () => {
    const path = join(folder, 'written.safetensors');
    const tensors = [
      { name: 'z', dtype: 'u8', shape: [3], bytes: Uint8Array.of(1, 2, 3) },
      { name: 'b', dtype: 'f32', shape: [1, 2], bytes: async () => new Uint8Array(new Float32Array([1, -2]).buffer) },
      { name: 'a', dtype: 'f32', shape: [], bytes: () => new Uint8Array(new Float32Array([9]).buffer) },
      { name: 'empty', dtype: 'i64', shape: [0, 4], bytes: new Uint8Array() },
    ] as const;
    await writeSafetensors(path, tensors, { plan: '{"ü": 1}' });
    using file = openSafetensors(path);
    expect(file.metadata).toEqual({ plan: '{"ü": 1}' });
    expect([...file.tensors.keys()]).toEqual(['empty', 'a', 'b', 'z']);
    expect([...decodeFloat32(file.tensors.get('b')?.bytes() ?? new Uint8Array(), 'f32')]).toEqual([1, -2]);
    expect([...(file.tensors.get('z')?.bytes() ?? [])]).toEqual([1, 2, 3]);
    for (const tensor of file.tensors.values()) expect(tensor.offset % 4).toBe(0);
    const again = join(folder, 'again.safetensors');
    await writeSafetensors(again, [...tensors].reverse(), { plan: '{"ü": 1}' });
    expect(readFileSync(again).equals(readFileSync(path))).toBe(true);
  });

  it('leaves the old file and no temporary one when it fails', async () => {
    const place = mkdtempSync(join(folder, 'failing-'));
    const path = join(place, 'kept.safetensors');
    writeFileSync(path, 'old');
    const short = { name: 'a', dtype: 'f32' as const, shape: [2], bytes: new Uint8Array(4) };
    await expect(writeSafetensors(path, [short])).rejects.toThrow('tensor a takes 8 bytes, it was given 4');
    expect(readdirSync(place)).toEqual(['kept.safetensors']);
    expect(readFileSync(path, 'utf8')).toBe('old');
    const whole = { ...short, bytes: new Uint8Array(8) };
    await expect(writeSafetensors(path, [whole, whole])).rejects.toThrow('two tensors named a');
    await expect(writeSafetensors(join(place, 'absent', 'x'), [whole])).rejects.toThrow(/ENOENT/);
    expect(existsSync(join(place, 'absent'))).toBe(false);
  });
});
