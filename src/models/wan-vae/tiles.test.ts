// Where tiles lie, and that blending tiles cut from one picture gives that picture.

import { describe, expect, it } from 'vitest';
import { createOracle } from '../../../test/backend/oracle.js';
import { uploadFloats } from '../../backend/index.js';

import { blendTiles, defaultTiling, tiledPixels, tileSpans } from './tiles.js';

/** The reference's. */
const small = { size: 256, stride: 192 };

describe('the usual tiles', () => {
  it('decode at most 15 % more pixels of the usual large pictures, in pieces of at most two fifths', () => {
    for (const [width, height] of [
      [1280, 720],
      [720, 1280],
      [832, 480],
      [1104, 832],
      [960, 960],
    ] as const) {
      const pixels = tiledPixels({ width, height }, defaultTiling, 16) ?? 0;
      expect(pixels / (width * height)).toBeGreaterThan(1);
      expect(pixels / (width * height)).toBeLessThanOrEqual(1.151);
    }
    expect(defaultTiling.size ** 2 / (1280 * 720)).toBeLessThan(0.4);
    expect(tiledPixels({ width: 512, height: 320 }, defaultTiling, 16)).toBeNull();
  });
});

describe('tileSpans', () => {
  it('covers a length with full tiles and one last piece', () => {
    expect(tileSpans(45, small, 16)).toEqual([
      { start: 0, end: 16 },
      { start: 12, end: 28 },
      { start: 24, end: 40 },
      { start: 36, end: 45 },
    ]);
  });

  it('adds no tile that lies inside another', () => {
    expect(tileSpans(28, small, 16)).toEqual([
      { start: 0, end: 16 },
      { start: 12, end: 28 },
    ]);
    expect(tileSpans(16, small, 16)).toEqual([{ start: 0, end: 16 }]);
    expect(tileSpans(5, small, 16)).toEqual([{ start: 0, end: 5 }]);
  });

  it.each([
    [250, 192],
    [256, 0],
    [128, 192],
    [256, 112],
  ])('refuses tiles of %i at stride %i', (size, stride) => {
    expect(() => tileSpans(40, { size, stride }, 16)).toThrow(`tiles of ${size} pixels at stride ${stride}`);
  });
});

describe('blendTiles', () => {
  const b = createOracle();
  const floats = async (x: Parameters<typeof b.download>[0]) =>
    new Float32Array((await b.download(x)).bytes.slice().buffer);

  it('gives back the picture that tiles were cut from', async () => {
    const [height, width] = [7, 11];
    const picture = uploadFloats(
      b,
      Float32Array.from({ length: 2 * height * width * 3 }, (_, i) => Math.cos(i)),
      [2, height, width, 3],
    );
    const cut = (length: number) => tileSpans(length, { size: 5, stride: 3 }, 1);
    const tiles = cut(height).map((row) =>
      cut(width).map((column) => b.slice(b.slice(picture, 1, row.start, row.end), 2, column.start, column.end)),
    );
    const blended = blendTiles(b, tiles, 2);
    expect(blended.shape).toEqual(picture.shape);
    const wanted = await floats(picture);
    for (const [i, value] of (await floats(blended)).entries()) expect(value).toBeCloseTo(wanted[i] as number, 6);
  });

  it('passes from one tile to the next by equal steps', async () => {
    const flat = (value: number) => uploadFloats(b, new Float32Array(6).fill(value), [1, 1, 6, 1]);
    const row = await floats(blendTiles(b, [[flat(0), flat(8)]], 4));
    expect([...row]).toEqual([0, 0, 0, 2, 4, 6, 8, 8]);
    const column = [0, 8].map((value) => [b.view(flat(value), [1, 6, 1, 1])]);
    expect([...(await floats(blendTiles(b, column, 4)))]).toEqual([0, 0, 0, 2, 4, 6, 8, 8]);
  });

  it('sets tiles without overlap side by side', async () => {
    const flat = (value: number) => uploadFloats(b, new Float32Array(2).fill(value), [1, 1, 2, 1]);
    expect([...(await floats(blendTiles(b, [[flat(1), flat(2)]], 0)))]).toEqual([1, 1, 2, 2]);
  });
});
