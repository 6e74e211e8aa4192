// What runs leave to later ones must not be seen in them: prompts that were run before, steps that were recorded before.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutOfMemoryError } from '../../src/backend/index.js';
import type { CpuBackend } from '../../src/cpu/index.js';
import type { Networks } from '../../src/pipeline/networks.js';
import type { Plan } from '../../src/pipeline/plan-types.js';
import type { GenerationRequest } from '../../src/pipeline/request.js';
import { RunCaches } from '../../src/pipeline/run-caches.js';
import { toFloat32 } from '../../src/weights/index.js';
import { relativeL2 } from '../golden/relative-l2.js';
import { inputFacts, planOf } from './plan-facts.js';
import { controlInputs, cpuNetworks, noInputs, runPlan, testClip } from './run-plan.js';

const small = { width: 64, height: 48, frames: 5, steps: 3, seed: 7, guidance: 3 } satisfies Partial<GenerationRequest>;
const tiny = { checkpoint: { actionDim: 32 } };
const gibibyte = 2 ** 30;
let networks: Networks;
let backend: CpuBackend;

beforeAll(async () => {
  ({ networks, backend } = await cpuNetworks());
});
afterAll(() => backend[Symbol.asyncDispose]());

const keeping = (changes: Partial<ConstructorParameters<typeof RunCaches>[0]> = {}) =>
  new RunCaches({ textBytes: gibibyte, sessions: 4, sessionBytes: gibibyte, ...changes });

describe('kept prompts', () => {
  it('have the bits of prompts that are run again', async () => {
    using caches = keeping();
    const { prompt } = planOf(small, tiny);
    const read = async () => {
      using held = caches.texts.hold(networks, prompt.tokens);
      const parts = await Promise.all(held.kv.layers.flatMap(({ k, v }) => [backend.download(k), backend.download(v)]));
      return { isReused: held.isReused, values: parts.map(toFloat32) };
    };
    const first = await read();
    const again = await read();
    caches.texts.clear();
    const anew = await read();
    expect([first.isReused, again.isReused, anew.isReused]).toEqual([false, true, false]);
    expect(again.values).toEqual(first.values);
    expect(anew.values).toEqual(first.values);
    expect(caches.texts.use).toMatchObject({ hits: 1, misses: 2, prompts: 1 });
  });

  it('count their exact bytes, and the least recently used go first', () => {
    const { layers, kvHeads, headDim } = networks.transformer.config;
    const bytesOf = (tokens: number) => tokens * layers * 2 * kvHeads * headDim * 4;
    using caches = keeping({ textBytes: bytesOf(12) });
    const use = (tokens: readonly number[]) => caches.texts.hold(networks, tokens)[Symbol.dispose]();
    const [a, b, c] = [
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10],
      [11, 12, 13, 14],
    ];
    for (const tokens of [a, b, a, c]) use(tokens as number[]);
    expect(caches.texts.use).toEqual({
      hits: 1,
      misses: 3,
      prompts: 2,
      bytes: bytesOf(9),
      limitBytes: bytesOf(12),
    });
    use(b as number[]);
    expect(caches.texts.use.misses).toBe(4);
    const before = backend.usedBytes();
    caches.texts.clear();
    expect(caches.texts.use.bytes).toBe(0);
    expect(before - backend.usedBytes()).toBeGreaterThanOrEqual(bytesOf(9));
  });

  it('in use are not thrown out, whatever the limit', () => {
    using caches = keeping({ textBytes: 0 });
    const held = caches.texts.hold(networks, [1, 2, 3]);
    const other = caches.texts.hold(networks, [4, 5]);
    expect(caches.texts.use.prompts).toBe(2);
    other[Symbol.dispose]();
    expect(caches.texts.use.prompts).toBe(1);
    expect(caches.texts.hold(networks, [1, 2, 3]).kv).toBe(held.kv);
  });

  it('of another network are others', () => {
    using mine = keeping({ network: 'a' });
    mine.texts.hold(networks, [1, 2]);
    expect(mine.texts.hold(networks, [1, 2]).isReused).toBe(true);
    expect(mine.texts.hold(networks, [1, 3]).isReused).toBe(false);
  });

  it('cost the next job nothing: its own prompt and the negative one', async () => {
    using caches = keeping({ sessions: 0 });
    const counts: object[] = [];
    const run = async (request: Partial<GenerationRequest>) => {
      const { generate } = await import('../../src/pipeline/generate.js');
      for await (const event of generate(planOf({ ...small, ...request }, tiny), networks, noInputs, { caches }))
        if (event.type === 'text') counts.push({ computed: event.computed, reused: event.reused });
    };
    await run({});
    await run({ prompt: 'A dog.', seed: 1 });
    await run({ guidance: 1, seed: 2 });
    expect(counts).toEqual([
      { computed: 2, reused: 0 },
      { computed: 1, reused: 1 },
      { computed: 0, reused: 1 },
    ]);
  });
});

