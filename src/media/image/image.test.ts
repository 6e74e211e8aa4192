import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/read-case.js';
import { failure } from '../../../test/video-samples.js';
import { readArtifactMetadata } from '../artifact-metadata.js';
import type { RgbImage } from '../types.js';
import { decodeImage, probeImage } from './decode-image.js';
import { extractText } from './embedded-text.js';
import { encodeImage } from './encode-image.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-image-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

/** Red grows to the right, green downwards, blue is constant. */
const gradient: RgbImage = {
  width: 40,
  height: 24,
  data: Uint8Array.from({ length: 40 * 24 * 3 }, (_, i) => {
    const pixel = Math.floor(i / 3);
    return [(pixel % 40) * 6, Math.floor(pixel / 40) * 10, 100][i % 3] as number;
  }),
};

function meanDifference(a: RgbImage, b: RgbImage): number {
  expect([a.width, a.height]).toEqual([b.width, b.height]);
  return a.data.reduce((sum, value, i) => sum + Math.abs(value - (b.data[i] as number)), 0) / a.data.length;
}

const pixel = (image: RgbImage, x: number, y: number): number[] => [
  ...image.data.subarray((y * image.width + x) * 3).subarray(0, 3),
];

describe('encodeImage and decodeImage', () => {
  it('keep a PNG and a lossless WebP exactly, a JPEG nearly', async () => {
    for (const options of [{ format: 'png' }, { format: 'webp', lossless: true }] as const) {
      expect(await decodeImage(await encodeImage(gradient, options))).toEqual(gradient);
    }
    for (const format of ['jpeg', 'webp'] as const) {
      expect(meanDifference(await decodeImage(await encodeImage(gradient, { format })), gradient)).toBeLessThan(3);
    }
  });

  it('write the same bytes again', async () => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const options = { format, metadata: 'same' };
      expect(await encodeImage(gradient, options)).toEqual(await encodeImage(gradient, options));
    }
  });

  it('read a file of the reference', async () => {
    const image = await decodeImage(`${goldenFolder}/media/reference.png`);
    expect([image.width, image.height, image.data.length]).toEqual([200, 150, 90000]);
    expect(await probeImage(`${goldenFolder}/media/reference.png`)).toMatchObject({ width: 200, height: 150 });
  });

  it('refuse impossible options', async () => {
    expect((await failure(encodeImage(gradient, { format: 'jpeg', quality: 0 }))).message).toContain('quality is 0');
    const long = { width: 16384, height: 1, data: new Uint8Array(16384 * 3) };
    expect((await failure(encodeImage(long, { format: 'webp' }))).message).toContain('16384x1');
  });
});

describe('embedded text', () => {
  const text = JSON.stringify({ prompt: `é 漢 😀 "quoted" \n ${'y'.repeat(900_000)}` });

  it('comes back from every format, and the picture stays whole', async () => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const bytes = await encodeImage(gradient, { format, metadata: text });
      writeFileSync(at('picture'), bytes);
      expect((await readArtifactMetadata(at('picture'))) === text).toBe(true);
      expect(meanDifference(await decodeImage(bytes), gradient)).toBeLessThan(3);
      expect((await sharp(bytes).metadata()).format).toBe(format);
    }
  });

  it('works in lossless WebP and is found where other tools look', async () => {
    const webp = await encodeImage(gradient, { format: 'webp', lossless: true, metadata: 'words' });
    expect(extractText(webp, 'webp')).toBe('words');
    expect(await decodeImage(webp)).toEqual(gradient);
    const { exif } = await sharp(webp).metadata();
    expect(exif?.toString('latin1')).toContain('words');
    const png = await sharp(await encodeImage(gradient, { format: 'png', metadata: 'words' })).metadata();
    expect(png.comments).toEqual([{ keyword: 'Comment', text: 'words' }]);
  });

  it('is null where there is none', async () => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      expect(extractText(await encodeImage(gradient, { format }), format)).toBeNull();
    }
  });

  it('is limited', async () => {
    const error = await failure(encodeImage(gradient, { format: 'png', metadata: 'x'.repeat(2 ** 20 + 1) }));
    expect([error.code, error.message]).toEqual(['invalid_argument', expect.stringContaining('1048577')]);
  });
});

