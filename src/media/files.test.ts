import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../test/golden/read-case.js';
import { readArtifactMetadata } from './artifact-metadata.js';
import { fileError, MediaError } from './media-error.js';
import { clipFromArray, readNpy } from './npy.js';
import { describeContent, mediaKind, sniffMedia } from './sniff-media.js';
import { readSource } from './source.js';
import { writeBytes, writeThroughTemporary } from './write-file.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('sniffMedia', () => {
  it('tells types by their first bytes', () => {
    const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');
    const samples: [string, string | null][] = [
      ['\x89PNG\r\n\x1a\n', 'png'],
      ['\xff\xd8\xff\xe0', 'jpeg'],
      ['RIFF\0\0\0\0WEBPVP8 ', 'webp'],
      ['GIF89a', 'gif'],
      ['BM\x46\0\0\0\0\0\0\0', 'bmp'],
      ['BMX is a word', null],
      ['II*\0', 'tiff'],
      ['\0\0\0\x1cftypavif', 'avif'],
      ['\0\0\0\x1cftypheic', null],
      ['\0\0\0\x20ftypisom', 'mp4'],
      ['\0\0\0\x14ftypqt  ', 'mp4'],
      ['\0\0\0\x08wide', 'mp4'],
      ['\x1a\x45\xdf\xa3', 'webm'],
      ['RIFF\0\0\0\0AVI ', 'avi'],
      ['RIFF\0\0\0\0WAVE', 'wav'],
      ['RIFF\0\0\0\0CDDA', null],
      ['ID3\x04', 'mp3'],
      ['\xff\xfb\x90', 'mp3'],
      ['OggS', 'ogg'],
      ['fLaC', 'flac'],
      ['\x93NUMPY\x01\0', 'npy'],
      [' {"a": 1}', 'json'],
      ['[1, 2]', 'json'],
      ['words', null],
      ['', null],
    ];
    for (const [text, type] of samples) expect([text, sniffMedia(latin(text))]).toEqual([text, type]);
    expect(['png', 'mp4', 'wav', 'npy'].map((type) => mediaKind(type as 'png'))).toEqual([
      'image',
      'video',
      'sound',
      'array',
    ]);
  });

  it('describes what it does not know', () => {
    const words = ['', 'some words', '<?xml version="1.0"?>', '\0\x01\x02', '\0\0\0\x18ftypheic', 'GIF89a'];
    expect(words.map((text) => describeContent(Buffer.from(text, 'latin1')))).toEqual([
      'empty',
      'text',
      'HTML or XML',
      'unknown binary data',
      'HEIC',
      'GIF',
    ]);
  });
});