/** The hash of each latent's bits. */
function digest(latents: Readonly<Record<string, Float32Array>>): Readonly<Record<string, string>> {
  const hash = (values: Float32Array) => createHash('sha256').update(values).digest('hex');
  return Object.fromEntries(Object.entries(latents).map(([name, values]) => [name, hash(values)]));
}

/** Runs plans one after another with kept sessions, and each alone; gives the latents of both by hash. */
async function compare(
  plans: readonly Plan[],
  caches: RunCaches,
  inputs: readonly Parameters<typeof runPlan>[2][] = [],
) {
  const kept = [];
  const alone = [];
  for (const [i, plan] of plans.entries()) {
    kept.push(digest((await runPlan(plan, networks, inputs[i], { caches })).latents));
    alone.push(digest((await runPlan(plan, networks, inputs[i])).latents));
  }
  return { kept, alone };
}

/** The backend with a word before it makes room. */
const withRoom = (tell: () => void): CpuBackend =>
  new Proxy(backend, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]) => {
        if (name === 'zeros' || name === 'upload' || name === 'add' || name === 'concat') tell();
        return Reflect.apply(member, target, args);
      };
    },
  });

/** A transfer of two hints with these weights, and maps of them. */
function transfer(weights: readonly [number, number]): Plan {
  const source = { kind: 'frames', clip: testClip(64, 48, 5) } as const;
  return planOf(
    {
      ...small,
      task: 'transfer',
      fps: 24,
      reference: { grid: 'native' },
      transfer: {
        chunkFrames: 5,
        controlGuidance: 1.5,
        hints: [
          { kind: 'edge', weight: weights[0], source },
          { kind: 'depth', weight: weights[1], source },
        ],
      },
    },
    { ...tiny, hints: [inputFacts(64, 48, 5, 24), inputFacts(64, 48, 5, 24)] },
  );
}
const mapsOf = (seed: number) =>
  controlInputs({ edge: testClip(64, 48, 5, seed), depth: testClip(64, 48, 5, seed + 1) });

describe('kept sessions', () => {
  it('give other prompts, seeds, steps and guidance the bits of a run alone', async () => {
    using caches = keeping();
    const plans = [
      planOf(small, tiny),
      planOf({ ...small, prompt: 'A dog on a beach, seen from above.', seed: 8, guidance: 5 }, tiny),
      planOf({ ...small, steps: 5, flowShift: 3, fps: 12 }, tiny),
      planOf({ ...small, guidanceInterval: [900, 1000], steps: 4 }, tiny),
    ];
    const { kept, alone } = await compare(plans, caches);
    expect(kept).toEqual(alone);
    expect(caches.sessions.use).toMatchObject({ hits: 3, misses: 1, sessions: 1, graphs: 2 });
  });

  it('serve pictures, sound, given frames and actions, each layout its own', async () => {
    using caches = keeping({ sessions: 8 });
    const clip = testClip(64, 48, 9);
    const image = { ...clip, frames: 1, data: clip.data.subarray(0, 64 * 48 * 3) };
    const given = { image, video: null, controls: new Map() };
    const source = { kind: 'frames', clip: image } as const;
    const facts = { ...tiny, image: inputFacts(64, 48) };
    const plans = [
      planOf({ ...small, frames: 1, task: 'text-to-image' }, tiny),
      planOf({ ...small, sound: true }, tiny),
      planOf({ ...small, image: source }, facts),
      planOf({ ...small, image: source, seed: 9 }, facts),
      planOf({ ...small, sound: true, seed: 3 }, tiny),
    ];
    const { kept, alone } = await compare(plans, caches, [noInputs, noInputs, given, given, noInputs]);
    expect(kept).toEqual(alone);
    expect(caches.sessions.use).toMatchObject({ hits: 2, misses: 3, sessions: 3 });
  });

  it('serve several controls with other weights and maps', async () => {
    using caches = keeping();
    const maps = [1, 4].map(mapsOf);
    const { kept, alone } = await compare([transfer([1, 2]), transfer([3, 1])], caches, maps);
    expect(kept).toEqual(alone);
    expect(caches.sessions.use.hits).toBe(1);
  });

  it('are bounded by number, the least recently used first, and by bytes', async () => {
    const sizes = [64, 96, 64, 128].map((width) => planOf({ ...small, width, steps: 1 }, tiny));
    const run = async (caches: RunCaches) => {
      for (const plan of sizes) await runPlan(plan, networks, noInputs, { caches });
      return caches.sessions.use;
    };
    using two = keeping({ sessions: 2 });
    expect(await run(two)).toMatchObject({ hits: 1, misses: 3, sessions: 2 });
    using narrow = keeping({ sessionBytes: 1000 });
    expect(await run(narrow)).toMatchObject({ hits: 0, misses: 4, sessions: 0, bytes: 0 });
  });

  it('of a run that was stopped are thrown away', async () => {
    using caches = keeping();
    const stop = new AbortController();
    const { generate } = await import('../../src/pipeline/generate.js');
    const steps = generate(planOf(small, tiny), networks, noInputs, { caches, signal: stop.signal });
    await expect(async () => {
      for await (const event of steps) if (event.type === 'step') stop.abort(new Error('enough'));
    }).rejects.toThrow('enough');
    expect(caches.sessions.use.sessions).toBe(0);
  });

  it('and prompts give all their memory back', async () => {
    await runPlan(planOf(small, tiny), networks);
    const before = backend.usedBytes();
    {
      using caches = keeping();
      await runPlan(planOf(small, tiny), networks, noInputs, { caches });
      await runPlan(planOf({ ...small, stepCache: { kind: 'teacache' } }, tiny), networks, noInputs, { caches });
      expect(backend.usedBytes()).toBeGreaterThan(before);
    }
    expect(backend.usedBytes()).toBe(before);
  });

  it.each([
    ['a clip', () => planOf(small, tiny), noInputs, 3],
    ['sound', () => planOf({ ...small, sound: true, steps: 1 }, tiny), noInputs, 11],
    ['several controls', () => transfer([1, 2]), mapsOf(1), 41],
  ] as const)('that do not fit leave nothing behind: %s', async (_name, makePlan, inputs, stride) => {
    using caches = keeping();
    const run = (b: Networks['backend']) => runPlan(makePlan(), { ...networks, backend: b }, inputs, { caches });
    const usedBytes = () => {
      caches.sessions.clear();
      caches.texts.clear();
      return backend.usedBytes();
    };
    let made = 0;
    await run(withRoom(() => made++));
    const before = usedBytes();
    expect(made).toBeGreaterThan(20);
    for (let last = 0; last < made; last += stride) {
      let count = 0;
      const full = withRoom(() => {
        if (count++ === last) throw new OutOfMemoryError(1, 0, 'A test.');
      });
      await expect(run(full)).rejects.toThrow('A test.');
      expect(usedBytes(), `without place number ${last} of ${made}`).toBe(before);
    }
  });

  it('are made ready by a warm-up: all steps recorded, one run, a picture decoded', async () => {
    using caches = keeping();
    const plan = planOf({ ...small, guidanceInterval: [900, 1000], steps: 4 }, tiny);
    const warm = await runPlan(plan, networks, noInputs, { caches, isWarmUp: true });
    expect(warm).toMatchObject({ steps: 1, frames: 5 });
    const recorded = caches.sessions.use.graphs;
    expect(recorded).toBe(2);
    const { kept, alone } = await compare([plan], caches);
    expect(kept).toEqual(alone);
    expect(caches.sessions.use).toMatchObject({ hits: 1, graphs: recorded });
  });
});

