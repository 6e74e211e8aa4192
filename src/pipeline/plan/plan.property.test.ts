// Whatever is asked for: a frozen plan without gaps, or a RequestError with its param; never anything else.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkpointFacts, inputFacts } from '../../../test/pipeline/plan-facts.js';
import { errorStatus, RequestError } from '../../protocol/request-error.js';
import type { Facts, InputFacts } from '../facts.js';
import { plan } from '../plan.js';
import { type GenerationRequest, hintKinds, tasks } from '../request.js';
import { planHash } from './plan-hash.js';

const odd = fc.constantFrom(0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, -0, 2 ** 53);
/** Mostly usable values, sometimes none. */
const value = (usual: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 40, arbitrary: usual }, { weight: 1, arbitrary: odd });
const side = value(fc.integer({ min: 1, max: 80 }).map((n) => 16 * n));
const interval = fc.tuple(value(fc.integer({ min: 0, max: 500 })), value(fc.integer({ min: 500, max: 1000 })));
const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.json({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const optional = { requiredKeys: [] };
const clip = { width: 16, height: 16, frames: 1, fps: null, data: new Uint8Array(768) };
const source = fc.constant({ kind: 'frames', clip } as const);
const rows = fc.array(fc.array(value(fc.double({ min: -1, max: 1, noNaN: true })), { minLength: 9, maxLength: 10 }), {
  maxLength: 4,
});

const hint = fc.record(
  {
    kind: fc.constantFrom(...hintKinds),
    source,
    weight: value(fc.double({ min: 0, max: 9, noNaN: true })),
    preset: fc.constantFrom('low', 'high'),
  },
  { requiredKeys: ['kind'] },
);
const transfer = fc.record(
  {
    hints: fc.array(hint, { maxLength: 3 }),
    controlGuidance: value(fc.double({ min: 0, max: 10, noNaN: true })),
    controlGuidanceInterval: interval,
    chunkFrames: value(fc.integer({ min: 1, max: 100 })),
    conditionalFrames: value(fc.integer({ min: 0, max: 9 })),
    firstChunkConditionalFrames: value(fc.integer({ min: 0, max: 9 })),
    maxFrames: value(fc.integer({ min: 1, max: 99 })),
    showInput: fc.boolean(),
    emphasizeControl: fc.boolean(),
    attention: fc.constantFrom('weighted', 'joint'),
  },
  { requiredKeys: ['hints'] },
);
const action = fc.record(
  {
    domainName: fc.constantFrom('av', 'umi', 'droid_lerobot', 'mars', ''),
    domainId: value(fc.integer({ min: 0, max: 31 })),
    rawActionDim: value(fc.constantFrom(9, 10)),
    chunk: value(fc.integer({ min: 1, max: 20 })),
    fps: value(fc.integer({ min: 1, max: 30 })),
    actions: rows,
    history: rows,
    viewPoint: fc.constantFrom('ego_view', 'concat_view'),
    promptAsJson: fc.boolean(),
    actionsOnly: fc.boolean(),
  },
  optional,
);

const sparse = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** A record whose fields are there one time in four; absent ones are no keys at all. */
function sparseRecord<T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  const entries = Object.entries<fc.Arbitrary<unknown>>(model).map(([key, arbitrary]) =>
    sparse(arbitrary).map((item) => [key, item] as const),
  );
  return fc
    .tuple(...entries)
    .map((pairs) => Object.fromEntries(pairs.filter(([, item]) => item !== undefined)) as Partial<T>);
}

const anyRequest: fc.Arbitrary<GenerationRequest> = fc
  .tuple(
    text,
    sparseRecord<Omit<Required<GenerationRequest>, 'prompt' | 'image' | 'video'>>({
      task: fc.constantFrom(...tasks),
      negativePrompt: text,
      width: side,
      height: side,
      resolution: fc.constantFrom('256', '480', '704', '720', '1080', 'toString'),
      aspectRatio: fc.constantFrom('16,9', '9:16', 'x', '0,1'),
      frames: value(fc.integer({ min: 1, max: 300 })),
      seconds: value(fc.integer({ min: 1, max: 10 })),
      fps: value(fc.double({ min: 1, max: 60, noNaN: true })),
      steps: value(fc.integer({ min: 1, max: 200 })),
      guidance: value(fc.double({ min: 0, max: 20, noNaN: true })),
      guidanceInterval: interval,
      flowShift: value(fc.double({ min: 0.1, max: 20, noNaN: true })),
      seed: value(fc.nat()),
      draw: value(fc.constantFrom(0, 0, 0, 1, 100)),
      maxSequenceLength: value(fc.integer({ min: 1, max: 100 })),
      useResolutionTemplate: fc.boolean(),
      useDurationTemplate: fc.boolean(),
      negativeMetadataMode: fc.constantFrom('none', 'same', 'inverse'),
      useSystemPrompt: fc.boolean(),
      systemPrompt: text,
      promptSuffix: text,
      sound: fc.boolean(),
      soundDuration: value(fc.double({ min: 0.1, max: 20, noNaN: true })),
      conditionFrames: fc.array(value(fc.integer({ min: 0, max: 5 })), { maxLength: 3 }),
      conditionKeep: fc.constantFrom('first', 'last'),
      transfer,
      action,
      skipSteps: fc.array(value(fc.integer({ min: 1, max: 30 })), { maxLength: 3 }),
      skipMode: fc.constantFrom('hold', 'extrapolate'),
      stepCache: fc.record(
        {
          kind: fc.constantFrom('teacache', 'seacache'),
          threshold: value(fc.double({ min: 0, max: 1 })),
          warmupSteps: value(fc.integer({ min: 0, max: 30 })),
          maxConsecutive: value(fc.integer({ min: 1, max: 5 })),
          coefficients: fc.array(value(fc.double()), { maxLength: 9 }),
          power: value(fc.double({ min: 1, max: 3 })),
        },
        { requiredKeys: ['kind'] },
      ),
      guidanceEvery: value(fc.integer({ min: 1, max: 5 })),
      reference: fc.record({ rawPrompt: fc.boolean(), untrimmedSound: fc.boolean() }, optional),
    }),
  )
  .map(([prompt, rest]) => ({ prompt, ...rest }));

const input: fc.Arbitrary<InputFacts | null> = fc.option(
  fc
    .tuple(
      fc.integer({ min: 1, max: 4000 }),
      fc.integer({ min: 1, max: 4000 }),
      fc.integer({ min: 0, max: 300 }),
      fc.option(value(fc.double({ min: 1, max: 60, noNaN: true }))),
    )
    .map(([width, height, frames, fps]) => inputFacts(width, height, frames, fps)),
);

const checkpoint = fc
  .record({
    family: fc.constantFrom('nano', 'nano', 'nano', 'edge'),
    hasSound: fc.boolean(),
    actionDim: fc.constantFrom(64, 32, null),
    distilledSigmas: fc.constantFrom(null, null, [1, 0.5]),
    defaults: fc.constantFrom(
      {},
      { 'text-to-video': { width: 96, height: 64, frames: 13 }, transfer: { width: 160, height: 96 } },
    ),
  } as const)
  .map(checkpointFacts);

/** Inputs and the parts of a request that belong to them, so that most requests make sense. */
const scenario = fc.constantFrom('text', 'image', 'video', 'transfer', 'action', 'anything');

const asked: fc.Arbitrary<{ readonly request: GenerationRequest; readonly facts: Facts }> = fc
  .record({
    scenario,
    anyRequest,
    transfer,
    action,
    actionTask: fc.constantFrom('policy', 'forward-dynamics', 'inverse-dynamics'),
    checkpoint,
    image: input,
    video: input,
    hints: fc.array(input, { minLength: 3, maxLength: 3 }),
    randomSeed: fc.nat(),
  } as const)
  .map(({ scenario, anyRequest, transfer, action, actionTask, image, video, ...facts }) => {
    if (scenario === 'anything') return { request: anyRequest, facts: { ...facts, image, video } };
    const { transfer: _t, action: _a, task: _k, ...plain } = anyRequest;
    if (scenario === 'transfer') return { request: { ...plain, transfer }, facts: { ...facts, image: null, video } };
    const given = { ...facts, image: scenario === 'image' ? image : null, video: scenario === 'video' ? video : null };
    if (scenario !== 'action') return { request: plain, facts: given };
    return { request: { ...plain, task: actionTask, action }, facts: { ...facts, image: null, video } };
  });

/** Paths of undefined or unfrozen parts, and of numbers that JSON cannot carry. */
function flaws(item: unknown, path = 'plan'): string[] {
  if (item === undefined) return [`${path} is undefined`];
  if (typeof item === 'number' && !Number.isFinite(item)) return [`${path} is ${item}`];
  if (typeof item !== 'object' || item === null) return [];
  const frozen = Object.isFrozen(item) ? [] : [`${path} is not frozen`];
  return [...frozen, ...Object.entries(item).flatMap(([key, inner]) => flaws(inner, `${path}.${key}`))];
}

it('gives a frozen plan or a RequestError', () => {
  const counts = { plans: 0, refusals: 0 };
  fc.assert(
    fc.property(asked, ({ request, facts }) => {
      try {
        const made = plan(request, facts);
        counts.plans++;
        expect(flaws(made.plan)).toEqual([]);
        const { canvas, content } = made.plan;
        expect([canvas.width % 16, canvas.height % 16, content.width % 16, content.height % 16]).toEqual([0, 0, 0, 0]);
        expect(made.plan.task === 'transfer' ? 1 : made.plan.frames % 4).toBe(1);
        expect(planHash(made.plan)).toHaveLength(64);
        expect(planHash(plan(request, facts).plan)).toBe(planHash(made.plan));
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        counts.refusals++;
        expect(errorStatus[error.code]).toBe(400);
        expect(error.param).not.toBeNull();
        expect(error.message.length).toBeGreaterThan(20);
      }
    }),
    { numRuns: 500 },
  );
  // The property says little if hardly anything is planned.
  expect(counts.plans).toBeGreaterThan(50);
  expect(counts.refusals).toBeGreaterThan(50);
});

it('leaves no requests of the ordinary kind out', () => {
  fc.assert(
    fc.property(
      text,
      fc.constantFrom('text-to-image', 'text-to-video'),
      fc.integer({ min: 1, max: 400 }),
      (prompt, task, frames) => {
        const known = { checkpoint: checkpointFacts(), image: null, video: null, hints: [], randomSeed: 1 };
        expect(plan({ prompt, task, frames }, known).plan.frames).toBe(
          task === 'text-to-image' ? 1 : 4 * Math.ceil((frames - 1) / 4) + 1,
        );
      },
    ),
    { numRuns: 200 },
  );
});
