import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { goldenFolder, readCase } from '../../test/golden/read-case.js';
import { roundToByte } from './interpolate.js';
import { actionCanvas, bilinearCover, coverBilinear, mapFrames, resizeBilinear, resizeCubic } from './resize.js';
import { frameOf, imageAsClip, type RgbClip, type RgbImage } from './types.js';

/** A picture whose red channel is given row by row, green is red + 1, blue is 7. */
function picture(rows: readonly (readonly number[])[]): RgbImage {
  const width = rows[0]?.length ?? 0;
  return { width, height: rows.length, data: Uint8Array.from(rows.flat().flatMap((red) => [red, red + 1, 7])) };
}

function reds(image: RgbImage): number[][] {
  return Array.from({ length: image.height }, (_, y) =>
    Array.from({ length: image.width }, (_, x) => image.data[(y * image.width + x) * 3] as number),
  );
}

function crop(image: RgbImage, width: number, height: number): RgbImage {
  const rows = Array.from({ length: height }, (_, y) =>
    image.data.subarray(y * image.width * 3).subarray(0, width * 3),
  );
  return { width, height, data: Uint8Array.from(rows.flatMap((row) => [...row])) };
}

/** [3, F, H, W] as a clip. */
function unplanar(planar: Uint8Array, frames: number, height: number, width: number): RgbClip {
  const size = frames * height * width;
  const data = Uint8Array.from(planar, (_, i) => planar[(i % 3) * size + Math.floor(i / 3)] as number);
  return { width, height, frames, fps: null, data };
}

describe('coverBilinear', () => {
  it('equals the reference on the golden picture, value by value', async () => {
    const { data, info } = await sharp(`${goldenFolder}/media/reference.png`)
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const found = coverBilinear({ width: info.width, height: info.height, data }, 160, 96);
    const expected = readCase('i2v').bytes('vision_condition_pixels_u8'); // [1, 3, 1, 96, 160]
    let differing = 0;
    for (let i = 0; i < expected.length; i++) {
      const [channel, pixel] = [Math.floor(i / (96 * 160)), i % (96 * 160)];
      if (found.data[3 * pixel + channel] !== expected[i]) differing++;
    }
    expect(differing).toBe(0);
  });

  it('averages with the widened triangle when it shrinks', () => {
    // Halving [0, 0, 100, 100]: weights (1,3,3,1)/8 inside, (3,3,1)/7 at the borders.
    const found = coverBilinear(
      picture([
        [0, 0, 100, 100],
        [0, 0, 100, 100],
      ]),
      2,
      1,
    );
    expect(reds(found)).toEqual([[14, 86]]);
  });

  it('computes only the crop of a picture that is enlarged without bound', () => {
    const line: RgbImage = { width: 1, height: 4000, data: new Uint8Array(12000).fill(9) };
    const found = coverBilinear(line, 1280, 720);
    expect([found.width, found.height, found.data.every((value) => value === 9)]).toEqual([1280, 720, true]);
  });

  it('rounds the crop offset half to even', () => {
    // 5 wide to 2 wide: offset 1.5 becomes 2; 3 wide to 2 wide: offset 0.5 becomes 0.
    expect(reds(coverBilinear(picture([[10, 20, 30, 40, 50]]), 2, 1))).toEqual([[30, 40]]);
    expect(reds(coverBilinear(picture([[10, 20, 30]]), 2, 1))).toEqual([[10, 20]]);
  });

  it('copies a picture that already fits and refuses senseless sizes', () => {
    const image = picture([
      [1, 2],
      [3, 4],
    ]);
    const copy = coverBilinear(image, 2, 2);
    expect(copy).toEqual(image);
    expect(copy.data).not.toBe(image.data);
    expect(() => coverBilinear(image, 0, 2)).toThrow('0x2');
    expect(() => coverBilinear(image, 2, 1.5)).toThrow('2x1.5');
  });
});

describe('bilinearCover and resizeBilinear', () => {
  it('take two neighbours and do not average when they shrink', () => {
    // Quartering: centres 1.5 and 5.5 lie between samples 1|2 and 5|6.
    const row = [0, 10, 20, 30, 40, 50, 60, 80];
    expect(reds(resizeBilinear(picture([row]), 2, 1))).toEqual([[15, 55]]);
    expect(reds(bilinearCover(picture([row, row, row, row]), 2, 1))).toEqual([[15, 55]]);
  });

  it('interpolate when they enlarge, with the border repeated', () => {
    expect(reds(resizeBilinear(picture([[0, 100]]), 4, 1))).toEqual([[0, 25, 75, 100]]);
    expect(
      reds(
        resizeBilinear(
          picture([
            [0, 100],
            [100, 200],
          ]),
          2,
          4,
        ),
      ),
    ).toEqual([
      [0, 100],
      [25, 125],
      [75, 175],
      [100, 200],
    ]);
  });

  it('cover from the centre', () => {
    expect(reds(bilinearCover(picture([[10, 20, 30, 40]]), 2, 1))).toEqual([[20, 30]]);
  });
});