describe('decodeImage', () => {
  const raw = { raw: { width: 40, height: 24, channels: 3 as const } };

  it('turns pictures upright', async () => {
    const turned = await sharp(gradient.data, raw).withMetadata({ orientation: 6 }).png().toBuffer();
    const image = await decodeImage(turned);
    expect([image.width, image.height]).toEqual([24, 40]);
    // Clockwise: what was the lower left corner is now the upper left one.
    expect(pixel(image, 0, 0)).toEqual(pixel(gradient, 0, 23));
    expect(pixel(image, 23, 39)).toEqual(pixel(gradient, 39, 0));
    expect(await probeImage(turned)).toMatchObject({ width: 24, height: 40 });
  });

  it('lays transparency over white', async () => {
    const rgba = Buffer.from([255, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 128]);
    const png = await sharp(rgba, { raw: { width: 3, height: 1, channels: 4 } })
      .png()
      .toBuffer();
    const image = await decodeImage(png);
    expect(pixel(image, 0, 0)).toEqual([255, 0, 0]);
    expect(pixel(image, 1, 0)).toEqual([255, 255, 255]);
    const [red = 0, green = 0, blue = 0] = pixel(image, 2, 0);
    expect([Math.abs(red - 127) <= 1, Math.abs(green - 127) <= 1, blue]).toEqual([true, true, 255]);
  });

  it('reads grey, 16-bit, palette, CMYK, GIF and TIFF', async () => {
    const grey = await sharp(Buffer.from([0, 90, 255]), { raw: { width: 3, height: 1, channels: 1 } })
      .png()
      .toBuffer();
    expect([...(await decodeImage(grey)).data]).toEqual([0, 0, 0, 90, 90, 90, 255, 255, 255]);
    const deep = await sharp(Uint16Array.from([0, 32768, 65535, 257, 514, 771]), {
      raw: { width: 2, height: 1, channels: 3 },
    })
      .toColourspace('rgb16')
      .png()
      .toBuffer();
    expect((await sharp(deep).metadata()).depth).toBe('ushort');
    expect([...(await decodeImage(deep)).data]).toEqual([0, 128, 255, 1, 2, 3]);
    const deepGrey = await sharp(Uint16Array.from([0, 65535]), { raw: { width: 2, height: 1, channels: 1 } })
      .toColourspace('grey16')
      .png()
      .toBuffer();
    expect([...(await decodeImage(deepGrey)).data]).toEqual([0, 0, 0, 255, 255, 255]);
    const palette = await sharp(gradient.data, raw).png({ palette: true, colours: 64 }).toBuffer();
    expect(meanDifference(await decodeImage(palette), gradient)).toBeLessThan(16);
    const cmyk = await sharp(gradient.data, raw).toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer();
    expect((await sharp(cmyk).metadata()).space).toBe('cmyk');
    expect(meanDifference(await decodeImage(cmyk), gradient)).toBeLessThan(25);
    for (const bytes of [
      await sharp(gradient.data, raw).gif().toBuffer(),
      await sharp(gradient.data, raw).tiff().toBuffer(),
    ]) {
      expect(meanDifference(await decodeImage(bytes), gradient)).toBeLessThan(16);
    }
  });

  it('reads BMP', async () => {
    // Two by two, bottom row first, blue before red, rows padded to four bytes.
    const head = Buffer.alloc(54);
    head.write('BM');
    head.writeUInt32LE(70, 2);
    head.writeUInt32LE(54, 10);
    head.writeUInt32LE(40, 14);
    head.writeInt32LE(2, 18);
    head.writeInt32LE(2, 22);
    head.writeUInt16LE(1, 26);
    head.writeUInt16LE(24, 28);
    const bmp = Buffer.concat([head, Buffer.from([1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0])]);
    const image = await decodeImage(bmp);
    expect(image).toEqual({ width: 2, height: 2, data: Uint8Array.of(9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4) });
    expect(await probeImage(bmp)).toEqual({ width: 2, height: 2 });
    expect((await failure(decodeImage(bmp, { maxPixels: 3 }))).code).toBe('too_large');
    expect((await failure(decodeImage(bmp.subarray(0, 30)))).code).toBe('unreadable');
  });

  it('tells what is wrong with a file in one line', async () => {
    writeFileSync(at('words.png'), 'These are words.');
    writeFileSync(at('empty.png'), '');
    writeFileSync(at('page.png'), '<!DOCTYPE html><html>');
    writeFileSync(at('vector.png'), '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    const png = Buffer.from(await encodeImage(gradient, { format: 'png' }));
    const jpeg = Buffer.from(await encodeImage(gradient, { format: 'jpeg' }));
    writeFileSync(at('cut.png'), png.subarray(0, png.length / 2));
    writeFileSync(at('cut.jpg'), jpeg.subarray(0, jpeg.length / 2));
    const expected: [string, string[], string][] = [
      ['missing.png', ['missing_file'], 'File not found'],
      ['words.png', ['unsupported_type'], 'not an image: its content is text. Supported: PNG, JPEG, WEBP'],
      ['empty.png', ['unsupported_type'], 'its content is empty'],
      ['page.png', ['unsupported_type'], 'HTML'],
      ['vector.png', ['unsupported_type'], 'HTML or XML'],
      ['cut.png', ['truncated', 'unreadable'], 'cut.png'],
      ['cut.jpg', ['truncated', 'unreadable'], 'cut.jpg'],
    ];
    for (const [name, codes, words] of expected) {
      const error = await failure(decodeImage(at(name)));
      expect(codes, name).toContain(error.code);
      expect(error.message).toContain(words);
    }
    expect((await failure(decodeImage(folder))).message).toContain('folder');
    expect((await failure(decodeImage(Buffer.from('words')))).message).toMatch(/^The input is not an image/);
  });

  it('limits pixels before it decodes, and bytes before it reads', async () => {
    const png = await encodeImage(gradient, { format: 'png' });
    const error = await failure(decodeImage(png, { maxPixels: 900 }));
    expect([error.code, error.message]).toEqual([
      'too_large',
      expect.stringContaining('40x24, 960 pixels; the limit is 900'),
    ]);
    writeFileSync(at('whole.png'), png);
    expect((await failure(decodeImage(at('whole.png'), { maxBytes: 10 }))).code).toBe('too_large');
    expect((await failure(decodeImage(png, { maxBytes: 10 }))).message).toContain(
      `${readFileSync(at('whole.png')).length} bytes`,
    );
  });
});
