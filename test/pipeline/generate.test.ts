// What the pipeline promises beyond the golden cases: equalities between runs that must mean the same.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CpuBackend } from '../../src/cpu/index.js';
import { makeSchedule } from '../../src/pipeline/denoise/schedule.js';
import type { Networks } from '../../src/pipeline/networks.js';
import type { GenerationRequest, HintKind } from '../../src/pipeline/request.js';
import { createOracle } from '../backend/oracle.js';
import { relativeL2 } from '../golden/relative-l2.js';
import { inputFacts, planOf } from './plan-facts.js';
import { controlInputs, cpuNetworks, networksOn, noInputs, runPlan, testClip } from './run-plan.js';

const small = { width: 64, height: 48, frames: 5, steps: 3, seed: 7 } satisfies Partial<GenerationRequest>;
const tiny = { checkpoint: { actionDim: 32 } };
let networks: Networks;
let backend: CpuBackend;

beforeAll(async () => {
  ({ networks, backend } = await cpuNetworks());
});
afterAll(() => backend[Symbol.asyncDispose]());

function transferPlan(hints: readonly { kind: HintKind; weight?: number }[], more: Partial<GenerationRequest> = {}) {
  const { transfer, ...rest } = more;
  const source = { kind: 'frames', clip: testClip(64, 48, 5) } as const;
  return planOf(
    {
      ...small,
      task: 'transfer',
      guidance: 3,
      fps: 24,
      reference: { grid: 'native' },
      transfer: {
        chunkFrames: 5,
        controlGuidance: 1.5,
        emphasizeControl: false,
        ...transfer,
        hints: hints.map((hint) => ({ ...hint, source })),
      },
      ...rest,
    },
    {
      ...tiny,
      hints: hints.map(() => inputFacts(64, 48, 5, 24)),
      video: more.video ? inputFacts(64, 48, 5, 24) : null,
    },
  );
}

describe('a run', () => {
  it('repeats bit for bit, and with another number of threads', async () => {
    const plan = planOf(small, tiny);
    const first = await runPlan(plan, networks);
    const second = await runPlan(plan, networks);
    const alone = await cpuNetworks(1);
    const third = await runPlan(plan, alone.networks);
    await alone.backend[Symbol.asyncDispose]();
    expect(first.frames).toBe(5);
    expect(Buffer.compare(first.rgb, second.rgb)).toBe(0);
    expect(third.latents['vision/0']).toEqual(first.latents['vision/0']);
    expect(Buffer.compare(first.rgb, third.rgb)).toBe(0);
  });

  it('changes with the seed', async () => {
    const first = await runPlan(planOf(small, tiny), networks);
    const other = await runPlan(planOf({ ...small, seed: 8 }, tiny), networks);
    expect(relativeL2(first.latents['vision/0'] ?? [], other.latents['vision/0'] ?? [])).toBeGreaterThan(0.1);
  });

  it('gives back all device memory', async () => {
    const plan = planOf({ ...small, sound: true }, tiny);
    await runPlan(plan, networks);
    const before = backend.usedBytes();
    await runPlan(plan, networks);
    expect(backend.usedBytes()).toBe(before);
  });

  it('agrees with plain loops', async () => {
    const plan = planOf({ ...small, frames: 1, task: 'text-to-image' }, tiny);
    const mine = await runPlan(plan, networks);
    const theirs = await runPlan(plan, networksOn(createOracle()));
    expect(relativeL2(mine.latents['vision/0'] ?? [], theirs.latents['vision/0'] ?? [])).toBeLessThan(1e-5);
  });

  it('stops between steps when its signal is aborted', async () => {
    const stop = new AbortController();
    let steps = 0;
    const recorder = {
      record: (key: string) => {
        if (/vision\/latents$/.test(key) && !key.includes('start') && ++steps === 2) stop.abort(new Error('enough'));
      },
    };
    await expect(runPlan(planOf(small, tiny), networks, noInputs, { signal: stop.signal, recorder })).rejects.toThrow(
      'enough',
    );
    expect(steps).toBe(2);
  });
});

