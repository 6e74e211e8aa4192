import { describe, expect, it } from 'vitest';
import { givenHint, inputFacts, planOf, refusalOf, warningsOf } from '../../../test/pipeline/plan-facts.js';
import {
  type GenerationRequest,
  type HintKind,
  type HintRequest,
  hintKinds,
  type TransferRequest,
} from '../request.js';

const control = inputFacts(1280, 720, 200, 25);
const video = inputFacts(1280, 720, 150, 30);

const transferRequest = (
  hints: readonly HintRequest[],
  options: Partial<TransferRequest> = {},
  request: Partial<GenerationRequest> = {},
): Partial<GenerationRequest> => ({ ...request, transfer: { hints, ...options } });

/** One given hint, its control and no video. */
const single = (kind: HintKind, options: Partial<TransferRequest> = {}, request: Partial<GenerationRequest> = {}) =>
  planOf(transferRequest([givenHint(kind)], options, request), { hints: [control] });

describe('presets of a single hint', () => {
  it.each([
    ['edge', 3, 1.5],
    ['blur', 3, 1.5],
    ['depth', 3, 1.5],
    ['seg', 3, 2],
  ] as const)('%s', (kind, scale, controlScale) => {
    const planned = single(kind);
    expect(planned.guidance).toEqual({ scale, interval: null, controlScale, controlInterval: null });
    expect(planned.schedule).toMatchObject({ flowShift: 10 });
    expect(planned).toMatchObject({ steps: 35, fps: 24, frames: 200, canvas: { width: 1280, height: 720 } });
    expect(planned.transfer).toEqual({
      hints: [{ kind, computed: false, weight: 1, preset: 'none' }],
      attention: 'weighted',
      chunkFrames: 93,
      totalFrames: 200,
      conditionalFrames: 1,
      firstChunkConditionalFrames: 0,
      showControlCondition: false,
      showInput: false,
      shareTemporalPositions: true,
    });
  });

  it('wsm: 101 frames at 10 fps in chunks of 101', () => {
    const planned = planOf(transferRequest([givenHint('wsm')]), { hints: [control], video });
    expect(planned).toMatchObject({
      frames: 101,
      fps: 10,
      guidance: { scale: 1, controlScale: 3 },
      negativePrompt: null,
    });
    expect(planned.transfer).toMatchObject({ chunkFrames: 101, totalFrames: 101 });
    expect(planned.schedule).toMatchObject({ flowShift: 10 });
  });

  it('fill only what the request leaves out', () => {
    const planned = single('wsm', { controlGuidance: 1.25, chunkFrames: 20 }, { guidance: 2, frames: 50, fps: 12 });
    expect(planned).toMatchObject({ frames: 50, fps: 12, guidance: { scale: 2, controlScale: 1.25 } });
    expect(planned.transfer).toMatchObject({ chunkFrames: 21, totalFrames: 50 });
    expect(single('seg', {}, { guidance: 0 }).guidance.scale).toBe(3);
    expect(single('edge', { controlGuidance: 1 }).guidance).toMatchObject({ scale: 3, controlScale: 1 });
  });

  it('give way to the checkpoint', () => {
    const defaults = { transfer: { width: 320, height: 192, frames: 17, guidance: 2, fps: 8, steps: 6 } };
    const planned = planOf(transferRequest([givenHint('edge')]), { hints: [control], checkpoint: { defaults } });
    expect(planned).toMatchObject({ canvas: { width: 320, height: 192 }, steps: 6, fps: 8, guidance: { scale: 2 } });
    expect(planned.transfer?.chunkFrames).toBe(17);
    const own = { transfer: { width: 160, height: 96 } };
    const square = { ...control, width: 720 };
    const fitted = planOf(transferRequest([givenHint('edge')]), { hints: [square], checkpoint: { defaults: own } });
    expect(fitted.canvas).toEqual({ width: 112, height: 112 });
  });

  it('are not used for several', () => {
    const planned = planOf(transferRequest([givenHint('wsm'), givenHint('seg')]), { hints: [control, control] });
    expect(planned.guidance).toMatchObject({ scale: 3, controlScale: 1 });
    expect(planned).toMatchObject({ fps: 24, frames: 200 });
    expect(planned.transfer?.chunkFrames).toBe(93);
  });
});

