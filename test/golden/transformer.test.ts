// One denoise step of the transformer against the golden velocities: first step, every kind of sequence.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Backend, type Tensor, uploadFloats } from '../../src/backend/index.js';
import {
  type GenSegment,
  parseTransformerConfig,
  predictVelocity,
  prefill,
  type Quantization,
  readActionProjection,
  readTransformer,
  type Transformer,
} from '../../src/models/cosmos3-transformer/index.js';
import { groupRoutes } from '../../src/nn/attention.js';
import { ropeTables } from '../../src/nn/rope.js';
import { embedTimesteps } from '../../src/nn/timestep.js';
import {
  type ItemLayout,
  itemRows,
  jointRoutes,
  noisyRows,
  sequencePositions,
} from '../../src/pipeline/conditioning/sequence.js';
import { openCheckpoint } from '../../src/weights/index.js';
import { createOracle } from '../backend/oracle.js';
import { goldenFolder, readCase } from './read-case.js';
import { relativeL2 } from './relative-l2.js';

function load(name: string, quantization: Quantization | null): { b: Backend; transformer: Transformer } {
  const b = createOracle();
  const part = openCheckpoint(join(goldenFolder, name)).part('transformer');
  const config = parseTransformerConfig(part.config, `${name}/transformer/config.json`);
  return { b, transformer: readTransformer(b, part.weights(), config, quantization) };
}

/** `[1, C, T, H, W]` to `[T, H, W, C]` on the device. */
function channelsLast(b: Backend, values: Float32Array, shape: readonly number[]): Tensor {
  return b.permute(uploadFloats(b, values, shape.slice(1)), [1, 2, 3, 0]);
}

async function floats(b: Backend, x: Tensor): Promise<Float32Array> {
  const { bytes } = await b.download(x);
  return new Float32Array(bytes.slice().buffer);
}

interface Step {
  readonly name: string;
  readonly checkpoint: string;
  readonly branch: 'cond' | 'uncond';
  readonly fps: number;
  readonly cleanFrames?: readonly number[];
  readonly domain?: number;
  readonly quantization?: Quantization;
  readonly wide?: boolean;
}

async function firstStep(step: Step) {
  const { name, checkpoint, branch, fps, cleanFrames = [], domain, quantization = null, wide = false } = step;
  const golden = readCase(name);
  const { b, transformer } = load(checkpoint, quantization);
  const { config } = transformer;
  const ids = Int32Array.from(golden.integers(`${branch}/input_ids`));
  const text = prefill(b, transformer, ids);
  const shape = golden.shape('noise/vision');
  const vision = channelsLast(b, golden.floats('noise/vision'), shape);
  const items: ItemLayout[] = [{ kind: 'vision', shape: vision.shape, fps }];
  const mask = (item: ItemLayout, clean: readonly number[]) =>
    uploadFloats(b, noisyRows(item, config.patch, clean), [itemRows(item, config.patch)]);
  const segments: GenSegment[] = [
    { kind: 'vision', latents: vision, noisy: mask(items[0] as ItemLayout, cleanFrames), predicted: true },
  ];
  if (golden.has('noise/sound')) {
    const latents = b.permute(uploadFloats(b, golden.floats('noise/sound'), golden.shape('noise/sound')), [1, 0]);
    const item: ItemLayout = { kind: 'sound', shape: latents.shape };
    items.push(item);
    segments.push({ kind: 'sound', latents, noisy: mask(item, []), predicted: true });
  }
  if (domain !== undefined) {
    const values = golden.floats('noise/action').map((v, i) => (i % 32 < 10 ? v : 0));
    const latents = uploadFloats(b, values, golden.shape('noise/action'));
    const item: ItemLayout = { kind: 'action', shape: latents.shape, fps, offset: 1 };
    items.push(item);
    segments.push({
      kind: 'action',
      latents,
      noisy: mask(item, []),
      predicted: true,
      projection: readActionProjection(b, transformer, domain),
    });
  }
  const positions = sequencePositions(items, config, { textTokens: ids.length, shareTemporalPositions: true });
  const rope = ropeTables(b, positions, { headDim: config.headDim, theta: config.ropeTheta, axes: config.ropeAxes });
  const routes = groupRoutes(b, jointRoutes(positions.t.length));
  const t = Math.fround((golden.floats('timesteps')[0] ?? 0) * config.timestepScale);
  const row = embedTimesteps(b, transformer.timestep, Float32Array.of(t));
  const velocities = predictVelocity(b, transformer, segments, { text, rope, routes }, row, { wide });
  return { golden, b, velocities, positions, textTokens: ids.length };
}

