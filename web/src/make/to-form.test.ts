import { describe, expect, test } from 'vitest';
import { extraParams, type Job, type ModelDetails, taskNames } from '../../../src/protocol/index.js';
import { createDraft, type DraftInput, loadJob, putInput, removeInput, setHint, setValue } from './draft.js';
import { errorsByField } from './field-of-error.js';
import { foldedGroups, presetOf, schemaOf, sentNames } from './fields.js';
import { readDraft } from './to-form.js';

const model: ModelDetails = {
  id: 'm',
  object: 'model',
  created: 0,
  owned_by: 'o',
  root: 'r',
  parent: null,
  max_model_len: null,
  permission: [],
  family: 'nano',
  device: 'cpu',
  tasks: taskNames.map((task) => ({
    task,
    width: 320,
    height: 192,
    num_frames: 25,
    fps: 24,
    num_inference_steps: 16,
    guidance_scale: 3,
    flow_shift: 5,
    guidance_interval: null,
  })),
  limits: {
    max_pixels: 1e6,
    max_steps: 200,
    max_guidance: 20,
    max_upload_bytes: 1e6,
    max_queue: 10,
    size_multiple: 16,
  },
  resolutions: { '256': ['256x256', '320x192'], '480': ['640x640', '832x480'] },
  sound: true,
  actions: null,
  guardrails: { enabled: false, prompt: [], frames: [] },
  policy_server: null,
};

const input = (key: number, role: DraftInput['role'], more: Partial<DraftInput> = {}): DraftInput => ({
  key,
  role,
  name: `${role}.bin`,
  state: 'ready',
  error: undefined,
  fileId: `file-${role}`,
  kind: role === 'image' ? 'image' : 'video',
  url: null,
  width: 1,
  height: 1,
  frames: null,
  rows: null,
  ...more,
});

describe('a form becomes a request', () => {
  test('that says only what was typed', () => {
    const draft = createDraft();
    setValue(draft, 'prompt', 'A ball');
    expect(readDraft(draft, model)).toEqual({
      form: { prompt: 'A ball', extra_params: { task: 'text-to-image' } },
      errors: {},
    });
  });

  test('numbers as numbers, sizes by shape and tier, files by name', () => {
    const draft = createDraft();
    for (const [name, text] of Object.entries({ prompt: 'p', num_frames: '9', seed: '3', skip_steps: '[1, 2]' }))
      setValue(draft, name, text);
    putInput(draft, input(1, 'image'));
    draft.shape.value = '16:9';
    expect(readDraft(draft, model).form).toEqual({
      prompt: 'p',
      num_frames: 9,
      seed: 3,
      size: '320x192',
      image_reference: { file_id: 'file-image' },
      extra_params: { task: 'image-to-video', skip_steps: [1, 2] },
    });
    draft.tier.value = '480';
    expect(readDraft(draft, model).form.size).toBe('832x480');
    removeInput(draft, 1);
    expect(readDraft(draft, model).form).not.toHaveProperty('image_reference');
  });

  test('with hints as switches, or as maps with weights and strengths', () => {
    const draft = createDraft();
    draft.task.value = 'transfer';
    putInput(draft, input(1, 'video'));
    putInput(draft, input(2, 'depth'));
    setHint(draft, 'depth', { weight: '0.5' });
    setHint(draft, 'blur', { isOn: true, preset: 'high' });
    draft.tier.value = '256';
    expect(readDraft(draft, model).form).toEqual({
      video_reference: { file_id: 'file-video' },
      extra_params: {
        task: 'transfer',
        resolution: '256',
        edge: true,
        blur: { preset_blur_strength: 'high' },
        depth: { file_id: 'file-depth', control_weight: 0.5 },
      },
    });
  });

  test('what is typed wrongly stands at its field and is not sent', () => {
    const draft = createDraft();
    setValue(draft, 'num_inference_steps', '900');
    const { form, errors } = readDraft(draft, model);
    expect(errors).toEqual({
      num_inference_steps: 'num_inference_steps must be a whole number from 1 to 200, got 900',
    });
    expect(form).not.toHaveProperty('num_inference_steps');
  });

  test('a weight that cannot be stands at its hint, in the words of the schema', () => {
    const draft = createDraft();
    draft.task.value = 'transfer';
    setHint(draft, 'edge', { weight: '-1' });
    expect(readDraft(draft, model).errors).toEqual({
      edge: 'control_weight must be a finite number of at least 0, got -1',
    });
  });
});

test('the request of a job fills the form so that the same request comes of it', () => {
  const request = {
    prompt: 'A ball',
    size: '320x192',
    seed: 4,
    num_frames: 9,
    generate_sound: true,
    image_reference: { file_id: 'file-1' },
    extra_params: { task: 'image-to-video', guidance_interval: [100, 900] },
  };
  const job = {
    task: 'image-to-video',
    seed: 4,
    request,
    inputs: [{ role: 'image', file_id: 'file-1', media_type: 'image/png', bytes: 1, url: '/x' }],
  };
  const draft = createDraft();
  loadJob(draft, job as Partial<Job> as Job, () => 1);
  const { form, errors } = readDraft(draft, model);
  expect(errors).toEqual({});
  const { size: _, ...rest } = request;
  expect(form).toEqual({ ...rest, width: 320, height: 192 });
});

test('every parameter that is shown or sent is one of the protocol', () => {
  for (const task of taskNames) {
    const names = [...sentNames(task), ...foldedGroups(task).flatMap((group) => group.names)];
    for (const name of names) expect(schemaOf(name), `${task}: ${name}`).toBeDefined();
  }
  // One that the protocol gains later has its place under `more` until it is given another.
  const everywhere = new Set(taskNames.flatMap((task) => foldedGroups(task).flatMap(({ names }) => names)));
  const own = new Set(['task', 'resolution', 'action_mode', 'domain_name', 'raw_action_dim']);
  expect(Object.keys(extraParams).filter((name) => !own.has(name) && !everywhere.has(name))).toEqual([]);
  expect(presetOf('edge')?.words).toContain('medium');
  expect(presetOf('depth')).toBeNull();
});

test('a task shows what concerns it', () => {
  const shown = (task: (typeof taskNames)[number]) =>
    Object.fromEntries(foldedGroups(task).map(({ id, names }) => [id, names]));
  expect(Object.keys(shown('text-to-image'))).toEqual(['prompt', 'sampling', 'output']);
  expect(shown('text-to-image').output).toEqual(['output_format']);
  expect(shown('text-to-video').output).toEqual(['video_codec_options', 'sound_duration']);
  expect(shown('video-to-video').sampling).toContain('condition_video_keep');
  expect(shown('image-to-video').sampling).not.toContain('condition_video_keep');
  expect(shown('transfer').transfer).toContain('show_control_condition');
  expect(shown('transfer').output).not.toContain('sound_duration');
  expect(shown('policy').action).toContain('view_point');
  expect(sentNames('forward-dynamics')).not.toContain('raw_action_dim');
  expect(sentNames('policy')).toContain('raw_action_dim');
});

test('an error stands at the field that is shown for it', () => {
  const shown = new Set(['size', 'num_frames']);
  const at = (param: string | null) => errorsByField({}, { param, reason: 'invalid_value', message: 'no' }, shown);
  expect(at('num_frames')).toEqual({ num_frames: 'no' });
  expect(at('width')).toEqual({ size: 'no' });
  expect(at('video_reference')).toEqual({ inputs: 'no' });
  expect(at('depth.control_path')).toEqual({ depth: 'no' });
  expect(at('something')).toEqual({});
  expect(at(null)).toEqual({});
});
