import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { Planner } from '../../engine/planner/planner.js';
import { decodeImage, type RgbImage } from '../../media/index.js';
import { checkActions } from './action-contract.js';
import { columnsToQuaternion, quaternionToColumns, robotAction, stateRow } from './action-space.js';
import { composeViews, fitTo } from './composite.js';
import { MessageError, packMessage, unpackMessage } from './msgpack-numpy.js';
import { NdArray, readTensor } from './nd-array.js';
import { readStateRows } from './observation.js';
import { readPolicyParams } from './policy-params.js';

const solid = (width: number, height: number, color: readonly number[]): RgbImage => ({
  width,
  height,
  data: Uint8Array.from({ length: width * height * 3 }, (_, i) => color[i % 3] ?? 0),
});
const pixel = ({ width, data }: RgbImage, x: number, y: number) => [
  ...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
];

describe('the picture of three cameras', () => {
  const composite = composeViews({
    wrist: solid(640, 360, [255, 0, 0]),
    left: solid(640, 360, [0, 255, 0]),
    right: solid(640, 360, [0, 0, 255]),
  });

  it('has the wrist on top and both others below, half as large', () => {
    expect([composite.width, composite.height]).toEqual([640, 540]);
    expect(pixel(composite, 0, 0)).toEqual([255, 0, 0]);
    expect(pixel(composite, 639, 359)).toEqual([255, 0, 0]);
    expect(pixel(composite, 0, 360)).toEqual([0, 255, 0]);
    expect(pixel(composite, 319, 539)).toEqual([0, 255, 0]);
    expect(pixel(composite, 320, 360)).toEqual([0, 0, 255]);
    expect(pixel(composite, 639, 539)).toEqual([0, 0, 255]);
  });

  it('shrinks the outer cameras bilinearly, without antialiasing', () => {
    const ramp: RgbImage = {
      width: 8,
      height: 4,
      data: Uint8Array.from({ length: 96 }, (_, i) => (Math.floor(i / 3) % 8) * 10),
    };
    const { data, width } = composeViews({ wrist: solid(8, 4, [0, 0, 0]), left: ramp, right: solid(8, 4, [9, 9, 9]) });
    // Halving samples between two neighbours: (0+10)/2, (20+30)/2, …
    expect([0, 1, 2, 3].map((x) => data[(4 * width + x) * 3])).toEqual([5, 25, 45, 65]);
  });

  it('is brought to the size of training', () => {
    const fitted = fitTo(
      composeViews({
        wrist: solid(320, 180, [1, 2, 3]),
        left: solid(320, 180, [1, 2, 3]),
        right: solid(320, 180, [1, 2, 3]),
      }),
      640,
      540,
    );
    expect([fitted.width, fitted.height, pixel(fitted, 320, 400)]).toEqual([640, 540, [1, 2, 3]]);
  });
});

