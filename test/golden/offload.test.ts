// Towers whose layers leave the device between uses: every product finds its group entered, the next one is named, values stay.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Backend, type Tensor, uploadFloats, type Weight, type WeightGroup } from '../../src/backend/index.js';
import {
  parseTransformerConfig,
  predictVelocity,
  prefill,
  type Quantization,
  readTransformer,
  type Tower,
} from '../../src/models/cosmos3-transformer/index.js';
import { groupRoutes } from '../../src/nn/attention.js';
import { ropeTables } from '../../src/nn/rope.js';
import { embedTimesteps } from '../../src/nn/timestep.js';
import { openCheckpoint } from '../../src/weights/index.js';
import { createOracle } from '../backend/oracle.js';
import { goldenFolder } from './read-case.js';

/** The oracle with groups: a product with a weight of a group that is not the entered one is an error. */
function createStrictDevice() {
  const oracle = createOracle();
  const owners = new Map<Weight, WeightGroup>();
  const log: string[] = [];
  let entered: WeightGroup | null = null;
  const names = new Map<WeightGroup, string>();
  const b: Backend = {
    ...oracle,
    offload: () => ({
      group() {
        const group: WeightGroup = {
          enter(next) {
            entered = group;
            log.push(`${names.get(group)}>${next ? names.get(next) : '-'}`);
          },
        };
        names.set(group, String(names.size));
        return group;
      },
      release: () => {
        entered = null;
        log.push('release');
      },
      [Symbol.dispose]: () => {},
    }),
    weight(parts, use, { group, ...options } = {}) {
      const made = oracle.weight(parts, use, options);
      if (group) owners.set(made, group);
      return made;
    },
    matmul(x, w, options) {
      if (owners.has(w) && owners.get(w) !== entered) throw new Error('a product outside its group');
      return oracle.matmul(x, w, options);
    },
  };
  return { b, log, groupedWeights: () => owners.size };
}

async function run(b: Backend, offload: readonly Tower[], quantization: Quantization | null, wide: boolean) {
  using checkpoint = openCheckpoint(join(goldenFolder, 'tiny-nano'));
  const part = checkpoint.part('transformer');
  const config = parseTransformerConfig(part.config, 'config.json');
  const transformer = readTransformer(b, part.weights(), config, quantization, { offload });
  const text = prefill(b, transformer, Int32Array.of(5, 9, 2, 77));
  const latents = uploadFloats(
    b,
    Float32Array.from({ length: 128 }, (_, i) => Math.sin(i)),
    [1, 4, 4, 8],
  );
  const line = Float32Array.from({ length: 4 }, (_, i) => i);
  const rope = ropeTables(
    b,
    { t: line, h: line, w: line },
    { headDim: config.headDim, theta: config.ropeTheta, axes: config.ropeAxes },
  );
  const noisy = uploadFloats(b, new Float32Array(4).fill(1), [4]);
  const [velocity] = predictVelocity(
    b,
    transformer,
    [{ kind: 'vision', latents, noisy, predicted: true }],
    { text, rope, routes: groupRoutes(b, [{ queries: [0, 4], keys: [[0, 4]], weight: 1 }]) },
    embedTimesteps(b, transformer.timestep, Float32Array.of(0.5)),
    { wide },
  );
  return Buffer.from((await b.download(velocity as Tensor)).bytes);
}

const wideSteps: Quantization = { format: 'fp8', keepWide: true, wideFirstSteps: 1 };

describe.each([
  { offload: ['und', 'gen'] as const, log: '0>2 2>4 4>- release 1>3 3>5 5>-', weights: 24 },
  { offload: ['und'] as const, log: '0>1 1>2 2>- release', weights: 12 },
  { offload: ['gen'] as const, log: 'release 0>1 1>2 2>-', weights: 12 },
])('with $offload outside', ({ offload, log, weights }) => {
  it.each([
    { quantization: null, wide: false, kept: 0 },
    { quantization: { format: 'fp8' } as const, wide: false, kept: 0 },
    { quantization: wideSteps, wide: true, kept: offload.some((tower) => tower === 'gen') ? 12 : 0 },
  ])('layers are entered in order and give the same velocity: $quantization', async ({ quantization, wide, kept }) => {
    const wanted = await run(createOracle(), [], quantization, wide);
    const strict = createStrictDevice();
    expect((await run(strict.b, offload, quantization, wide)).equals(wanted)).toBe(true);
    expect(strict.log.join(' ')).toBe(log);
    expect(strict.groupedWeights()).toBe(weights + kept);
  });
});

it('towers that stay ask for no groups', async () => {
  const strict = createStrictDevice();
  await run(strict.b, [], null, false);
  expect([strict.log, strict.groupedWeights()]).toEqual([[], 0]);
});