describe('step caches', () => {
  const clip = { ...small, steps: 12 };
  const run = async (request: Partial<GenerationRequest>) => {
    const { generate } = await import('../../src/pipeline/generate.js');
    const skipped: boolean[] = [];
    let latents = new Float32Array();
    let passes = 0;
    for await (const event of generate(planOf({ ...clip, ...request }, tiny), networks, noInputs, { latents: true })) {
      if (event.type === 'step') {
        skipped.push(event.skipped);
        passes += event.passes;
      }
      if (event.type === 'latents') latents = event.data.slice();
    }
    return { skipped, latents, passes };
  };

  for (const kind of ['teacache', 'seacache'] as const) {
    it(`${kind} skips more the higher its threshold, and never the warm-up or the last step`, async () => {
      const whole = await run({});
      const some = await run({ stepCache: { kind, threshold: 0.05, maxConsecutive: 4 } });
      const more = await run({ stepCache: { kind, threshold: 100, maxConsecutive: 4 } });
      const count = ({ skipped }: typeof some) => skipped.filter(Boolean).length;
      expect(count(more)).toBe(6);
      expect(count(some)).toBeLessThanOrEqual(count(more));
      expect(more.skipped.slice(0, 4)).toEqual([false, false, false, false]);
      expect(more.skipped.at(-1)).toBe(false);
      expect(more.passes).toBe(2 * 6);
      expect(relativeL2(more.latents, whole.latents)).toBeGreaterThan(0);
    });

    it(`${kind} with a threshold of zero is the whole run`, async () => {
      const whole = await run({});
      const cached = await run({ stepCache: { kind, threshold: 0 } });
      expect(cached.latents).toEqual(whole.latents);
    });
  }

  it('skip the listed steps too, with the velocities that the list alone would give them', async () => {
    const listed = await run({ skipSteps: [5, 7], skipMode: 'extrapolate' });
    const both = await run({
      skipSteps: [5, 7],
      skipMode: 'extrapolate',
      stepCache: { kind: 'seacache', threshold: 0 },
    });
    expect(both.skipped).toEqual(listed.skipped);
    expect(both.latents).toEqual(listed.latents);
  });

  it('leave guidance out of every other step where asked, and come near', async () => {
    const whole = await run({});
    const every = await run({ guidanceEvery: 2 });
    const plain = await run({ guidance: 1 });
    expect(every.passes).toBe(12 + 6);
    const distance = relativeL2(every.latents, whole.latents);
    expect(distance).toBeGreaterThan(0);
    expect(distance).toBeLessThan(relativeL2(plain.latents, whole.latents) / 3);
  });
});
