// Layers that leave the GPU between uses, on a GPU: the bits of resident ones in every product of the package's own checkpoint, one by
// one and in graphs of two branches captured twice, in bfloat16 and FP8; then what it costs at a large checkpoint's sizes, and the rate
// of the copies. Arguments: `bits` or `rates`; both where absent. The last line counts.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Backend,
  type Graph,
  type Tensor,
  uploadFloats,
  type Weight,
  type WeightGroup,
} from '../../src/backend/index.js';
import type { CudaBackend } from '../../src/cuda/index.js';
import {
  parseTransformerConfig,
  predictVelocity,
  prefill,
  type Quantization,
  readTransformer,
  type Tower,
  type Transformer,
} from '../../src/models/cosmos3-transformer/index.js';
import { groupRoutes } from '../../src/nn/attention.js';
import { ropeTables } from '../../src/nn/rope.js';
import { embedTimesteps } from '../../src/nn/timestep.js';
import { openCheckpoint } from '../../src/weights/index.js';
import { openGpu } from './open-gpu.js';

const wanted = process.argv[2] ?? '';
let [passed, failed] = [0, 0];

function report(name: string, isRight: boolean, more = ''): void {
  if (isRight) passed++;
  else failed++;
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}${more}`);
}

/** The package's own checkpoint: its folder stands at the root of the tree. */
const checkpointFolder = join(dirname(fileURLToPath(import.meta.url)), '../../checkpoints/micro');

function read(b: Backend, offload: readonly Tower[], quantization: Quantization | null): Transformer {
  using checkpoint = openCheckpoint(checkpointFolder);
  const part = checkpoint.part('transformer');
  const config = parseTransformerConfig(part.config, 'transformer/config.json');
  return readTransformer(b, part.weights(), config, quantization, { offload });
}

/** A step of two branches on `rows` x `rows` patches: what it writes, and the step itself. */
function stepOf(b: Backend, transformer: Transformer, rows: number) {
  const { config } = transformer;
  const side = rows * config.patch;
  const count = rows * rows;
  const shape = [1, side, side, config.latentChannels];
  const values = Float32Array.from({ length: side * side * config.latentChannels }, (_, i) => Math.sin(i * 0.37));
  const latents = uploadFloats(b, values, shape);
  const noisy = uploadFloats(b, new Float32Array(count).fill(1), [count]);
  const line = (of: (i: number) => number) => Float32Array.from({ length: count }, (_, i) => of(i));
  const rope = ropeTables(
    b,
    { t: line(() => 0), h: line((i) => Math.floor(i / rows)), w: line((i) => i % rows) },
    { headDim: config.headDim, theta: config.ropeTheta, axes: config.ropeAxes },
  );
  const routes = groupRoutes(b, [{ queries: [0, count], keys: [[0, count]], weight: 1 }]);
  const row = embedTimesteps(b, transformer.timestep, Float32Array.of(0.6));
  const texts = [Int32Array.of(5, 9, 2, 77, 31), Int32Array.of(3, 1)].map((ids) => prefill(b, transformer, ids));
  const outputs = texts.map(() => b.zeros(shape, 'f32'));
  const run = () => {
    for (const [i, text] of texts.entries())
      b.scope(() => {
        const segments = [{ kind: 'vision' as const, latents, noisy, predicted: true }];
        const [velocity] = predictVelocity(b, transformer, segments, { text, rope, routes }, row);
        b.write(outputs[i] as Tensor, velocity as Tensor);
        return null;
      });
  };
  return { run, outputs };
}

async function bytesOf(b: Backend, outputs: readonly Tensor[]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (const output of outputs) parts.push((await b.download(output)).bytes);
  return Buffer.concat(parts);
}

async function checkBits(quantization: Quantization | null): Promise<void> {
  const name = quantization?.format ?? 'bf16';
  await using b = openGpu('bf16');
  const sizes = [8, 13];
  const resident = read(b, [], quantization);
  const expected: Buffer[] = [];
  for (const rows of sizes) {
    const { run, outputs } = stepOf(b, resident, rows);
    run();
    expected.push(await bytesOf(b, outputs));
  }
  for (const offload of [['und'], ['gen'], ['und', 'gen']] as const) {
    const transformer = read(b, offload, quantization);
    const steps = sizes.map((rows) => stepOf(b, transformer, rows));
    const wrong: string[] = [];
    const compare = async (what: string, i: number) => {
      const found = await bytesOf(b, steps[i]?.outputs ?? []);
      if (!found.equals(expected[i] as Buffer)) wrong.push(what);
    };
    const graphs: Graph[] = [];
    for (const [i, { run }] of steps.entries()) {
      run();
      await compare(`${sizes[i]} one by one`, i);
    }
    for (const { run } of steps) graphs.push(b.capture(run));
    for (const round of [1, 2, 3])
      for (const [i, graph] of graphs.entries()) {
        for (const output of steps[i]?.outputs ?? []) b.write(output, b.zeros(output.shape, 'f32'));
        graph.replay();
        await compare(`${sizes[i]} replay ${round}`, i);
        // Work outside graphs between replays, through the same two slots.
        const again = steps[1 - i];
        again?.run();
        await compare(`${sizes[1 - i]} between replays`, 1 - i);
      }
    for (const graph of graphs) graph[Symbol.dispose]();
    report(
      `${name}, ${offload.join(' and ')} outside: the bits of resident layers`,
      wrong.length === 0,
      wrong.map((x) => `; ${x}`).join(''),
    );
  }
}

const [hidden, inner] = [4096, 12288];
const layerShapes = [
  [6144, hidden],
  [hidden, hidden],
  [2 * inner, hidden],
  [hidden, inner],
] as const;
const layerBytes = layerShapes.reduce((sum, [n, k]) => sum + 2 * n * k, 0);

interface Layer {
  readonly weights: readonly Weight[];
  readonly group: WeightGroup | null;
}

function layersOf(b: CudaBackend, count: number, isOutside: boolean, format: 'dense' | 'fp8'): Layer[] {
  const offload = isOutside ? b.offload() : null;
  return Array.from({ length: count }, (_, i) => {
    const group = offload?.group() ?? null;
    const weights = layerShapes.map((shape, j) =>
      b.randomWeight([{ shape, seed: 4 * i + j, scale: 1e-4 }], 'matrix', { format, ...(group && { group }) }),
    );
    return { weights, group };
  });
}

/** The products of every layer. */
function products(b: Backend, layers: readonly Layer[], x: Tensor, wide: Tensor): void {
  for (const [i, { weights, group }] of layers.entries()) {
    group?.enter(layers[i + 1]?.group ?? undefined);
    for (const [j, weight] of weights.entries())
      b.scope(() => {
        b.matmul(j === 3 ? wide : x, weight);
        return null;
      });
  }
}

async function milliseconds(b: CudaBackend, body: () => void): Promise<number> {
  using graph = b.capture(body);
  const times: number[] = [];
  for (let i = 0; i < 4; i++) {
    using start = b.mark();
    graph.replay();
    using end = b.mark();
    await b.synchronize();
    times.push(b.between(start, end));
  }
  return times.slice(1).sort((p, q) => p - q)[1] ?? 0;
}

async function measureRates(): Promise<void> {
  const count = 8;
  for (const rows of [44160, 5070, 16]) {
    await using b = openGpu('bf16');
    const [x, wide] = [b.zeros([rows, hidden], 'bf16'), b.zeros([rows, inner], 'bf16')];
    const resident = layersOf(b, count, false, 'dense');
    const inside = await milliseconds(b, () => products(b, resident, x, wide));
    for (const { weights } of resident) for (const weight of weights) weight[Symbol.dispose]();
    const start = performance.now();
    const outside = layersOf(b, count, true, 'dense');
    await b.synchronize();
    const moved = performance.now() - start;
    b.resetPeaks();
    const ms = await milliseconds(b, () => products(b, outside, x, wide));
    const { memory, pinnedBytes } = b.report();
    console.log(
      `${count} layers, ${rows} rows: resident ${inside.toFixed(2)} ms, outside ${ms.toFixed(2)} ms (${(100 * (ms / inside - 1)).toFixed(1)} % more; ` +
        `${((count * layerBytes) / ms / 1e6).toFixed(1)} GB/s of copies); moved out in ${(moved / 1000).toFixed(2)} s; ` +
        `peak ${(memory.peakAllocated / 2 ** 30).toFixed(2)} GiB on the device, ${(pinnedBytes / 2 ** 30).toFixed(2)} page-locked`,
    );
    // Copies of all layers but the first hide behind products where these take longer.
    if (rows === 44160)
      report('at 44160 rows all copies but the first are hidden', ms < inside * 1.02 + 1.2 * (layerBytes / 4e7));
  }
}

if (wanted === '' || wanted === 'bits')
  for (const quantization of [null, { format: 'fp8' } as const]) await checkBits(quantization);
if (wanted === '' || wanted === 'rates') await measureRates();
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
