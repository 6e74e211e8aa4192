import { describe, expect, it } from 'vitest';
import { givenHint, inputFacts, planOf, refusalOf, warningsOf } from '../../../test/pipeline/plan-facts.js';
import type { GenerationRequest } from '../request.js';
import { actionCaption, viewSentence, withView } from './action-prompt.js';
import { rewriteJsonPrompt } from './json-prompt.js';
import { formatPrompts } from './prompts.js';

const clip = {
  task: 'text-to-video',
  canvas: { width: 1280, height: 720 },
  frames: 189,
  fps: 24,
  hints: [],
  view: null,
} as const;
const picture = { ...clip, task: 'text-to-image', frames: 1 } as const;
const ignore = () => undefined;
const both = { useResolutionTemplate: true, useDurationTemplate: true };
const format = (request: Partial<GenerationRequest>, facts: Parameters<typeof formatPrompts>[1] = clip) =>
  formatPrompts({ prompt: 'A cat.', ...request }, facts, ignore);

describe('sentences', () => {
  it.each([
    [{}, 'A cat.'],
    [{ prompt: '  A cat \n' }, 'A cat'],
    [both, 'A cat. The video is 7.9 seconds long and is of 24 FPS. This video is of 720x1280 resolution.'],
    [
      { ...both, prompt: ' A cat... ' },
      'A cat. The video is 7.9 seconds long and is of 24 FPS. This video is of 720x1280 resolution.',
    ],
    [{ useDurationTemplate: true }, 'A cat. The video is 7.9 seconds long and is of 24 FPS.'],
    [{ useResolutionTemplate: true }, 'A cat. This video is of 720x1280 resolution.'],
    [{ ...both, prompt: '' }, 'The video is 7.9 seconds long and is of 24 FPS. This video is of 720x1280 resolution.'],
    [{ promptSuffix: 'Slow motion.' }, 'A cat. Slow motion.'],
    [{ prompt: '', promptSuffix: 'Slow motion.' }, 'Slow motion.'],
    [{ promptSuffix: '\nSlow.' }, 'A cat.\nSlow.'],
    [{ prompt: ' a ', reference: { rawPrompt: true } }, ' a '],
    [
      { prompt: ' a. ', useResolutionTemplate: true, reference: { rawPrompt: true } },
      'a. This video is of 720x1280 resolution.',
    ],
  ])('of %j are %s', (request, text) => {
    expect(format(request).positive).toBe(text);
  });

  it('of a picture name no duration', () => {
    expect(format(both, picture).positive).toBe('A cat. This image is of 720x1280 resolution.');
    expect(format({ ...both, negativePrompt: 'blur' }, picture).negative).toBe(
      'blur. This image is not of 720x1280 resolution.',
    );
  });

  it('of a single frame name a duration in the negative prompt alone', () => {
    const frame = { ...clip, frames: 1 };
    expect(format({ useDurationTemplate: true }, frame).positive).toBe('A cat.');
    expect(format({ useDurationTemplate: true }, frame).negative).toBe(
      'The video is not 0.0 seconds long and is not of 24 FPS.',
    );
  });

  const inverse = 'The video is not 7.9 seconds long and is not of 24 FPS. This video is not of 720x1280 resolution.';
  it.each([
    [{}, ''],
    [{ negativePrompt: ' {"a": 1} ' }, '{"a": 1}'],
    [both, inverse],
    [{ ...both, negativePrompt: 'blurry.' }, `blurry. ${inverse}`],
    [{ ...both, negativePrompt: 'blurry', negativeMetadataMode: 'none' as const }, 'blurry'],
    [{ ...both, negativePrompt: '{"a": 1}' }, `{"a": 1}. ${inverse}`],
    [
      { ...both, negativePrompt: 'blurry', negativeMetadataMode: 'same' as const },
      'blurry. The video is 7.9 seconds long and is of 24 FPS. This video is of 720x1280 resolution.',
    ],
  ])('of the negative prompt, %j: %s', (request, text) => {
    expect(format(request).negative).toBe(text);
  });
});

describe('system prompt', () => {
  const videoPrompt = 'You are a helpful assistant who will generate videos from a give prompt.';
  it.each([
    ['text-to-video', {}, null],
    ['text-to-image', {}, null],
    ['image-to-video', {}, null],
    ['policy', {}, null],
    ['video-to-video', {}, videoPrompt],
    ['video-to-video', { useSystemPrompt: false }, null],
    ['text-to-video', { useSystemPrompt: true }, videoPrompt],
    [
      'text-to-image',
      { useSystemPrompt: true },
      'You are a helpful assistant who will generate images from a give prompt.',
    ],
    ['text-to-video', { useSystemPrompt: true, systemPrompt: 'Be brief.' }, 'Be brief.'],
    ['video-to-video', { systemPrompt: 'Be brief.' }, 'Be brief.'],
    ['text-to-video', { systemPrompt: 'Be brief.' }, null],
    [
      'transfer',
      { useSystemPrompt: false, systemPrompt: 'Be brief.' },
      "You are a helpful assistant that generates images or videos following the user's instructions and control signals (edge maps, blur, depth, or segmentation).",
    ],
  ] as const)('%s %j', (task, request, text) => {
    expect(format(request, { ...clip, task }).system).toBe(text);
  });

  it('stands in front of both prompts', () => {
    const planned = planOf({ prompt: 'x', useSystemPrompt: true, systemPrompt: 'S', negativePrompt: 'n' });
    const chat = (user: string) =>
      `<|im_start|>system\nS<|im_end|>\n<|im_start|>user\n${user}<|im_end|>\n<|im_start|>assistant\n<|im_end|><|vision_start|>`;
    expect(planned.prompt.text).toBe(chat('x'));
    expect(planned.negativePrompt?.text).toBe(chat('n'));
  });

  it('that is not used is told', () => {
    expect(warningsOf({ systemPrompt: 'S' })[0]?.message).toContain('set use_system_prompt to true');
  });
});