describe('skipped steps', () => {
  const steps = 6;
  it('are nearer to the whole run when extrapolated than when held', async () => {
    const whole = await runPlan(planOf({ ...small, steps }, tiny), networks);
    const distance = async (skipMode: 'hold' | 'extrapolate') => {
      const run = await runPlan(planOf({ ...small, steps, skipSteps: [2, 4], skipMode }, tiny), networks);
      expect(run.steps).toBe(steps);
      return relativeL2(run.latents['vision/0'] ?? [], whole.latents['vision/0'] ?? []);
    };
    const held = await distance('hold');
    expect(held).toBeGreaterThan(0);
    expect(await distance('extrapolate')).toBeLessThan(held);
  });
});

describe('a guidance interval', () => {
  it('outside all timesteps is no guidance', async () => {
    const guided = await runPlan(planOf({ ...small, guidance: 6, guidanceInterval: [0, 1] }, tiny), networks);
    const plain = await runPlan(planOf({ ...small, guidance: 1 }, tiny), networks);
    expect(guided.latents['vision/0']).toEqual(plain.latents['vision/0']);
  });

  it('of a single timestep guides that step alone', async () => {
    const plan = planOf({ ...small, guidance: 6 }, tiny);
    const timestep = makeSchedule(plan).timesteps[1] ?? 0;
    const guided = await runPlan(
      planOf({ ...small, guidance: 6, guidanceInterval: [timestep, timestep] }, tiny),
      networks,
    );
    const plain = await runPlan(planOf({ ...small, guidance: 1 }, tiny), networks);
    expect(relativeL2(guided.latents['vision/0'] ?? [], plain.latents['vision/0'] ?? [])).toBeGreaterThan(1e-4);
  });
});

describe('image-to-video and video-to-video', () => {
  const clip = testClip(64, 48, 9);
  const image = { ...clip, frames: 1, data: clip.data.subarray(0, 64 * 48 * 3) };

  it('keep the given latent frames as they were encoded', async () => {
    const source = { kind: 'frames', clip } as const;
    const plan = planOf({ ...small, frames: 13, video: source }, { ...tiny, video: inputFacts(64, 48, 9, 24) });
    expect(plan.condition?.latentFrames).toEqual([0, 1]);
    const recorded = new Map<string, Float32Array>();
    const recorder = {
      record: (key: string, _: readonly number[], values: Float32Array) => recorded.set(key, values.slice()),
    };
    const run = await runPlan(plan, networks, { image: null, video: clip, controls: new Map() }, { recorder });
    const encoded = recorded.get('0/encoded/0') ?? new Float32Array(); // [C, 2, 3, 4]
    const final = run.latents['vision/0'] ?? new Float32Array(); // [4, 3, 4, C]
    const channels = 8;
    for (let c = 0; c < channels; c++)
      for (let i = 0; i < 2 * 12; i++) expect(final[i * channels + c]).toBe(encoded[c * 24 + i]);
  });

  it('take their frames from the last end when asked', async () => {
    const source = { kind: 'frames', clip } as const;
    const facts = { ...tiny, video: inputFacts(64, 48, 9, 24) };
    const last = planOf({ ...small, video: source, conditionKeep: 'last' }, facts);
    const first = planOf({ ...small, video: source }, facts);
    const tail = { ...clip, frames: 5, data: clip.data.subarray(4 * 64 * 48 * 3) };
    const a = await runPlan(last, networks, { image: null, video: clip, controls: new Map() });
    const b = await runPlan(first, networks, { image: null, video: tail, controls: new Map() });
    expect(a.latents['vision/0']).toEqual(b.latents['vision/0']);
  });

  it('encode one frame for a picture, and nothing for a prompt', async () => {
    const count = async (request: Partial<GenerationRequest>, given: typeof image | null) => {
      const keys: string[] = [];
      const facts = given ? { ...tiny, image: inputFacts(64, 48) } : tiny;
      const shapes: (readonly number[])[] = [];
      const recorder = {
        record: (key: string, shape: readonly number[]) => {
          if (key.includes('encoded')) shapes.push(shape);
          keys.push(key);
        },
      };
      await runPlan(
        planOf({ ...small, ...request }, facts),
        networks,
        { image: given, video: null, controls: new Map() },
        { recorder },
      );
      return shapes;
    };
    expect(await count({ image: { kind: 'frames', clip: image } }, image)).toEqual([[8, 1, 3, 4]]);
    expect(await count({}, null)).toEqual([]);
  });
});

