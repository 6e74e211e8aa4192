import { describe, expect, it } from 'vitest';
import {
  checkpointFacts,
  factsOf,
  givenHint,
  inputFacts,
  planOf,
  refusalOf,
  warningsOf,
} from '../../test/pipeline/plan-facts.js';
import { RequestError } from '../protocol/request-error.js';
import { taskDefaults } from './defaults.js';
import { plan } from './plan.js';
import type { GenerationRequest, Task } from './request.js';

const image = inputFacts(1280, 720);
const video = inputFacts(1280, 720, 100, 30);
const action = { domainName: 'bridge_orig_lerobot', rawActionDim: 10 };

describe('defaults per task', () => {
  it.each([
    ['text-to-image', {}, 1024, 1024, 1, 50, 7, 3, [400, 1000], 24],
    ['text-to-video', {}, 1280, 720, 189, 35, 6, 10, null, 24],
    ['image-to-video', { image }, 1280, 720, 189, 35, 6, 10, null, 24],
    ['video-to-video', { video }, 1280, 720, 189, 35, 6, 10, null, 24],
    ['policy', { image }, 832, 480, 17, 30, 1, 5, null, 24],
    ['inverse-dynamics', { video }, 832, 480, 17, 30, 1, 5, null, 24],
  ] as const)('%s', (task, facts, width, height, frames, steps, scale, flowShift, interval, fps) => {
    const request = task === 'policy' || task === 'inverse-dynamics' ? { task, action } : { task };
    const planned = planOf(request, facts);
    expect(planned).toMatchObject({ task, canvas: { width, height }, frames, steps, fps, seed: 77 });
    expect(planned.guidance).toEqual({ scale, interval, controlScale: 1, controlInterval: null });
    expect(planned.schedule).toEqual({
      solver: 'unipc',
      grid: 'native',
      flowShift,
      order: 2,
      variant: 'bh2',
      karras: null,
    });
    expect(planned.skip).toEqual({ steps: [], mode: 'hold' });
  });

  it('forward-dynamics', () => {
    const actions = [Array.from({ length: 9 }, () => 0)];
    const planned = planOf({ task: 'forward-dynamics', action: { domainName: 'av', actions } }, { image });
    expect(planned).toMatchObject({ frames: 17, steps: 30, guidance: { scale: 1 }, fps: 24 });
  });

  it.each([
    ['text-to-image', {}, 640, 640, 1, 50],
    ['text-to-video', {}, 832, 480, 189, 35],
    ['image-to-video', { image: inputFacts(100, 400) }, 832, 480, 189, 35],
  ] as const)('edge %s', (task, facts, width, height, frames, steps) => {
    const planned = planOf({ task }, { ...facts, checkpoint: { family: 'edge' } });
    expect(planned).toMatchObject({ canvas: { width, height }, frames, steps, guidance: { scale: 5 } });
    expect(planned.schedule).toMatchObject({ flowShift: 3 });
  });

  it('are overlaid by the checkpoint, and that by the request', () => {
    const defaults = { 'text-to-video': { width: 192, height: 128, frames: 13, steps: 8, fps: 8 } };
    const checkpoint = { defaults };
    expect(planOf({}, { checkpoint })).toMatchObject({
      canvas: { width: 192, height: 128 },
      frames: 13,
      steps: 8,
      fps: 8,
    });
    expect(planOf({ steps: 3, width: 64 }, { checkpoint })).toMatchObject({
      canvas: { width: 64, height: 128 },
      steps: 3,
    });
    expect(taskDefaults('text-to-video', checkpointFacts(checkpoint))).toMatchObject({ frames: 13, guidance: 6 });
  });

  it('takes guidance 0 as not given', () => {
    expect(planOf({ guidance: 0 }).guidance.scale).toBe(6);
    expect(planOf({ guidance: 1 })).toMatchObject({ guidance: { scale: 1 }, negativePrompt: null });
    expect(warningsOf({ guidance: 1, negativePrompt: 'blurry' })[0]?.param).toBe('negative_prompt');
  });

  it('has several pictures of a seed, and one of everything else', () => {
    expect(planOf({ task: 'text-to-image' }).draw).toBe(0);
    expect(planOf({ task: 'text-to-image', draw: 3 }).draw).toBe(3);
    expect(refusalOf({ draw: 1 })).toMatchObject({ code: 'unsupported', param: 'noise_index' });
    expect(refusalOf({ task: 'text-to-image', draw: 100 })).toMatchObject({ param: 'noise_index' });
  });

  it('takes the seed of the request before the drawn one', () => {
    expect(planOf({ seed: 0 }).seed).toBe(0);
    expect(planOf({ seed: Number.MAX_SAFE_INTEGER }).seed).toBe(9007199254740991);
  });
});