describe('resizeCubic', () => {
  it('equals the reference, value by value', () => {
    const golden = readCase('opencv_controls');
    for (const [factor, width, height] of [
      [10, 16, 9],
      [16, 10, 6],
    ] as const) {
      const small = { width, height, data: golden.bytes(`area_down${factor}`) };
      expect(Buffer.compare(resizeCubic(small, 160, 96).data, golden.bytes(`bicubic_up${factor}`))).toBe(0);
    }
  });

  it('works on axes shorter than its four taps', () => {
    expect(reds(resizeCubic(picture([[50]]), 3, 2))).toEqual([
      [50, 50, 50],
      [50, 50, 50],
    ]);
    // Weights at t = 0.25: -0.10546875, 0.87890625, 0.26171875, -0.03515625; 0.2265625·128 = 29, 1.10546875·128 = 141.5.
    const [row] = reds(resizeCubic(picture([[0, 128]]), 4, 1));
    expect(row).toEqual([0, 29, 99, 142]);
  });
});

describe('actionCanvas', () => {
  it.each([
    ['action_fd', 176, 128],
    ['action_policy', 176, 128],
    ['action_id', 160, 112],
  ])('fills up as the reference does in %s', (name, contentWidth, contentHeight) => {
    const golden = readCase(name);
    const key = 'vision_condition_pixels_u8';
    const [, , frames = 0, height = 0, width = 0] = golden.shape(key); // [1, 3, F, H, W]
    const expected = unplanar(golden.bytes(key), frames, height, width);
    const content = mapFrames(expected, contentWidth, contentHeight, (frame) =>
      crop(frame, contentWidth, contentHeight),
    );
    const found = actionCanvas(content, width, height);
    expect(Buffer.compare(found.canvas.data, expected.data)).toBe(0);
    expect(found).toMatchObject({ contentWidth, contentHeight });
  });

  it('reflects without repeating the border', () => {
    const { canvas, contentWidth, contentHeight } = actionCanvas(
      picture([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      5,
      3,
    );
    expect(reds(canvas)).toEqual([
      [1, 2, 3, 2, 1],
      [4, 5, 6, 5, 4],
      [1, 2, 3, 2, 1],
    ]);
    expect([contentWidth, contentHeight]).toEqual([3, 2]);
  });

  it('repeats the border on both axes as soon as one fill is not smaller than the content', () => {
    const { canvas } = actionCanvas(
      picture([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      5,
      4,
    );
    expect(reds(canvas)).toEqual([
      [1, 2, 3, 3, 3],
      [4, 5, 6, 6, 6],
      [4, 5, 6, 6, 6],
      [4, 5, 6, 6, 6],
    ]);
  });

  it('never enlarges and shrinks by the smaller ratio, rounding half up', () => {
    const wide: RgbImage = { width: 640, height: 360, data: new Uint8Array(640 * 360 * 3).fill(80) };
    const { canvas, contentWidth, contentHeight } = actionCanvas(wide, 320, 192);
    expect([contentWidth, contentHeight]).toEqual([320, 180]);
    expect([canvas.width, canvas.height, canvas.data.every((value) => value === 80)]).toEqual([320, 192, true]);
    expect(actionCanvas({ width: 5, height: 3, data: new Uint8Array(45) }, 4, 4)).toMatchObject({
      contentWidth: 4,
      contentHeight: 2,
    });
  });

  it('shrinks with the antialiased Keys cubic', () => {
    // Halving an edge: weights at distances 1/4, 3/4, 5/4, 7/4 are 0.8672, 0.2266, -0.0703, -0.0234 before normalising.
    const row = [0, 0, 0, 0, 200, 200, 200, 200];
    const { canvas } = actionCanvas(picture([row, row]), 4, 1);
    expect(reds(canvas)).toEqual([[0, 1, 2, 3].map((i) => expectedCubic(row, i))]);
  });

  it('takes clips frame by frame', () => {
    const clip = {
      width: 2,
      height: 1,
      frames: 2,
      fps: 10,
      data: Uint8Array.from([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]),
    };
    const { canvas } = actionCanvas(clip, 3, 1);
    expect(canvas).toMatchObject({ width: 3, height: 1, frames: 2, fps: 10 });
    expect([reds(frameOf(canvas, 0)), reds(frameOf(canvas, 1))]).toEqual([[[1, 2, 1]], [[3, 4, 3]]]);
  });
});

/** The cubic computed straight from its definition for position `i` of a row halved. */
function expectedCubic(row: readonly number[], i: number): number {
  let sum = 0;
  let total = 0;
  row.forEach((value, j) => {
    const d = Math.abs(j + 0.5 - (i + 0.5) * 2) / 2;
    const weight = d < 1 ? 1.5 * d ** 3 - 2.5 * d ** 2 + 1 : d < 2 ? -0.5 * d ** 3 + 2.5 * d ** 2 - 4 * d + 2 : 0;
    sum += weight * value;
    total += weight;
  });
  return Math.round(Math.min(255, Math.max(0, sum / total)));
}

describe('types', () => {
  it('rounds half to even into bytes', () => {
    expect([0.5, 1.5, 2.5, 254.5, -3, 999, 7.49].map(roundToByte)).toEqual([0, 2, 2, 254, 0, 255, 7]);
  });

  it('views frames without copying', () => {
    const clip = imageAsClip(picture([[5, 6]]));
    expect(clip.frames).toBe(1);
    expect(frameOf(clip, 0).data.buffer).toBe(clip.data.buffer);
    expect(() => frameOf(clip, 1)).toThrow('frame 1');
  });
});
