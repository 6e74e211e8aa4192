import { describe, expect, it } from 'vitest';
import { inputFacts, planOf, refusalOf, warningsOf } from '../../../test/pipeline/plan-facts.js';
import { droidPolicy } from '../defaults.js';
import type { ActionRequest, GenerationRequest, Task } from '../request.js';
import { filledSize } from './actions.js';
import { domains } from './domains.js';

const image = inputFacts(640, 480);
const video = inputFacts(640, 480, 40, 5);
const known = { domainName: 'bridge_orig_lerobot', rawActionDim: 10 };

const ask = (task: Task, action: ActionRequest = {}, request: Partial<GenerationRequest> = {}) => ({
  task,
  action: { ...known, ...action },
  ...request,
});
const rowsOf = (count: number, width = 10) =>
  Array.from({ length: count }, (_, r) => Array.from({ length: width }, (_, c) => r + c / 100));

describe('lengths', () => {
  it.each([
    [{}, {}, 16, 17, 1],
    [{ chunk: 8 }, {}, 8, 9, 1],
    [{}, { frames: 61 }, 60, 61, 1],
    [{ chunk: 60 }, { frames: 61 }, 60, 61, 1],
    [{ chunk: 17 }, { frames: 17 }, 17, 17, 0],
    [{ chunk: 1 }, { frames: 1 }, 1, 1, 0],
  ])('action %j, request %j: %d rows, %d frames, offset %d', (action, request, rows, frames, offset) => {
    const planned = planOf(ask('policy', action, request), { image });
    expect(planned.frames).toBe(frames);
    expect(planned.action).toMatchObject({
      rows,
      offset,
      historyRows: 0,
      mode: 'policy',
      domain: 7,
      rawDim: 10,
      given: [],
    });
  });

  it('makes whole latent frames of a clip between two lengths', () => {
    const request = ask('policy', { chunk: 10 });
    expect(planOf(request, { image })).toMatchObject({ frames: 9, action: { rows: 10, offset: 1 } });
    expect(warningsOf(request, { image })[0]?.message).toContain('the clip has 9 of the 11 frames');
  });

  it.each([
    [
      ask('policy', { chunk: 8 }, { frames: 12 }),
      'num_frames is 12 and action_chunk_size 8; num_frames must be 8 or 9',
    ],
    [ask('policy', { chunk: 0 }), 'action_chunk_size is 0'],
    [ask('policy', { chunk: 2.5 }), 'action_chunk_size is 2.5'],
    [ask('policy', {}, { frames: 2.5 }), 'num_frames is 2.5'],
    [ask('policy', { fps: 0 }), 'action_fps is 0'],
    [
      ask('policy', { history: rowsOf(1) }, { frames: 40, action: { ...known, chunk: 8, history: rowsOf(1) } }),
      '(with 1 rows of history)',
    ],
  ])('%j is refused', (request, part) => {
    expect(refusalOf(request, { image }).message).toContain(part);
  });

  it('has its own fps', () => {
    expect(planOf(ask('policy', {}, { fps: 5 }), { image }).action?.fps).toBe(5);
    expect(planOf(ask('policy', { fps: 2.5 }, { fps: 5 }), { image })).toMatchObject({ fps: 5, action: { fps: 2.5 } });
  });
});