describe('transfer', () => {
  const street = { ...clip, task: 'transfer', canvas: { width: 832, height: 480 }, frames: 97, fps: 15 } as const;
  const metadata = 'The video is 6.5 seconds long and is of 15 FPS. This video is of 480x832 resolution.';
  const directive = (names: string) =>
    `Follow the ${names} control video precisely: shape, contour, silhouette, position, and motion of every visible structure must align with the ${names} signal at every frame.`;
  const prompt = 'A city street.';

  it('appends metadata and directive: the worked example', () => {
    const texts = format({ prompt, negativePrompt: 'blurry' }, { ...street, hints: ['edge'] });
    expect(texts.positive).toBe(`A city street. ${metadata} ${directive('edge')}`);
    expect(texts.negative).toBe(`blurry. ${metadata}`);
  });

  it('names every hint, and can leave the directive out', () => {
    const facts = { ...street, hints: ['edge', 'depth'] } as const;
    expect(format({ prompt, useDurationTemplate: false, useResolutionTemplate: false }, facts).positive).toBe(
      `A city street. ${directive('edge, depth')}`,
    );
    expect(format({ prompt, transfer: { hints: [], emphasizeControl: false } }, facts).positive).toBe(
      `A city street. ${metadata}`,
    );
    expect(format({ prompt, reference: { rawPrompt: true } }, facts).positive).toBe(prompt);
  });

  it('counts the frames of a chunk', () => {
    const request = { prompt, transfer: { hints: [givenHint('edge')], chunkFrames: 97 }, resolution: '480', fps: 15 };
    const planned = planOf(request, { hints: [inputFacts(832, 480, 300, 30)] });
    expect(planned.prompt.text).toContain(`\nA city street. ${metadata} ${directive('edge')}<|im_end|>`);
  });

  it('writes into a structured prompt and puts the directive behind it', () => {
    const texts = format({ prompt: '{"caption":"x"}' }, { ...street, hints: ['seg'] });
    expect(texts.positive).toBe(
      `{"caption": "x", "duration": "6s", "fps": 15.0, "resolution": {"H": 480, "W": 832}} ${directive('seg')}`,
    );
  });
});

describe('structured prompts', () => {
  const rewrite = (
    prompt: string,
    facts = { canvas: { width: 1280, height: 720 }, frames: 189, fps: 24 },
    aspect?: string,
  ) => rewriteJsonPrompt(prompt, facts, aspect, ignore);
  const still = { canvas: { width: 1024, height: 1024 }, frames: 1, fps: 24 };

  it.each([
    [
      '{"caption":"caf\u00e9"}',
      '{"caption": "caf\\u00e9", "duration": "7s", "fps": 24.0, "resolution": {"H": 720, "W": 1280}}',
    ],
    [
      '{"fps":1,"resolution":"x","caption":"a","duration":"9s"}',
      '{"fps": 24.0, "resolution": {"H": 720, "W": 1280}, "caption": "a", "duration": "7s"}',
    ],
    [
      '{"aspect_ratio":"16,9","n":1.50}',
      '{"aspect_ratio": "16,9", "n": 1.5, "duration": "7s", "fps": 24.0, "resolution": {"H": 720, "W": 1280}}',
    ],
    [
      '{"aspect_ratio":"4,3"}',
      '{"aspect_ratio": "16,9", "duration": "7s", "fps": 24.0, "resolution": {"H": 720, "W": 1280}}',
    ],
  ])('%s', (prompt, expected) => {
    expect(rewrite(prompt)).toBe(expected);
  });

  it('of a picture lose duration and fps', () => {
    expect(rewrite('{"duration":"9s","caption":"a","fps":3}', still)).toBe(
      '{"caption": "a", "resolution": {"H": 1024, "W": 1024}}',
    );
  });

  it('take the aspect ratio of the request', () => {
    expect(rewrite('{}', still, '1:1')).toBe('{"resolution": {"H": 1024, "W": 1024}, "aspect_ratio": "1,1"}');
    const wide = { canvas: { width: 1344, height: 576 }, frames: 1, fps: 24 };
    expect(rewrite('{}', wide, '21:9')).toBe('{"resolution": {"H": 576, "W": 1344}, "aspect_ratio": "21,9"}');
  });

  it.each([
    [1104, 816, '4,3'],
    [832, 468, '16,9'],
  ])('keep the nearest label of %dx%d', (width, height, label) => {
    const text = rewrite(`{"aspect_ratio": "${label}"}`, { canvas: { width, height }, frames: 1, fps: 24 });
    expect(JSON.parse(text ?? '')).toMatchObject({ aspect_ratio: label });
  });

  it('tell of a label that does not fit', () => {
    expect(warningsOf({ prompt: '{"aspect_ratio": "4,3"}' })).toEqual([
      {
        param: 'aspect_ratio',
        message: "aspect_ratio '4,3' conflicts with the 1280x720 canvas; the prompt says '16,9' instead",
      },
    ]);
    expect(refusalOf({ prompt: '{}', aspectRatio: 'wide' }).param).toBe('aspect_ratio');
  });

  it('take no sentences, and are sent as they are to a reference', () => {
    expect(format({ ...both, prompt: '{}' }).positive).toBe(
      '{"duration": "7s", "fps": 24.0, "resolution": {"H": 720, "W": 1280}}',
    );
    expect(format({ prompt: '{"a":1}', reference: { rawPrompt: true } }).positive).toBe('{"a":1}');
  });

  it('are objects only', () => {
    expect(rewrite('[1]')).toBeNull();
    expect(rewrite('a cat')).toBeNull();
    expect(format({ prompt: '[1]' }).positive).toBe('[1]');
  });
});

