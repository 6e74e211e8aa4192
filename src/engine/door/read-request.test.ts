import { describe, expect, it } from 'vitest';
import { hintKinds, tasks } from '../../pipeline/request.js';
import { extraParams, hintParams, RequestError } from '../../protocol/index.js';
import { readRequest } from './read-request.js';

function enter(fields: Record<string, unknown>, extra: Record<string, unknown> = {}) {
  return readRequest({ fields: { prompt: 'a', ...fields }, extra }).request;
}

function fault(fields: Record<string, unknown>, extra: Record<string, unknown> = {}): string {
  try {
    enter(fields, extra);
  } catch (error) {
    if (error instanceof RequestError) return `${error.code} ${error.param}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('readRequest', () => {
  it('converts wire words, text included, and leaves the rest absent', () => {
    expect(enter({ size: '1280x720', width: 3, num_frames: '17', fps: '12.5', seed: '7', guidance_scale: 0 })).toEqual({
      prompt: 'a',
      width: 1280,
      height: 720,
      frames: 17,
      fps: 12.5,
      seed: 7,
    });
  });

  it('lets extra parameters win, knows other spellings, takes words for switches', () => {
    const request = enter(
      { flow_shift: 3, generate_sound: 'yes', negative_prompt: 'n' },
      { shift: 5, use_duration_template: 'ON', use_resolution_template: 0, seconds: null, image_size: 480 },
    );
    expect(request).toEqual({
      prompt: 'a',
      negativePrompt: 'n',
      flowShift: 5,
      sound: true,
      useDurationTemplate: true,
      useResolutionTemplate: false,
      resolution: '480',
    });
  });

  it('reads intervals and index lists in each spelling', () => {
    expect(enter({}, { guidance_interval: '400, 1000' }).guidanceInterval).toEqual([400, 1000]);
    expect(enter({}, { guidance_interval: [0, 500.5] }).guidanceInterval).toEqual([0, 500.5]);
    expect(enter({}, { condition_frame_indexes_vision: [3, '0', 3] }).conditionFrames).toEqual([0, 3]);
    expect(enter({}, { condition_frame_indexes_vision: '1,0' }).conditionFrames).toEqual([0, 1]);
    expect(enter({}, { skip_steps: 4 }).skipSteps).toEqual([4]);
  });

  it('reads hints in the trained order', () => {
    const transfer = enter(
      {},
      {
        depth: { control_path: 'd.mp4', control_weight: 0.5 },
        edge: true,
        blur: { preset_blur_strength: 'high' },
        seg: 's.png',
        control_guidance_interval: [1, 2],
        max_frames: 9,
      },
    ).transfer;
    expect(transfer).toEqual({
      hints: [
        { kind: 'edge' },
        { kind: 'blur', preset: 'high' },
        { kind: 'depth', source: { kind: 'file', path: 'd.mp4' }, weight: 0.5 },
        { kind: 'seg', source: { kind: 'file', path: 's.png' } },
      ],
      controlGuidanceInterval: [1, 2],
      maxFrames: 9,
    });
  });

  it('reads inline control frames', () => {
    const control = [[[[1, 2, 3]], [[4, 5, 6]]]];
    expect(enter({}, { wsm: { control } }).transfer?.hints[0]?.source).toEqual({
      kind: 'frames',
      clip: { width: 1, height: 2, frames: 1, fps: null, data: Uint8Array.of(1, 2, 3, 4, 5, 6) },
    });
  });

  it('takes action arrays with and without the batch axis', () => {
    const rows = [
      [1, 2],
      [3, 4],
    ];
    for (const action of [rows, [rows], { data: rows, shape: [2, 2] }]) {
      const request = enter({}, { action_mode: 'Forward_Dynamics', domain_name: 'av', action });
      expect(request.task).toBe('forward-dynamics');
      expect(request.action).toEqual({ domainName: 'av', actions: rows });
    }
    expect(enter({}, { action_mode: 'policy', action: [[1, 2, 3]] }).action?.actions).toEqual([[1, 2, 3]]);
  });

  it('has the same tasks and hints on both sides', () => {
    expect(extraParams.task.enum).toEqual([...tasks]);
    expect(Object.keys(hintParams)).toEqual([...hintKinds]);
  });

  it('asks for a picture by modalities or task', () => {
    expect(enter({ modalities: ['image'] }).task).toBe('text-to-image');
    expect(enter({ modalities: ['video', 'audio'] }).task).toBeUndefined();
    expect(enter({ task: 'text_to_image' }).task).toBe('text-to-image');
  });

  it('turns the checks off by name only', () => {
    expect(readRequest({ fields: { prompt: 'a' } }).guardrails).toBe(true);
    expect(readRequest({ fields: { prompt: 'a' }, extra: { guardrails: 'false' } }).guardrails).toBe(false);
  });

  it('drops unknown names with a warning, or refuses them', () => {
    const wire = { fields: { prompt: 'a', user: 'me' }, extra: { flow_shfit: 3 } };
    expect(readRequest(wire).warnings).toEqual([
      { param: 'flow_shfit', message: 'unknown parameter flow_shfit is ignored; did you mean flow_shift?' },
    ]);
    expect(() => readRequest(wire, { strict: true })).toThrow('unknown parameter flow_shfit; did you mean flow_shift?');
  });

  it.each([
    [{ prompt: null }, {}, 'missing_parameter prompt: prompt is missing: say in words what to make'],
    [{ size: '0x0' }, {}, 'invalid_value size: size must have a positive width and height, got 0x0'],
    [{ size: '10by10' }, {}, 'invalid_value size: size must be WIDTHxHEIGHT, as 1280x720, got "10by10"'],
    [{ num_frames: -4 }, {}, 'invalid_value num_frames: num_frames must be a whole number of at least 1, got -4'],
    [{ num_frames: '2.5' }, {}, 'invalid_value num_frames: num_frames must be a whole number of at least 1, got "2.5"'],
    [
      { num_inference_steps: 0 },
      {},
      'invalid_value num_inference_steps: num_inference_steps must be a whole number from 1 to 200, got 0',
    ],
    [
      { num_inference_steps: 10000 },
      {},
      'invalid_value num_inference_steps: num_inference_steps must be a whole number from 1 to 200, got 10000',
    ],
    [
      { guidance_scale: 'NaN' },
      {},
      'invalid_value guidance_scale: guidance_scale must be a finite number from 0 to 20, got "NaN"',
    ],
    [
      { guidance_scale: Number.NaN },
      {},
      'invalid_value guidance_scale: guidance_scale must be a finite number from 0 to 20, got NaN',
    ],
    [
      { fps: Number.POSITIVE_INFINITY },
      {},
      'invalid_value fps: fps must be a finite number of at least 1, got Infinity',
    ],
    [{ seed: 1.5 }, {}, 'invalid_value seed: seed must be a whole number from 0 to 9007199254740991, got 1.5'],
    [
      {},
      { guidance_interval: [9, 1] },
      'invalid_value guidance_interval: guidance_interval must be ordered as [lo, hi], got [9,1]',
    ],
    [
      {},
      { guidance_interval: [1] },
      'invalid_value guidance_interval: guidance_interval must contain exactly two values, got [1]',
    ],
    [
      {},
      { condition_frame_indexes_vision: [] },
      'invalid_value condition_frame_indexes_vision: condition_frame_indexes_vision must contain at least one index',
    ],
    [
      {},
      { condition_frame_indexes_vision: [-1] },
      'invalid_value condition_frame_indexes_vision: condition_frame_indexes_vision must be non-negative, got -1',
    ],
    [
      {},
      { edge: false },
      "invalid_value edge: transfer hint 'edge' must be an object, path string, or true; got false",
    ],
    [
      {},
      { depth: { control_pth: 'x' } },
      "unknown_parameter depth.control_pth: transfer hint 'depth' has no field control_pth; did you mean control_path? (it has control_path, control, control_weight)",
    ],
    [
      {},
      { depth: { control_path: 'x', control_weight: -1 } },
      'invalid_value depth.control_weight: depth.control_weight must be finite and non-negative, got -1',
    ],
    [
      {},
      { edge: { preset_edge_threshold: 'huge' } },
      'invalid_value edge.preset_edge_threshold: edge.preset_edge_threshold must be one of none, very_low, low, medium, high, very_high, got "huge"',
    ],
    [
      {},
      { action: [[1, 2], [3]] },
      'invalid_value action: action has rows of different lengths: row 0 has 2 numbers, row 1 has 1',
    ],
    [{}, { action: [[1, null]] }, 'invalid_value action: action must hold finite numbers, got null at row 0, column 1'],
    [{}, { action: [] }, 'invalid_value action: action must be a list of rows of numbers, [steps][numbers], got []'],
    [
      {},
      { action_mode: 'policies' },
      'invalid_value action_mode: action_mode must be one of policy, forward_dynamics, inverse_dynamics, got "policies"',
    ],
    [
      { modalities: ['image', 'video'] },
      {},
      'conflict modalities: modalities cannot request both image and video; ask for one',
    ],
    [
      { modalities: ['image'] },
      { action_mode: 'policy' },
      'conflict action_mode: action generation is supported only for video outputs',
    ],
    [
      {},
      { lora: { name: 'a', path: 'b' } },
      'not_implemented lora: lora: adapters of single requests are not available; start with --lora-path, which applies one to all',
    ],
  ])('refuses %j %j', (fields, extra, message) => {
    expect(fault(fields, extra)).toBe(message);
  });
});