describe('what is given', () => {
  it('of a picture or clip is latent frame 0 for policy and forward dynamics', () => {
    const condition = { source: 'image', latentFrames: [0], pixelFrames: 1, keep: 'first', fit: 'pad' };
    expect(planOf(ask('policy'), { image }).condition).toEqual(condition);
    expect(planOf(ask('policy'), { video }).condition).toEqual({ ...condition, source: 'video' });
    const forward = ask('forward-dynamics', { actions: rowsOf(16) });
    expect(planOf(forward, { image }).condition).toEqual(condition);
  });

  it('is the whole clip for inverse dynamics', () => {
    const planned = planOf(ask('inverse-dynamics'), { video });
    expect(planned.condition).toEqual({
      source: 'video',
      latentFrames: [0, 1, 2, 3, 4],
      pixelFrames: 17,
      keep: 'first',
      fit: 'pad',
    });
    expect(warningsOf(ask('inverse-dynamics'), { video, image })[0]?.param).toBe('image');
    expect(warningsOf(ask('policy'), { video, image })[0]?.param).toBe('video');
  });

  it('actions are cut to the chunk, or their last row repeated', () => {
    const short = ask('forward-dynamics', { actions: rowsOf(7), chunk: 8 });
    const { action, inputs } = planOf(short, { image });
    expect(action?.given).toEqual([...rowsOf(7), rowsOf(7)[6]]);
    expect(inputs[1]).toMatchObject({ role: 'actions', width: 10, height: 1, frames: 8 });
    expect(warningsOf(short, { image })[0]?.message).toContain('action has 7 rows; the last is repeated');
    const long = ask('forward-dynamics', { actions: rowsOf(9), chunk: 8 });
    expect(planOf(long, { image }).action?.given).toEqual(rowsOf(8));
    expect(warningsOf(long, { image })[0]?.message).toContain('action has 9 rows; those after');
    expect(warningsOf(ask('policy', { actions: rowsOf(2) }), { image })[0]?.message).toContain('action is ignored');
  });

  it('history stands at the front', () => {
    const state = rowsOf(1);
    const planned = planOf(ask('policy', { chunk: 32, history: state }), { image });
    expect(planned.frames).toBe(33);
    expect(planned.action).toMatchObject({ rows: 33, historyRows: 1, offset: 0, given: state });
    const forward = planOf(ask('forward-dynamics', { chunk: 4, history: state, actions: rowsOf(4) }), { image });
    expect(forward.action).toMatchObject({ rows: 5, historyRows: 1, given: [...state, ...rowsOf(4)] });
  });

  it.each<[string, Partial<GenerationRequest>]>([
    ['needs an action array of at least one row', ask('forward-dynamics')],
    ['needs an action array of at least one row', ask('forward-dynamics', { actions: [] })],
    ['action has 9 numbers per row, raw_action_dim is 10', ask('forward-dynamics', { actions: rowsOf(3, 9) })],
    [
      'action is ragged: row 2 has 9 numbers, row 0 has 10',
      ask('forward-dynamics', { actions: [...rowsOf(2), ...rowsOf(1, 9)] }),
    ],
    [
      'action row 1, column 3 is NaN',
      ask('forward-dynamics', { actions: [rowsOf(1)[0] ?? [], [0, 0, 0, Number.NaN, 0, 0, 0, 0, 0, 0]] }),
    ],
    [
      'action row 0, column 0 is Infinity',
      ask('forward-dynamics', { actions: [[Number.POSITIVE_INFINITY, 0, 0, 0, 0, 0, 0, 0, 0, 0]] }),
    ],
    ['action_history has 9 numbers per row', ask('policy', { history: rowsOf(1, 9) })],
    ['raw_action_dim is 0; it must be a whole number from 1 to 64', ask('policy', { rawActionDim: 0 })],
    ['raw_action_dim is 65', ask('policy', { rawActionDim: 65 })],
    [
      'actions_only leaves forward_dynamics without a result',
      ask('forward-dynamics', { actions: rowsOf(2), actionsOnly: true }),
    ],
    [
      'action has 9 numbers per row: bridge_orig_lerobot has 10',
      { task: 'forward-dynamics', action: { domainName: 'bridge_orig_lerobot', actions: rowsOf(2, 9) } },
    ],
    [
      "Cosmos3 action_mode='policy' and 'inverse_dynamics' require extra_args['raw_action_dim'].",
      { task: 'policy', action: { domainName: 'av' } },
    ],
    [
      "Cosmos3 action generation requires extra_args['domain_id'] or non-empty extra_args['domain_name'].",
      { task: 'policy', action: { domainName: ' ', rawActionDim: 9 } },
    ],
  ])('%s', (part, request) => {
    expect(refusalOf(request, { image }).message).toContain(part);
  });

  it('takes the width of the rows where nothing else says it', () => {
    const action = { domainName: 'libero', actions: rowsOf(3, 7) };
    expect(planOf({ task: 'forward-dynamics', action }, { image }).action?.rawDim).toBe(7);
    const droid = { domainName: 'droid_lerobot', actions: rowsOf(3, 8) };
    expect(planOf({ task: 'forward-dynamics', action: droid }, { image }).action?.rawDim).toBe(8);
  });
});