describe('readNpy', () => {
  const npy = (header: string, values: Buffer, version = 1): Buffer => {
    const head = Buffer.alloc(version === 1 ? 10 : 12);
    head.write('\x93NUMPY', 'latin1');
    head[6] = version;
    if (version === 1) head.writeUInt16LE(header.length, 8);
    else head.writeUInt32LE(header.length, 8);
    return Buffer.concat([head, Buffer.from(header, 'latin1'), values]);
  };
  const header = (descr: string, shape: string, order = 'False'): string =>
    `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }\n`;

  it('reads every dtype, at any offset', () => {
    const values = Buffer.from(Float32Array.of(1.5, -2).buffer);
    const shifted = Buffer.concat([Buffer.from([0]), npy(header('<f4', '(2,)'), values)]).subarray(1);
    expect(readNpy(shifted)).toEqual({ dtype: '<f4', shape: [2], data: Float32Array.of(1.5, -2) });
    expect(readNpy(npy(header('<f8', '(1, 2)'), Buffer.from(Float64Array.of(3, 0.1).buffer), 2))).toEqual({
      dtype: '<f8',
      shape: [1, 2],
      data: Float64Array.of(3, 0.1),
    });
    expect(readNpy(npy(header('<i4', '()'), Buffer.from(Int32Array.of(-7).buffer)))).toEqual({
      dtype: '<i4',
      shape: [],
      data: Int32Array.of(-7),
    });
    expect(readNpy(npy(header('<i8', '(1,)'), Buffer.from(BigInt64Array.of(2n ** 40n).buffer))).data).toEqual(
      BigInt64Array.of(2n ** 40n),
    );
  });

  it('reads a clip of the reference', () => {
    const clip = clipFromArray(readNpy(readFileSync(`${goldenFolder}/media/control_edge.npy`)));
    expect(clip).toMatchObject({ width: 160, height: 96, fps: null });
    expect(clip.data.length).toBe(clip.frames * 160 * 96 * 3);
    expect(clip.frames).toBeGreaterThan(1);
  });

  it('takes one picture as a clip, and no other shape', () => {
    const picture = readNpy(npy(header('|u1', '(1, 2, 3)'), Buffer.alloc(6, 5)));
    expect(clipFromArray(picture)).toMatchObject({ width: 2, height: 1, frames: 1 });
    expect(() => clipFromArray(readNpy(npy(header('|u1', '(2, 3)'), Buffer.alloc(6))), 'a.npy')).toThrow(
      'a.npy is |u1 [2,3]',
    );
    expect(() => clipFromArray(readNpy(npy(header('<f4', '(1, 1, 3)'), Buffer.alloc(12))))).toThrow('<f4 [1,1,3]');
    expect(() => clipFromArray(readNpy(npy(header('|u1', '(0, 1, 1, 3)'), Buffer.alloc(0))))).toThrow('[0,1,1,3]');
  });

  it('refuses what it cannot read, by name', () => {
    expect(() => readNpy(Buffer.from('words'), 'a.npy')).toThrow('a.npy is not a .npy file');
    expect(() => readNpy(npy(header('<f4', '(2, 2)'), Buffer.alloc(9)))).toThrow(
      '9 bytes of values, its shape [2,2] needs 16',
    );
    expect(() => readNpy(npy(header('<c8', '(1,)'), Buffer.alloc(8)))).toThrow('dtype <c8');
    expect(() => readNpy(npy(header('>f4', '(1,)'), Buffer.alloc(4)))).toThrow('dtype >f4');
    expect(() => readNpy(npy(header('<f4', '(1, 1)', 'True'), Buffer.alloc(4)))).toThrow('ascontiguousarray');
    expect(() =>
      readNpy(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", Buffer.alloc(4))),
    ).toThrow('structured');
  });
});

describe('files', () => {
  it('are written whole or not at all', async () => {
    const path = join(folder, 'a.bin');
    await writeBytes(path, Buffer.from('first'));
    expect(readFileSync(path, 'utf8')).toBe('first');
    const broken = writeThroughTemporary(path, async (temporary) => {
      writeFileSync(temporary, 'half');
      throw new RangeError('stop');
    });
    await expect(broken).rejects.toThrow(new RangeError('stop'));
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['first', ['a.bin']]);
    await expect(writeBytes(join(folder, 'none', 'a.bin'), Buffer.alloc(1))).rejects.toMatchObject({
      code: 'unwritable',
    });
    await expect(writeBytes(folder, Buffer.alloc(1))).rejects.toMatchObject({ code: 'unwritable' });
  });

  it('are read within a limit', async () => {
    const path = join(folder, 'b.bin');
    writeFileSync(path, 'twelve bytes');
    expect(Buffer.from(await readSource(path, 12)).toString()).toBe('twelve bytes');
    await expect(readSource(path, 11)).rejects.toThrow('has 12 bytes, the limit is 11');
    await expect(readArtifactMetadata(path)).rejects.toMatchObject({ code: 'unsupported_type' });
  });

  it('have errors that name the path and the reason', () => {
    const system = (code: string): Error => Object.assign(new Error(code), { code });
    const codes = (['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'ENOENT', 'EISDIR'] as const).map(
      (code) => fileError(system(code), 'write', '/x').code,
    );
    expect(codes).toEqual(['disk_full', 'disk_full', 'unwritable', 'unwritable', 'unwritable', 'unwritable']);
    expect(fileError(system('EACCES'), 'read', '/x')).toMatchObject({
      code: 'unreadable',
      message: 'Cannot read /x: EACCES. Check its permissions, or copy it.',
    });
    const own = new MediaError('truncated', 'two\n  lines');
    expect(fileError(own, 'read', '/x')).toBe(own);
    expect(own.message).toBe('two lines');
  });
});