describe('states and actions', () => {
  it('turn the gripper round, both ways', () => {
    expect(stateRow('joint_pos', [0, 1, 2, 3, 4, 5, 6], 0.25)).toEqual([0, 1, 2, 3, 4, 5, 6, 0.75]);
    expect(robotAction('joint_pos', [0, 1, 2, 3, 4, 5, 6, 0.75])).toEqual([0, 1, 2, 3, 4, 5, 6, 0.25]);
  });

  it('turn rotations into columns and back', () => {
    // A quarter turn about z: x goes to y, y to -x.
    const quarter = [0, 0, Math.SQRT1_2, Math.SQRT1_2];
    const columns = quaternionToColumns(quarter);
    for (const [i, value] of [0, 1, 0, -1, 0, 0].entries()) expect(columns[i]).toBeCloseTo(value, 12);
    for (const quaternion of [
      quarter,
      [1, 0, 0, 0],
      [0, 1, 0, 0],
      [0, 0, 1, 0],
      [0.5, -0.5, 0.5, 0.5],
      [0.1, 0.2, 0.3, 0.9273618495495703],
    ]) {
      const back = columnsToQuaternion(quaternionToColumns(quaternion));
      const dot = back.reduce((sum, value, i) => sum + value * (quaternion[i] ?? 0), 0);
      expect(Math.abs(dot)).toBeCloseTo(1, 9);
      expect(back[3]).toBeGreaterThanOrEqual(0);
    }
    expect(stateRow('midtrain', [1, 2, 3, 0, 0, 0, 1], 1)).toEqual([1, 2, 3, 1, 0, 0, 0, 1, 0, 0]);
    expect(robotAction('midtrain', [1, 2, 3, 1, 0, 0, 0, 1, 0, 0.25])).toEqual([1, 2, 3, 0, 0, 0, 1, 0.75]);
  });

  it('are read from arrays, lists and single numbers, the last rows of those given', () => {
    const joints = new NdArray('<f4', [2, 7], new Uint8Array(Float32Array.from({ length: 14 }, (_, i) => i).buffer));
    const rows = readStateRows(
      { 'observation/joint_position': joints, 'observation/gripper_position': [[0], [1]] },
      'joint_pos',
      1,
    );
    expect(rows).toEqual([[7, 8, 9, 10, 11, 12, 13, 0]]);
    const single = readStateRows(
      { 'observation/joint_position': [0, 0, 0, 0, 0, 0, 0], 'observation/gripper_position': 1 },
      'joint_pos',
      1,
    );
    expect(single).toEqual([[0, 0, 0, 0, 0, 0, 0, 0]]);
    const bad = { 'observation/joint_position': [0, 0], 'observation/gripper_position': 1 };
    expect(() => readStateRows(bad, 'joint_pos', 1)).toThrow('[T, 7]');
    expect(() => readStateRows({}, 'joint_pos', 1)).toThrow('observation/joint_position is missing');
  });

  it('are sent only where they are whole and finite', () => {
    const none = { horizon: null, maxHorizon: null, dim: null };
    expect(() =>
      checkActions(
        [
          [1, 2],
          [3, 4],
        ],
        { ...none, horizon: 2, dim: 2 },
      ),
    ).not.toThrow();
    expect(() => checkActions([[1, Number.NaN]], none)).toThrow('finite');
    expect(() => checkActions([], none)).toThrow('empty');
    expect(() => checkActions([[1], [1, 2]], none)).toThrow('differ');
    expect(() => checkActions([[1]], { ...none, horizon: 2 })).toThrow('1 steps instead of 2');
    expect(() => checkActions([[1], [2]], { ...none, maxHorizon: 1 })).toThrow('at most 1');
  });
});