describe('domains', () => {
  it.each(domains.flatMap(({ id, names }) => names.map((name) => [name, id] as const)))('%s is %d', (name, id) => {
    expect(planOf(ask('policy', { domainName: name.toUpperCase() }), { image }).action?.domain).toBe(id);
  });

  it('have the numbers of the table', () => {
    const numbers = Object.fromEntries(domains.flatMap(({ id, names }) => names.map((name) => [name, id])));
    expect(numbers).toMatchObject({ no_action: 0, av: 1, camera_pose: 2, hand_pose: 3, pusht: 4, libero: 5, umi: 6 });
    expect(numbers).toMatchObject({ bridge_orig_lerobot: 7, droid_lerobot: 8, 'robomind-franka': 8, embodiment_b: 9 });
    expect(numbers).toMatchObject({ 'robomind-franka-dual': 12, 'robomind-ur': 13, agibotworld: 15, xdof_yam: 16 });
    expect(numbers).toMatchObject({ fractal: 20, drawanything: 21, behavior1k_lerobot: 22, maniparena: 23 });
  });

  it('go by number before name', () => {
    expect(planOf(ask('policy', { domainId: 31 }), { image }).action?.domain).toBe(31);
  });

  it.each([
    [{ domainName: 'mars' }, "domain_name 'mars' is unknown; expected one of no_action, av, camera_pose"],
    [{ domainId: 32 }, 'domain_id is 32; it must be a whole number from 0 to 31'],
    [{ domainId: -1 }, 'domain_id is -1'],
  ])('%j is refused', (action, part) => {
    expect(refusalOf(ask('policy', action), { image }).message).toContain(part);
  });

  it('must be in the checkpoint', () => {
    const checkpoint = { domains: 8 };
    expect(refusalOf(ask('policy', { domainName: 'fractal' }), { image, checkpoint }).message).toContain(
      'domain_id is 20',
    );
  });
});

describe('canvas and content', () => {
  it.each([
    [640, 480, 736, 544, 640, 480],
    [1920, 1080, 832, 480, 832, 464],
    [640, 540, 736, 544, 640, 528],
    [176, 132, 736, 544, 176, 128],
    [8, 8, 640, 640, 16, 16],
  ])('a source of %dx%d lies on %dx%d and fills %dx%d', (w, h, width, height, filledWidth, filledHeight) => {
    const planned = planOf(ask('policy'), { image: inputFacts(w, h) });
    expect(planned.canvas).toEqual({ width, height });
    expect(planned.content).toEqual({ width: filledWidth, height: filledHeight });
  });

  it('take the size of the request', () => {
    const planned = planOf(ask('policy', {}, { width: 640, height: 480 }), { image: inputFacts(1920, 1080) });
    expect(planned.canvas).toEqual({ width: 640, height: 480 });
    expect(planned.content).toEqual({ width: 640, height: 352 });
    expect(planOf(ask('policy', {}, { resolution: '256' }), { image }).canvas).toEqual({ width: 320, height: 256 });
  });

  it('never enlarge the source', () => {
    expect(filledSize({ width: 320, height: 256 }, { width: 160, height: 112 }, 16)).toEqual({
      width: 160,
      height: 112,
    });
  });
});

describe('the DROID policy', () => {
  it('makes 32 actions of 8 numbers behind one row of state', () => {
    const {
      domainName,
      rawActionDim,
      chunk,
      viewPoint,
      promptAsJson,
      image: seen,
      historyRows: _rows,
      ...request
    } = droidPolicy;
    const planned = planOf(
      {
        ...request,
        task: 'policy',
        prompt: 'Pick up the banana and place it in the bowl.',
        action: { domainName, rawActionDim, chunk, viewPoint, promptAsJson, history: rowsOf(1, 8), actionsOnly: true },
      },
      { image: inputFacts(seen.width, seen.height) },
    );
    expect(planned).toMatchObject({
      canvas: { width: 736, height: 544 },
      content: { width: 640, height: 528 },
      frames: 33,
    });
    expect(planned).toMatchObject({ steps: 4, guidance: { scale: 3 }, fps: 15, seed: 0, schedule: { flowShift: 5 } });
    expect(planned.action).toMatchObject({
      rows: 33,
      historyRows: 1,
      offset: 0,
      domain: 8,
      rawDim: 8,
      decodeVideo: false,
    });
    expect(planned.prompt.text).toBe(
      '<|im_start|>user\nPick up the banana and place it in the bowl. This video contains concatenated views from multiple camera perspectives. The top row is from the wrist-mounted camera. The bottom row contains two horizontally concatenated third-person perspective views of the scene from opposite sides, with the robot visible. The video is 2.0 seconds long and is of 15 FPS. This video is of 544x736 resolution.<|im_end|>\n<|im_start|>assistant\n<|im_end|><|vision_start|>',
    );
    expect(planned.negativePrompt?.text).toBe(
      '<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n<|im_end|><|vision_start|>',
    );
  });
});