describe('transfer', () => {
  const map = testClip(64, 48, 5);

  it('with the same map given as two hints and any weights equals one hint', async () => {
    const one = await runPlan(transferPlan([{ kind: 'edge' }]), networks, controlInputs({ edge: map }));
    const inputs = controlInputs({ edge: map, depth: map });
    const two = await runPlan(
      transferPlan([
        { kind: 'edge', weight: 0.3 },
        { kind: 'depth', weight: 2 },
      ]),
      networks,
      inputs,
    );
    expect(relativeL2(two.latents['vision/0'] ?? [], one.latents['vision/0'] ?? [])).toBeLessThan(1e-5);
  });

  it('with weights (1, 0) equals the first hint alone', async () => {
    const one = await runPlan(transferPlan([{ kind: 'edge' }]), networks, controlInputs({ edge: map }));
    const inputs = controlInputs({ edge: map, depth: testClip(64, 48, 5, 3) });
    const two = await runPlan(
      transferPlan([
        { kind: 'edge', weight: 1 },
        { kind: 'depth', weight: 0 },
      ]),
      networks,
      inputs,
    );
    expect(relativeL2(two.latents['vision/0'] ?? [], one.latents['vision/0'] ?? [])).toBeLessThan(1e-5);
  });

  it('mixes two different hints by their weights, and differs from joint attention', async () => {
    const inputs = controlInputs({ edge: map, depth: testClip(64, 48, 5, 3) });
    const run = (weights: readonly [number, number], attention: 'weighted' | 'joint') =>
      runPlan(
        transferPlan(
          [
            { kind: 'edge', weight: weights[0] },
            { kind: 'depth', weight: weights[1] },
          ],
          { transfer: { hints: [], attention } },
        ),
        networks,
        inputs,
      );
    const even = await run([1, 1], 'weighted');
    const uneven = await run([1, 3], 'weighted');
    const joint = await run([1, 1], 'joint');
    expect(relativeL2(uneven.latents['vision/0'] ?? [], even.latents['vision/0'] ?? [])).toBeGreaterThan(1e-6);
    expect(relativeL2(joint.latents['vision/0'] ?? [], even.latents['vision/0'] ?? [])).toBeGreaterThan(1e-6);
  });

  it('shows input, controls and result side by side', async () => {
    const plan = transferPlan([{ kind: 'edge' }], {
      video: { kind: 'frames', clip: map },
      transfer: { hints: [], showInput: true, showControlCondition: true },
    });
    const run = await runPlan(plan, networks, controlInputs({ edge: testClip(64, 48, 5, 3) }, map));
    expect([run.width, run.height, run.frames]).toEqual([192, 48, 5]);
    const row = (panel: number) => [...run.rgb.subarray(panel * 64 * 3, panel * 64 * 3 + 6)];
    expect(row(0)).toEqual([...map.data.subarray(0, 6)]);
    expect(row(1)).toEqual([...testClip(64, 48, 5, 3).data.subarray(0, 6)]);
  });

  it('computes edges from the input video as if they had been given', async () => {
    const { edgeControl } = await import('../../src/media/index.js');
    const facts = { ...tiny, video: inputFacts(64, 48, 5, 24), hints: [null] };
    const request: Partial<GenerationRequest> = {
      ...small,
      task: 'transfer',
      fps: 24,
      reference: { grid: 'native' },
      video: { kind: 'frames', clip: map },
      transfer: { hints: [{ kind: 'edge', preset: 'low' }], chunkFrames: 5, emphasizeControl: false },
    };
    const computed = await runPlan(planOf(request, facts), networks, controlInputs({}, map));
    const given = transferPlan([{ kind: 'edge' }], {
      transfer: { hints: [], controlGuidance: planOf(request, facts).guidance.controlScale },
      guidance: planOf(request, facts).guidance.scale,
    });
    const edges = await edgeControl(map, 'low');
    const wanted = await runPlan(given, networks, controlInputs({ edge: edges }));
    expect(computed.latents['vision/0']).toEqual(wanted.latents['vision/0']);
  });

  it('conditions its first chunk on the input video when asked', async () => {
    const plan = transferPlan([{ kind: 'edge' }], {
      video: { kind: 'frames', clip: map },
      transfer: { hints: [], firstChunkConditionalFrames: 1 },
    });
    const recorded = new Map<string, Float32Array>();
    const recorder = {
      record: (key: string, _: readonly number[], values: Float32Array) => recorded.set(key, values.slice()),
    };
    const run = await runPlan(plan, networks, controlInputs({ edge: testClip(64, 48, 5, 3) }, map), { recorder });
    const encoded = recorded.get('0/encoded/1') ?? new Float32Array(); // [C, 1, 3, 4]
    for (let c = 0; c < 8; c++)
      for (let i = 0; i < 12; i++) expect(run.latents['vision/0']?.[i * 8 + c]).toBe(encoded[c * 12 + i]);
  });

  it('treats controls as following each other in time when they share no temporal positions', async () => {
    const inputs = controlInputs({ edge: map });
    const shared = await runPlan(transferPlan([{ kind: 'edge' }]), networks, inputs);
    const apart = await runPlan(
      transferPlan([{ kind: 'edge' }], { transfer: { hints: [], shareTemporalPositions: false } }),
      networks,
      inputs,
    );
    expect(relativeL2(apart.latents['vision/0'] ?? [], shared.latents['vision/0'] ?? [])).toBeGreaterThan(1e-6);
  });
});