const robot = {
  prompt: 'Pick up the banana.',
  'observation/wrist_image_left': new NdArray('|u1', [180, 320, 3], solid(320, 180, [200, 0, 0]).data),
  'observation/exterior_image_1_left': new NdArray('|u1', [180, 320, 3], solid(320, 180, [0, 200, 0]).data),
  'observation/exterior_image_2_left': new NdArray('|u1', [180, 320, 3], solid(320, 180, [0, 0, 200]).data),
  'observation/joint_position': [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
  'observation/gripper_position': 0.25,
};

describe('the request of a policy', () => {
  it('is what the model was trained with', async () => {
    const { params, wanted } = readPolicyParams({ robot_obs: robot });
    expect(params).toMatchObject({
      action_mode: 'policy',
      actions_only: true,
      domain_name: 'droid_lerobot',
      raw_action_dim: 8,
      action_chunk_size: 32,
      num_frames: 33,
      fps: 15,
      num_inference_steps: 4,
      guidance_scale: 3,
      flow_shift: 5,
      resolution: '480',
      seed: 0,
      view_point: 'concat_view',
      format_prompt_as_json: false,
      prompt: 'Pick up the banana.',
      action_history: [[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75]],
    });
    const [picture] = wanted;
    if (picture?.source.kind !== 'picture') throw new Error('no picture');
    const image = await decodeImage(await picture.source.make());
    expect([image.width, image.height]).toEqual([640, 540]);
    expect([pixel(image, 320, 100), pixel(image, 100, 500), pixel(image, 500, 500)]).toEqual([
      [200, 0, 0],
      [0, 200, 0],
      [0, 0, 200],
    ]);

    {
      using planner = await Planner.open();
      const clip = { width: image.width, height: image.height, frames: 1, fps: null, data: image.data };
      const { plan } = await planner.plan({ fields: {}, extra: params, image: { kind: 'frames', clip } });
      expect(plan.canvas).toEqual({ width: 736, height: 544 });
      expect(plan.content).toEqual({ width: 640, height: 528 });
      expect(plan.action).toMatchObject({
        rows: 33,
        historyRows: 1,
        rawDim: 8,
        domain: 8,
        fps: 15,
        decodeVideo: false,
        given: [[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75]],
      });
      expect([plan.steps, plan.guidance.scale, plan.fps, plan.task]).toEqual([4, 3, 15, 'policy']);
      expect(plan.prompt.text).toContain('This video contains concatenated views from multiple camera perspectives.');
      expect(plan.prompt.text).toContain('The top row is from the wrist-mounted camera.');
      expect(plan.negativePrompt?.text).not.toContain('camera');
    }
  });

  it('can leave the state out, and takes other sizes', () => {
    const { params } = readPolicyParams({
      robot_obs: robot,
      use_state: false,
      action_chunk_size: 16,
      deterministic_seed: true,
      robolab_seed: 9,
      seed: 4,
    });
    expect(params).toMatchObject({ num_frames: 17, action_chunk_size: 16, seed: 9 });
    expect(params.action_history).toBeUndefined();
    expect(
      readPolicyParams({
        observation: {
          image: [
            [
              [1, 2, 3],
              [1, 2, 3],
            ],
            [
              [1, 2, 3],
              [1, 2, 3],
            ],
          ],
          joint_position: [0, 0, 0, 0, 0, 0, 0],
          gripper_position: 0,
        },
        prompt: 'go',
      }).params.prompt,
    ).toBe('go');
  });
});

describe('messages', () => {
  const floats = new NdArray('<f4', [2, 2], new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer));

  it('are those of the Python libraries, byte for byte', () => {
    expect(packMessage(floats, 'openpi').toString('hex')).toBe(
      '84c40b5f5f6e6461727261795f5fc3c40464617461c4100000803f000000400000404000008040c4056474797065a33c6634c4057368617065920202',
    );
    expect(packMessage(floats, 'nd').toString('hex')).toBe(
      '85c4026e64c3c40474797065a33c6634c4046b696e64c400c4057368617065920202c40464617461c4100000803f000000400000404000008040',
    );
    expect(packMessage({ status: 'reset successful' }, 'openpi').toString('hex')).toBe(
      '81a6737461747573b07265736574207375636365737366756c',
    );
    expect(packMessage({ image_resolution: [540, 640], needs_wrist_camera: true }, 'openpi').toString('hex')).toBe(
      '82b0696d6167655f7265736f6c7574696f6e92cd021ccd0280b26e656564735f77726973745f63616d657261c3',
    );
  });

  it('come back as they went, in either form', () => {
    for (const form of ['openpi', 'nd'] as const) {
      const { value, form: found } = unpackMessage(packMessage({ a: floats, b: [1, 'x', null, true] }, form));
      expect(found).toBe(form);
      expect(value).toMatchObject({ b: [1, 'x', null, true] });
      expect(readTensor('a', value !== null && typeof value === 'object' && 'a' in value ? value.a : null)).toEqual({
        shape: [2, 2],
        numbers: [1, 2, 3, 4],
      });
    }
  });

  it('hold numpy scalars and keys of text', () => {
    const scalar = new Map<unknown, unknown>([
      [Buffer.from('__npgeneric__'), true],
      ['data', Buffer.from(Float64Array.of(0.5).buffer)],
      ['dtype', '<f8'],
    ]);
    const old = new Map<unknown, unknown>([
      ['nd', false],
      ['type', '<i4'],
      ['data', Buffer.from(Int32Array.of(-3).buffer)],
    ]);
    const bytes = new Packr({ useRecords: false }).pack(
      new Map<string, unknown>([
        ['x', scalar],
        ['y', old],
      ]),
    );
    expect(unpackMessage(bytes).value).toEqual({ x: 0.5, y: -3 });
  });

  it.each([
    ['no message', Buffer.from('84c4', 'hex')],
    ['a length that is not there', Buffer.from('dfffffffff', 'hex')],
    ['objects', packMessage(new NdArray('|O', [1], new Uint8Array(8)), 'openpi')],
    ['complex numbers', packMessage(new NdArray('<c8', [1], new Uint8Array(8)), 'nd')],
    ['too few bytes', packMessage(new NdArray('<f4', [3], new Uint8Array(8)), 'openpi')],
    ['a negative side', packMessage(new NdArray('<f4', [-2], new Uint8Array(8)), 'openpi')],
    ['numbers as keys', Buffer.from('810102', 'hex')],
    ['a bomb of lists', Buffer.concat([Buffer.alloc(64, 0x91), Buffer.from('c0', 'hex')])],
  ])('are refused with %s', (_, bytes) => {
    expect(() => unpackMessage(bytes)).toThrow(MessageError);
  });
});