describe('hints', () => {
  it('come in their fixed order, each with its own facts', () => {
    const kinds = [...hintKinds].reverse();
    const hints = kinds.map((_, i) => inputFacts(1280, 720, 20 + i, 24));
    const planned = planOf(transferRequest(kinds.map((kind) => givenHint(kind))), { hints });
    expect(planned.transfer?.hints.map(({ kind }) => kind)).toEqual(['edge', 'blur', 'depth', 'seg', 'wsm']);
    // The first control, edge, was given last.
    expect(planned.frames).toBe(24);
    expect(planned.inputs.map(({ role, frames }) => [role, frames])).toEqual(
      [24, 23, 22, 21, 20].map((n) => ['control', n]),
    );
  });

  it('are computed from the video for edge and blur', () => {
    const planned = planOf(transferRequest([{ kind: 'edge' }, { kind: 'blur', preset: 'very_high' }]), {
      video,
      hints: [null, null],
    });
    expect(planned.transfer?.hints).toEqual([
      { kind: 'edge', computed: true, weight: 0.5, preset: 'medium' },
      { kind: 'blur', computed: true, weight: 0.5, preset: 'very_high' },
    ]);
    expect(planned.frames).toBe(150);
    expect(planned.inputs.map(({ role }) => role)).toEqual(['video']);
  });

  it.each([
    [
      [1, 3],
      [0.25, 0.75],
    ],
    [
      [2, 0],
      [1, 0],
    ],
    [
      [0.5, 0.5],
      [0.5, 0.5],
    ],
    [[7], [1]],
  ])('weights %j become %j', (weights, expected) => {
    const hints = weights.map((weight, i) => givenHint(hintKinds[i] ?? 'edge', { weight }));
    const planned = planOf(transferRequest(hints), { hints: hints.map(() => control) });
    expect(planned.transfer?.hints.map(({ weight }) => weight)).toEqual(expected);
  });

  const weightText = "Cosmos3 transfer hint 'edge' control_weight must be finite and non-negative, got";
  it.each<[string, HintRequest[], object]>([
    [`${weightText} -1`, [givenHint('edge', { weight: -1 })], {}],
    [`${weightText} NaN`, [givenHint('edge', { weight: Number.NaN })], {}],
    [`${weightText} Infinity`, [givenHint('edge', { weight: Number.POSITIVE_INFINITY })], {}],
    [
      'Cosmos3 transfer control_weight values must have a positive sum.',
      [givenHint('edge', { weight: 0 }), givenHint('seg', { weight: 0 })],
      {},
    ],
    [
      "Cosmos3 transfer hint 'edge' requires either a video input for on-the-fly control generation or a precomputed control_path.",
      [{ kind: 'edge' }],
      { hints: [null] },
    ],
    [
      "Cosmos3 transfer hint 'depth' requires a precomputed control_path; on-the-fly generation is supported only for edge and blur.",
      [{ kind: 'depth' }],
      { hints: [null], video },
    ],
    ["Cosmos3 transfer hint 'seg' produced no frames.", [givenHint('seg')], { hints: [{ ...control, frames: 0 }] }],
    [
      "Unsupported Cosmos3 edge preset: 'huge'.",
      JSON.parse('[{"kind":"edge","preset":"huge"}]'),
      { hints: [null], video },
    ],
    ["Unsupported Cosmos3 blur preset: 'x'.", JSON.parse('[{"kind":"blur","preset":"x"}]'), { hints: [null], video }],
    ["Unsupported Cosmos3 transfer hint 'depth' fields:", [givenHint('depth', { preset: 'low' })], {}],
    ["transfer hint 'edge' was given 2 times", [givenHint('edge'), givenHint('edge')], {}],
  ])('%s', (message, hints, facts) => {
    const error = refusalOf(transferRequest(hints), { hints: hints.map(() => control), ...facts });
    expect(error.message.startsWith(message)).toBe(true);
  });

  it('ignore a preset where the map is given', () => {
    const hints = [givenHint('edge', { preset: 'low' })];
    expect(warningsOf(transferRequest(hints), { hints: [control] })[0]?.message).toContain(
      'preset_edge_threshold is ignored',
    );
  });
});

describe('length', () => {
  it.each([
    [{}, {}, 200],
    [{}, { frames: 121 }, 121],
    [{ maxFrames: 40 }, { frames: 121 }, 40],
    [{ maxFrames: 300 }, {}, 200],
    [{}, { frames: 300 }, 200],
    [{}, { seconds: 2 }, 48],
  ])('options %j and request %j make %d frames', (options, request, frames) => {
    expect(single('depth', options, request).frames).toBe(frames);
  });

  it.each([
    [121, 200, 121],
    [120, 200, 121],
    [1, 200, 1],
    [93, 1, 1],
    [2, 5, 5],
  ])('a chunk of %d for %d frames has %d', (chunkFrames, frames, expected) => {
    const conditionalFrames = chunkFrames === 1 ? 0 : 1;
    expect(single('depth', { chunkFrames, conditionalFrames }, { frames }).transfer?.chunkFrames).toBe(expected);
  });

  it('a picture as control makes one frame', () => {
    const planned = planOf(transferRequest([givenHint('depth')]), { hints: [inputFacts(640, 640)] });
    expect(planned.transfer).toMatchObject({ chunkFrames: 1, totalFrames: 1 });
    expect(planned.canvas).toEqual({ width: 960, height: 960 });
  });

  it.each([
    [{ chunkFrames: 0 }, 'num_video_frames_per_chunk is 0'],
    [{ conditionalFrames: -1 }, 'num_conditional_frames is -1'],
    [
      { chunkFrames: 9, conditionalFrames: 9 },
      'num_conditional_frames is 9; it must be smaller than the 9 frames of a chunk',
    ],
    [{ firstChunkConditionalFrames: -1 }, 'num_first_chunk_conditional_frames is -1'],
    [{ firstChunkConditionalFrames: 94 }, 'a chunk has 93 frames'],
    [{ firstChunkConditionalFrames: 5 }, 'there is no input video to take them from'],
    [{ maxFrames: 0 }, 'max_frames is 0'],
    [{ maxFrames: 1.5 }, 'max_frames is 1.5'],
    [{ controlGuidance: Number.NaN }, 'control_guidance is NaN'],
    [
      { controlGuidanceInterval: [900, 100] as const },
      'Cosmos3 control_guidance_interval must be ordered as [lo, hi], got [900, 100]',
    ],
    [
      JSON.parse('{"controlGuidanceInterval":[1,2,3]}'),
      'Cosmos3 control_guidance_interval must contain exactly two values.',
    ],
  ])('%j is refused', (options, part) => {
    expect(refusalOf(transferRequest([givenHint('depth')], options), { hints: [control] }).message).toContain(part);
  });

  it('one chunk needs no shorter overlap', () => {
    expect(single('depth', { chunkFrames: 9, conditionalFrames: 9 }, { frames: 9 }).transfer).toMatchObject({
      chunkFrames: 9,
      conditionalFrames: 9,
    });
  });
});

