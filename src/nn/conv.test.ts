// Causal convolutions in windows, weight normalisation, and chains, by hand-computed values.
import { describe, expect, it } from 'vitest';
import { createOracle } from '../../test/backend/oracle.js';
import { type Tensor, uploadFloats } from '../backend/index.js';
import type { StoredWeight, WeightReader } from '../weights/index.js';
import { chain } from './chain.js';
import { type Conv, causalConv, FrameHistory, normedCausalConv } from './conv.js';
import { conv1d, convTranspose1d, hostFloats, readNormedConvTranspose1d, readWeightNorm } from './conv1d.js';

const b = createOracle();

async function floats(x: Tensor): Promise<number[]> {
  return [...new Float32Array((await b.download(x)).bytes.slice().buffer)];
}

/** One channel, kernel 3x1x1: the frame two before, one before, and the frame itself by 1, 10, 100. */
function causal(): Conv {
  return {
    weight: b.weight([hostFloats(Float32Array.of(1, 10, 100), [1, 1, 3, 1, 1])], 'convolution'),
    bias: b.zeros([1], 'f32'),
  };
}

const frames = (...values: number[]) => uploadFloats(b, Float32Array.from(values), [values.length, 1, 1, 1]);

describe('causalConv', () => {
  it('sees zeros before the clip', async () => {
    using history = new FrameHistory(b);
    expect(await floats(causalConv(b, causal(), frames(1, 2, 3), history))).toEqual([100, 210, 321]);
  });

  it('walks a clip in windows of any size', async () => {
    using history = new FrameHistory(b);
    const layer = causal();
    history.hold(layer, 2, 1, 1);
    const results: number[] = [];
    for (const window of [[1], [2], [3, 4, 5], [6]]) {
      results.push(...(await floats(causalConv(b, layer, history.join(layer, frames(...window)), history))));
      history.begin();
    }
    expect(results).toEqual([100, 210, 321, 432, 543, 654]);
  });

  it('has the norm write behind the history', async () => {
    using history = new FrameHistory(b);
    const layer = causal();
    history.hold(layer, 2, 1, 1);
    const norm = { weight: uploadFloats(b, Float32Array.of(1), [1]), eps: 0 };
    const silu = (x: number) => x / (1 + Math.exp(-x));
    normedCausalConv(b, norm, layer, frames(3), history); // normed to 1
    history.begin();
    const [first = 0, second = 0] = await floats(normedCausalConv(b, norm, layer, frames(-2, 5), history)); // -1, 1
    expect(first).toBeCloseTo(10 * silu(1) + 100 * silu(-1), 4);
    expect(second).toBeCloseTo(silu(1) + 10 * silu(-1) + 100 * silu(1), 4);
  });
});

/** A reader over tensors given as values. */
function readerOf(tensors: Readonly<Record<string, number[]>>): Pick<WeightReader, 'read'> {
  return {
    read: (name, shape): StoredWeight => {
      const { dtype, bytes } = hostFloats(Float32Array.from(tensors[name] ?? []), shape);
      return { name, dtype, shape, bytes };
    },
  };
}

describe('weight normalisation', () => {
  const tensors = { 'w.weight_g': [10, 2], 'w.weight_v': [3, 4, 0, -5], 'w.bias': [0] };

  it('scales each row to its gain', () => {
    const reader = readerOf(tensors) as WeightReader;
    const { shape, bytes } = readWeightNorm(reader, 'w', [2, 1, 2]);
    expect(shape).toEqual([2, 1, 2]);
    expect([...new Float32Array(bytes.slice().buffer)]).toEqual([6, 8, 0, -2]);
  });

  it('takes rows of a transposed convolution along its input channels', async () => {
    const reader = readerOf(tensors) as WeightReader;
    const layer = readNormedConvTranspose1d(b, reader, 'w', { input: 2, output: 1, stride: 1 });
    // kernel 2, stride 1, padding 1, output padding 1: y[t] = sum_c x[t+1, c] w[c, 0] + x[t, c] w[c, 1]
    const x = uploadFloats(b, Float32Array.of(1, 0, 0, 1, 1, 1), [3, 2]);
    expect(await floats(convTranspose1d(b, layer, x))).toEqual([8, 6 - 2, 8 - 2]);
  });
});

it('conv1d strides, pads and dilates along the line', async () => {
  const layer = { weight: b.weight([hostFloats(Float32Array.of(1, 10), [1, 1, 1, 1, 2])], 'convolution') };
  const x = uploadFloats(b, Float32Array.of(1, 2, 3, 4), [4, 1]);
  expect(await floats(conv1d(b, layer, x, { dilation: 2 }))).toEqual([31, 42]);
  expect(await floats(conv1d(b, layer, x, { stride: 2, padding: 1 }))).toEqual([10, 32, 4]);
});

it('chain frees each result but the last, and leaves its input', async () => {
  const x = frames(1);
  const seen: Tensor[] = [];
  const double = (y: Tensor) => {
    seen.push(y);
    return b.add(y, y);
  };
  expect(await floats(chain(b, x, [double, double, double]))).toEqual([8]);
  expect(await floats(x)).toEqual([1]);
  const freed = seen.slice(1);
  expect(freed).toHaveLength(2);
  for (const y of freed) await expect(async () => b.download(y)).rejects.toThrow('used after its scope ended');
});