describe('the first step of', () => {
  const steps: Step[] = [
    { name: 't2i', checkpoint: 'tiny-nano', branch: 'cond', fps: 24 },
    { name: 't2i', checkpoint: 'tiny-nano', branch: 'uncond', fps: 24 },
    { name: 't2v', checkpoint: 'tiny-nano', branch: 'cond', fps: 24 },
    { name: 't2v_nocfg', checkpoint: 'tiny-nano', branch: 'cond', fps: 16 },
    { name: 't2vs', checkpoint: 'tiny-nano', branch: 'cond', fps: 24 },
    { name: 'edge_t2v', checkpoint: 'tiny-edge', branch: 'cond', fps: 24 },
  ];
  for (const step of steps) {
    it(`${step.name} ${step.branch} has the golden positions and velocity`, async () => {
      const { golden, b, velocities, positions, textTokens } = await firstStep(step);
      const expected = golden.floats(`${step.branch}/position_ids`);
      const total = golden.shape(`${step.branch}/position_ids`)[1] ?? 0;
      for (const [axis, key] of (['t', 'h', 'w'] as const).entries())
        for (const [i, value] of positions[key].entries())
          expect(Math.abs(value - (expected[axis * total + textTokens + i] ?? 0))).toBeLessThanOrEqual(1e-3);
      const [vision, sound] = velocities;
      if (!vision) throw new Error('no velocity');
      const channelsFirst = b.permute(vision, [3, 0, 1, 2]);
      const wanted = golden.floats(`step00/${step.branch}/velocity`);
      expect(relativeL2(await floats(b, channelsFirst), wanted)).toBeLessThan(1e-5);
      if (sound) {
        const wantedSound = golden.floats(`step00/${step.branch}/velocity_sound`);
        expect(relativeL2(await floats(b, b.permute(sound, [1, 0])), wantedSound)).toBeLessThan(1e-5);
      }
    });
  }
});

describe('the first step in FP8', () => {
  const fp8: Quantization = { format: 'fp8' };
  const error = async (step: Partial<Step>) => {
    const { golden, b, velocities } = await firstStep({
      name: 't2v',
      checkpoint: 'tiny-nano',
      branch: 'cond',
      fps: 24,
      ...step,
    });
    const [vision] = velocities;
    if (!vision) throw new Error('no velocity');
    return relativeL2(await floats(b, b.permute(vision, [3, 0, 1, 2])), golden.floats('step00/cond/velocity'));
  };

  it('stays near the golden velocity, nearer the more is left wide', async () => {
    const all = await error({ quantization: fp8 });
    const weightsAlone = await error({ quantization: fp8, wide: true });
    const keptWide = await error({
      quantization: { ...fp8, excludeTowers: ['und'], keepWide: true, wideFirstSteps: 1 },
      wide: true,
    });
    expect(all).toBeGreaterThan(1e-3);
    expect(all).toBeLessThan(0.1);
    expect(weightsAlone).toBeLessThan(all);
    expect(keptWide).toBeLessThan(1e-5);
  });

  it('takes squared ReLU and its norm of text keys', async () => {
    const edge = await error({ name: 'edge_t2v', checkpoint: 'tiny-edge', quantization: fp8 });
    expect(edge).toBeGreaterThan(1e-3);
    expect(edge).toBeLessThan(0.1);
  });

  it('quantises the projections that are not excluded', async () => {
    const some = await error({ quantization: { ...fp8, excludeProjections: ['gate_up', 'down'] } });
    const all = await error({ quantization: fp8 });
    expect(some).toBeGreaterThan(1e-4);
    expect(some).toBeLessThan(all);
  });
});