describe('action prompts', () => {
  const facts = { canvas: { width: 736, height: 544 }, frames: 17, fps: 5 };
  const ego = 'This video is captured from a first-person perspective looking at the scene.';

  it.each([
    ['Pick it up', 17, 5, '0:00-0:03', '3s', 'Pick it up.'],
    ['Pick it up!', 9, 5, '0:00-0:02', '1s', 'Pick it up!'],
    [' Stop? ', 5, 2, '0:00-0:02', '2s', 'Stop?'],
    ['Go.', 7, 2, '0:00-0:04', '3s', 'Go.'],
    ['Go', 61, 0.5, '0:00-2:02', '122s', 'Go.'],
  ])('%j over %d frames at %d fps', (prompt, frames, fps, time, duration, description) => {
    expect(actionCaption(prompt, ego, { ...facts, frames, fps })).toBe(
      `{"cinematography": {"framing": "${ego}"}, "actions": [{"time": "${time}", "description": "${description}"}], "duration": "${duration}", "fps": ${fps === 0.5 ? '0.5' : `${fps}.0`}, "resolution": {"H": 544, "W": 736}, "aspect_ratio": "4,3"}`,
    );
  });

  it('of nothing are nothing', () => {
    expect(actionCaption('  ', ego, facts)).toBe('');
    expect(withView(' ', ego)).toBe(ego);
    expect(withView('Go', ego)).toBe(`Go. ${ego}`);
  });

  it.each([
    ['ego_view', ego],
    [
      'third_person_view',
      'This video is captured from a third-person perspective looking towards the agent from the front.',
    ],
    ['wrist_view', 'This video is captured from a wrist-mounted camera.'],
    ['concat_view', 'This video contains concatenated views from multiple camera perspectives.'],
  ] as const)('%s', (viewPoint, sentence) => {
    expect(viewSentence(viewPoint, false)).toBe(sentence);
  });

  const ask = (action: object, request = {}) =>
    planOf(
      {
        task: 'policy',
        prompt: 'Go',
        ...request,
        action: { domainName: 'umi', rawActionDim: 10, chunk: 16, ...action },
      },
      { image: inputFacts(640, 480) },
    ).prompt.text;

  it('have no system turn, and the caption unless told otherwise', () => {
    expect(ask({})).toBe(
      `<|im_start|>user\n{"cinematography": {"framing": "${ego}"}, "actions": [{"time": "0:00-0:01", "description": "Go."}], "duration": "0s", "fps": 24.0, "resolution": {"H": 544, "W": 736}, "aspect_ratio": "4,3"}<|im_end|>\n<|im_start|>assistant\n<|im_end|><|vision_start|>`,
    );
    expect(ask({ promptAsJson: false })).toContain('<|im_start|>user\nGo<|im_end|>');
    expect(ask({ promptAsJson: false, viewPoint: 'wrist_view' })).toContain(
      'user\nGo. This video is captured from a wrist-mounted camera.<|im_end|>',
    );
    expect(ask({ viewPoint: 'concat_view', domainName: 'droid_lerobot' })).toContain(
      'perspectives. The top row is from',
    );
  });

  it('keep a caption that is one already', () => {
    expect(ask({}, { prompt: '{"actions":[]}' })).toContain(
      'user\n{"actions": [], "duration": "0s", "fps": 24.0, "resolution": {"H": 544, "W": 736}}<|im_end|>',
    );
  });
});