describe('options', () => {
  it('all reach the plan', () => {
    const options = {
      controlGuidanceInterval: [100, 900],
      conditionalFrames: 3,
      firstChunkConditionalFrames: 5,
      showControlCondition: true,
      showInput: true,
      shareTemporalPositions: false,
      attention: 'joint',
    } as const;
    const planned = planOf(transferRequest([givenHint('edge')], options), { hints: [control], video });
    const { controlGuidanceInterval, ...kept } = options;
    expect(planned.transfer).toMatchObject(kept);
    expect(planned.guidance.controlInterval).toEqual(controlGuidanceInterval);
    expect(planned.condition).toBeNull();
    expect(planned.inputs.map(({ role }) => role)).toEqual(['video', 'control']);
  });

  it('show no input that is not there', () => {
    expect(single('edge', { showInput: true }).transfer?.showInput).toBe(false);
    expect(warningsOf(transferRequest([givenHint('edge')], { showInput: true }), { hints: [control] })[0]?.param).toBe(
      'show_input',
    );
  });
});

describe('fps', () => {
  const fps = (kind: HintKind, request: Partial<GenerationRequest>, input: number | null) =>
    planOf(transferRequest([givenHint(kind)], {}, request), { hints: [control], video: { ...video, fps: input } }).fps;

  it.each([
    ['depth', undefined, 30, 30],
    ['depth', 12, 30, 30],
    ['depth', 12, null, 12],
    ['depth', undefined, null, 24],
    ['wsm', undefined, 30, 10],
    ['wsm', 12, 30, 12],
    ['depth', undefined, 0, 24],
  ] as const)('%s, asked %s, input %s: %d', (kind, asked, input, expected) => {
    expect(fps(kind, asked === undefined ? {} : { fps: asked }, input)).toBe(expected);
  });

  it('that is not used is told', () => {
    expect(warningsOf(transferRequest([givenHint('edge')], {}, { fps: 12 }), { hints: [control], video })).toEqual([
      { param: 'fps', message: 'fps 12 is ignored: transfer keeps the 30 fps of the input video' },
    ]);
  });
});

describe('canvas', () => {
  it('is the bucket nearest to the video, else to the first control', () => {
    const wide = inputFacts(1920, 1080, 9, 24);
    const tall = inputFacts(100, 180, 9, 24);
    expect(planOf(transferRequest([givenHint('edge')]), { hints: [tall] }).canvas).toEqual({
      width: 720,
      height: 1280,
    });
    expect(planOf(transferRequest([givenHint('edge')]), { hints: [tall], video: wide }).canvas).toEqual({
      width: 1280,
      height: 720,
    });
    const small = transferRequest([givenHint('edge')], {}, { resolution: '256' });
    expect(planOf(small, { hints: [inputFacts(1280, 720, 9)] }).canvas).toEqual({ width: 320, height: 192 });
  });

  it('takes no other size, and says so', () => {
    const request = transferRequest([givenHint('edge')], {}, { width: 640, height: 480 });
    expect(planOf(request, { hints: [control] }).canvas).toEqual({ width: 1280, height: 720 });
    expect(warningsOf(request, { hints: [control] })[0]?.message).toContain(
      'size 640x480 is ignored: transfer works at 1280x720',
    );
    const same = transferRequest([givenHint('edge')], {}, { width: 1280, height: 720 });
    expect(warningsOf(same, { hints: [control] })).toEqual([]);
  });

  it('is as asked for a reference', () => {
    const request = transferRequest([givenHint('edge')], {}, { width: 160, height: 96, reference: {} });
    expect(planOf(request, { hints: [control] }).canvas).toEqual({ width: 160, height: 96 });
  });

  it('refuses an unknown tier', () => {
    const request = transferRequest([givenHint('edge')], {}, { resolution: '1080' });
    expect(refusalOf(request, { hints: [control] }).message).toContain(
      "Unsupported Cosmos3 transfer resolution='1080'",
    );
  });
});