describe('task', () => {
  it.each<[Task, Partial<GenerationRequest>, object]>([
    ['text-to-video', {}, {}],
    ['image-to-video', {}, { image }],
    ['video-to-video', {}, { video }],
    ['transfer', { transfer: { hints: [{ kind: 'edge' }] } }, { video, hints: [null] }],
    ['text-to-image', { task: 'text-to-image' }, { image }],
  ])('%s is implied', (task, request, facts) => {
    expect(planOf(request, facts).task).toBe(task);
  });

  it('a picture ignores an image with a warning', () => {
    expect(warningsOf({ task: 'text-to-image' }, { image })).toEqual([
      { param: 'image', message: 'the input is ignored: text-to-image works from the prompt alone' },
    ]);
  });

  const hints = { transfer: { hints: [givenHint('depth')] } };
  const depth = { hints: [inputFacts(64, 64, 9)] };
  it.each<[string, Partial<GenerationRequest>, object]>([
    ['Cosmos3 transfer inference is supported only for video outputs.', { ...hints, task: 'text-to-image' }, depth],
    [
      'Cosmos3 transfer inference cannot be combined with action generation.',
      { ...hints, task: 'policy', action },
      depth,
    ],
    ['Cosmos3 transfer inference cannot be combined with sound generation.', { ...hints, sound: true }, depth],
    ['Cosmos3 action generation is supported only for video outputs.', { task: 'text-to-image', action }, {}],
    [
      'Cosmos3 action and sound joint generation is not supported in this phase.',
      { task: 'policy', action, sound: true },
      { image },
    ],
    [
      'Cosmos3 sound generation is supported only for video outputs in this phase; text-to-image with sound is unsupported.',
      { task: 'text-to-image', sound: true },
      {},
    ],
    ['Cosmos3 non-action generation accepts either image or video input, not both.', {}, { image, video }],
    ['Cosmos3 transfer inference accepts video inputs or control_path values, not images.', hints, { ...depth, image }],
    [
      'Cosmos3 transfer options were provided, but no transfer hint was selected.',
      { transfer: { hints: [], maxFrames: 5 } },
      {},
    ],
  ])('%s', (message, request, facts) => {
    const error = refusalOf(request, facts);
    expect(error.message.startsWith(`${message} `)).toBe(true);
    expect(error.code).toBe('conflict');
  });

  it.each<[string, Partial<GenerationRequest>, object]>([
    ['text-to-video takes no image', { task: 'text-to-video' }, { image }],
    ['text-to-video takes no video', { task: 'text-to-video' }, { video }],
    ['image-to-video needs an image', { task: 'image-to-video' }, {}],
    ['image-to-video takes no video', { task: 'image-to-video' }, { video }],
    ['video-to-video needs a video', { task: 'video-to-video' }, {}],
    ['video-to-video takes no image', { task: 'video-to-video' }, { image }],
    ['policy needs an image or a video', { task: 'policy', action }, {}],
    ['inverse-dynamics needs a video', { task: 'inverse-dynamics', action }, { image }],
    ['without an action mode', { action }, { image }],
    ['the task is text-to-video', { action, task: 'text-to-video' }, {}],
    ['the task is video-to-video', { ...hints, task: 'video-to-video' }, { ...depth, video }],
  ])('refuses: %s', (part, request, facts) => {
    expect(refusalOf(request, facts).message).toContain(part);
  });

  it.each<[string, Partial<GenerationRequest>, object]>([
    ['Cosmos3 Edge checkpoints do not support sound generation.', { sound: true }, { checkpoint: { family: 'edge' } }],
    [
      'Cosmos3 Edge checkpoints do not support transfer inference.',
      hints,
      { ...depth, checkpoint: { family: 'edge' } },
    ],
    [
      'Cosmos3 Edge checkpoints do not support video-to-video generation.',
      {},
      { video, checkpoint: { family: 'edge' } },
    ],
    ['sound generation is unsupported.', { sound: true }, { checkpoint: { distilledSigmas: [1] } }],
    ['transfer requests are unsupported.', hints, { ...depth, checkpoint: { distilledSigmas: [1] } }],
    ['video-to-video requests are unsupported.', {}, { video, checkpoint: { distilledSigmas: [1] } }],
    ['action requests are unsupported.', { task: 'policy', action }, { image, checkpoint: { distilledSigmas: [1] } }],
    ['This checkpoint has no sound networks.', { sound: true }, { checkpoint: { hasSound: false } }],
    ['This checkpoint has no action networks.', { task: 'policy', action }, { image, checkpoint: { actionDim: null } }],
  ])('refuses what the checkpoint cannot do: %s', (part, request, facts) => {
    const error = refusalOf(request, facts);
    expect(error.message).toContain(part);
    expect(error.code).toBe('unsupported');
  });
});