describe('sound and actions', () => {
  it('trims sound to its duration', async () => {
    const run = await runPlan(planOf({ ...small, sound: true, soundDuration: 0.25 }, tiny), networks);
    expect(run.sound?.map((channel) => channel.length)).toEqual([12_000, 12_000]);
  });

  it('gives predicted actions without history, and decodes no video when only they are wanted', async () => {
    const clip = testClip(64, 48, 1);
    const request: Partial<GenerationRequest> = {
      ...small,
      task: 'policy',
      frames: 5,
      image: { kind: 'frames', clip },
      action: {
        domainName: 'bridge_orig_lerobot',
        rawActionDim: 10,
        history: [Array(10).fill(0.5)],
        actionsOnly: true,
      },
    };
    const plan = planOf(request, { ...tiny, image: inputFacts(64, 48) });
    const run = await runPlan(plan, networks, { image: clip, video: null, controls: new Map() });
    expect(run.frames).toBe(0);
    expect(run.actions?.length).toBe((plan.action?.rows ?? 0) - 1);
    expect(run.actions?.[0]?.length).toBe(10);
    expect([...(run.latents['action/0'] ?? new Float32Array()).subarray(0, 10)]).toEqual(Array(10).fill(0.5));
    expect((run.latents['action/0'] ?? []).every((value, i) => i % 32 < 10 || value === 0)).toBe(true);
  });

  it('returns the given actions of forward dynamics unchanged', async () => {
    const clip = testClip(64, 48, 1);
    const actions = Array.from({ length: 4 }, (_, row) =>
      Array.from({ length: 10 }, (_, i) => Math.fround(row * 0.1 + i * 0.01)),
    );
    const request: Partial<GenerationRequest> = {
      ...small,
      task: 'forward-dynamics',
      image: { kind: 'frames', clip },
      action: { domainName: 'bridge_orig_lerobot', actions },
    };
    const run = await runPlan(planOf(request, { ...tiny, image: inputFacts(64, 48) }), networks, {
      image: clip,
      video: null,
      controls: new Map(),
    });
    expect(run.actions).toEqual(actions);
    expect(run.frames).toBe(5);
  });
});