describe('sampling', () => {
  it.each<[string, Partial<GenerationRequest>]>([
    ['num_inference_steps is 0; it must be a whole number from 1 to 200', { steps: 0 }],
    ['num_inference_steps is -1', { steps: -1 }],
    ['num_inference_steps is 10000', { steps: 10_000 }],
    ['num_inference_steps is 2.5', { steps: 2.5 }],
    ['guidance_scale is NaN; it must be a number from 0 to 20', { guidance: Number.NaN }],
    ['guidance_scale is 21', { guidance: 21 }],
    ['guidance_scale is -1', { guidance: -1 }],
    ['guidance_scale is Infinity', { guidance: Number.POSITIVE_INFINITY }],
    ['flow_shift is 0; it must be above 0', { flowShift: 0 }],
    ['flow_shift is NaN', { flowShift: Number.NaN }],
    ['seed is 1.5; it must be a whole number from 0', { seed: 1.5 }],
    ['seed is -1', { seed: -1 }],
    ['seed is 9007199254740992', { seed: 2 ** 53 }],
    ['Cosmos3 guidance_interval must be ordered as [lo, hi], got [900, 100]', { guidanceInterval: [900, 100] }],
    ['guidance_interval is [NaN, 100]', { guidanceInterval: [Number.NaN, 100] }],
    ['skip_steps contains 0', { skipSteps: [0] }],
    ['skip_steps contains 5; steps are counted from 0 to 4', { steps: 5, skipSteps: [5] }],
    ['skip_steps contains 1.5', { skipSteps: [1.5] }],
    ['step_cache_threshold is -1', { stepCache: { kind: 'teacache', threshold: -1 } }],
    ['step_cache_warmup is 1.5', { stepCache: { kind: 'teacache', warmupSteps: 1.5 } }],
    ['step_cache.max_consecutive is 0', { stepCache: { kind: 'seacache', maxConsecutive: 0 } }],
    ['step_cache.coefficients has 9 entries', { stepCache: { kind: 'teacache', coefficients: Array(9).fill(1) } }],
    ['guidance_cache_every is 0', { guidanceEvery: 0 }],
    ['max_sequence_length is 0', { maxSequenceLength: 0 }],
  ])('refuses: %s', (part, request) => {
    expect(refusalOf(request).message).toContain(part);
  });

  it('sorts skipped steps and keeps the mode', () => {
    expect(planOf({ skipSteps: [7, 3, 3], skipMode: 'extrapolate' }).skip).toEqual({
      steps: [3, 7],
      mode: 'extrapolate',
    });
  });

  it('reuses nothing unless asked, and then keeps the first third of the steps', () => {
    expect(planOf({}).reuse).toEqual({ stepCache: null, guidanceEvery: 1 });
    expect(planOf({ steps: 35, stepCache: { kind: 'seacache' }, guidanceEvery: 2 }).reuse).toEqual({
      stepCache: { kind: 'seacache', threshold: 0.25, warmupSteps: 12, maxConsecutive: 2, coefficients: [], power: 3 },
      guidanceEvery: 2,
    });
    const warnings = warningsOf({ steps: 4, stepCache: { kind: 'teacache', warmupSteps: 3 } });
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('step_cache skips nothing')]);
  });

  it('follows the settings of a reference', () => {
    const reference = { grid: 'linspace', solverOrder: 3, solverVariant: 'bh1' } as const;
    expect(planOf({ reference, flowShift: 1 }).schedule).toEqual({
      solver: 'unipc',
      grid: 'linspace',
      flowShift: 1,
      order: 3,
      variant: 'bh1',
      karras: null,
    });
    const karras = { sigmaMin: 0.01, sigmaMax: 200 };
    expect(planOf({ reference: { karras } }).schedule).toMatchObject({ grid: 'karras', karras });
    expect(refusalOf({ reference: { karras: { sigmaMin: 2, sigmaMax: 1 } } }).message).toContain(
      'karras sigmas are 2 to 1',
    );
  });

  it('runs a distilled checkpoint on its own steps without guidance', () => {
    const checkpoint = { distilledSigmas: [1, 0.5] };
    const request = { steps: 9, guidance: 7 };
    expect(planOf(request, { checkpoint })).toMatchObject({
      steps: 2,
      guidance: { scale: 1 },
      schedule: { solver: 'flow-euler', sigmas: [1, 0.5] },
      negativePrompt: null,
    });
    expect(warningsOf(request, { checkpoint }).map(({ param }) => param)).toEqual([
      'num_inference_steps',
      'guidance_scale',
    ]);
  });
});

describe('prompt tokens', () => {
  it('are cut with a warning, the framing kept', () => {
    const { plan: planned, warnings } = plan(
      { prompt: 'word '.repeat(1000), guidance: 1, maxSequenceLength: 20 },
      factsOf(),
    );
    expect(planned.prompt.truncated).toBe(true);
    expect(planned.prompt.tokens).toHaveLength(22);
    expect(warnings[0]?.param).toBe('prompt');
    expect(warnings[0]?.message).toMatch(/^prompt has \d+ tokens; the last \d+ were cut/);
  });

  it('of 20000 words are cut to the default length', () => {
    const planned = planOf({ prompt: 'word '.repeat(20_000), guidance: 1 });
    expect(planned.prompt.tokens).toHaveLength(4098);
    expect(planned.prompt.truncated).toBe(true);
  });
});

describe('a plan', () => {
  it('names its inputs', () => {
    expect(planOf({}, { image }).inputs).toEqual([
      { role: 'image', sha256: image.sha256, width: 1280, height: 720, frames: 1 },
    ]);
    expect(planOf({}, { video }).inputs).toEqual([
      { role: 'video', sha256: video.sha256, width: 1280, height: 720, frames: 100 },
    ]);
    expect(planOf({}).inputs).toEqual([]);
  });

  it('is frozen to the last list', () => {
    const planned = planOf({}, { video });
    expect(Object.isFrozen(planned)).toBe(true);
    expect(Object.isFrozen(planned.prompt.tokens)).toBe(true);
    expect(Object.isFrozen(planned.condition?.latentFrames)).toBe(true);
    expect(Object.isFrozen(planned.canvas)).toBe(true);
  });

  it('leaves the request as it is', () => {
    const request = { prompt: 'x', guidanceInterval: [0, 500] as const, skipSteps: [2, 1] };
    plan(request, factsOf());
    expect(Object.isFrozen(request.guidanceInterval)).toBe(false);
    expect(request.skipSteps).toEqual([2, 1]);
  });

  it('needs a prompt', () => {
    expect(() => plan(JSON.parse('{}'), factsOf())).toThrow(RequestError);
  });
});
