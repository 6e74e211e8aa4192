// The words and tokens of every golden case, planned from its request with the reference's settings.
import { describe, expect, it } from 'vitest';
import { caseInfo, caseNames, goldenFolder, readCase, readCases } from '../../../test/golden/read-case.js';
import { type FactChanges, givenHint, inputFacts, planOf } from '../../../test/pipeline/plan-facts.js';
import { loadTokenizer } from '../../tokenizer/index.js';
import type { GenerationRequest, Task } from '../request.js';

type Fields = Readonly<Record<string, unknown>>;

const number = (fields: Fields, key: string) => (typeof fields[key] === 'number' ? fields[key] : undefined);
const text = (fields: Fields, key: string) => (typeof fields[key] === 'string' ? fields[key] : '');
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function isRows(value: unknown): value is number[][] {
  return Array.isArray(value) && value.every((row) => Array.isArray(row));
}

/** What is planned for a case: the reference's defaults made explicit. */
function prepare(name: string): { request: GenerationRequest; facts: FactChanges } {
  const { request: r, checkpoint, scheduler, distilled_sigmas } = caseInfo(name);
  const tokenizer = loadTokenizer(`${goldenFolder}/${checkpoint}/text_tokenizer`);
  const family = checkpoint === 'tiny-edge' ? 'edge' : 'nano';
  const shared = Object.fromEntries(
    [
      ['width', number(r, 'width')],
      ['height', number(r, 'height')],
      ['frames', number(r, 'num_frames')],
      ['steps', number(r, 'num_inference_steps')],
      ['guidance', number(r, 'guidance_scale')],
      ['fps', number(r, 'fps') ?? 24],
      ['flowShift', number(scheduler, 'flow_shift')],
    ].filter(([, value]) => value !== undefined),
  );
  const base: GenerationRequest = {
    ...shared,
    prompt: text(r, 'prompt'),
    negativePrompt: text(r, 'negative_prompt'),
    useSystemPrompt: family === 'nano',
    useResolutionTemplate: true,
    useDurationTemplate: true,
    reference: { rawPrompt: true, grid: 'linspace', untrimmedSound: true },
  };
  const facts: FactChanges = { checkpoint: { tokenizer, family, distilledSigmas: distilled_sigmas ?? null } };
  if (isFields(r.control_videos)) {
    const kinds = (['edge', 'depth'] as const).filter((kind) => isFields(r.control_videos) && kind in r.control_videos);
    const transfer = {
      hints: kinds.map((kind) => givenHint(kind)),
      controlGuidance: number(r, 'control_guidance') ?? 1,
      ...(r.num_video_frames_per_chunk === 9 && { chunkFrames: 9 }),
    };
    const { useResolutionTemplate: _r, useDurationTemplate: _d, useSystemPrompt: _s, ...plain } = base;
    return {
      request: { ...plain, transfer },
      facts: { ...facts, hints: kinds.map(() => inputFacts(160, 96, 13, 24)) },
    };
  }
  if (isFields(r.action)) return prepareAction(base, facts, r.action);
  const task: Task | undefined = r.num_frames === 1 ? 'text-to-image' : undefined;
  return {
    request: { ...base, ...(task && { task }), sound: r.enable_sound === true },
    facts: {
      ...facts,
      image: r.image ? inputFacts(200, 150) : null,
      video: r.video ? inputFacts(160, 96, 17, 24) : null,
    },
  };
}

function prepareAction(base: GenerationRequest, facts: FactChanges, action: Fields) {
  const { useResolutionTemplate: _r, useDurationTemplate: _d, ...plain } = base;
  const task = text(action, 'mode').replace('_', '-');
  if (task !== 'policy' && task !== 'forward-dynamics' && task !== 'inverse-dynamics') throw new Error(task);
  const given = readCases()._fd_actions;
  const request: GenerationRequest = {
    ...plain,
    task,
    resolution: String(action.resolution_tier),
    action: {
      domainName: text(action, 'domain_name'),
      rawActionDim: number(action, 'raw_action_dim') ?? 0,
      chunk: number(action, 'chunk_size') ?? 0,
      promptAsJson: true,
      viewPoint: 'ego_view',
      ...(action.actions !== undefined && isRows(given) && { actions: given }),
    },
  };
  return {
    request,
    facts: {
      ...facts,
      image: action.image ? inputFacts(176, 128) : null,
      video: action.video ? inputFacts(160, 112, 9, 5) : null,
    },
  };
}

const generated = caseNames();

describe('prompts of the golden cases', () => {
  it('are all looked at', () => {
    expect(generated).toHaveLength(15);
  });

  it.each(generated)('%s: text and tokens', (name) => {
    const { request, facts } = prepare(name);
    const plan = planOf(request, facts);
    const golden = readCase(name);
    expect(plan.prompt.text).toBe(caseInfo(name).cond_text);
    const [cond, uncond] = golden.has('cond/input_ids')
      ? ['cond/input_ids', 'uncond/input_ids']
      : ['call00/input_ids', caseInfo(name).calls === 9 ? 'call02/input_ids' : 'call01/input_ids'];
    expect(plan.prompt.tokens).toEqual(golden.integers(cond));
    expect(plan.negativePrompt !== null).toBe(plan.guidance.scale > 1);
    if (plan.negativePrompt) expect(plan.negativePrompt.tokens).toEqual(golden.integers(uncond));
  });
});

describe('shapes of the golden cases', () => {
  it.each([
    ['t2v', 17, 144, 80],
    ['i2v', 9, 160, 96],
    ['v2v_first', 17, 160, 96],
    ['t2i_karras', 1, 96, 96],
    ['transfer_edge', 9, 160, 96],
    ['transfer_chunked', 13, 160, 96],
    ['action_policy', 9, 320, 256],
    ['action_id', 9, 320, 192],
  ])('%s has %d frames of %dx%d', (name, frames, width, height) => {
    const { request, facts } = prepare(name);
    expect(planOf(request, facts)).toMatchObject({ frames, canvas: { width, height } });
  });

  it('has the sound of t2vs and its latents', () => {
    const { request, facts } = prepare('t2vs');
    expect(planOf(request, facts).sound).toEqual({ samples: 18_000, latentFrames: 10, trim: false });
    expect(readCase('t2vs').shape('noise/sound')).toEqual([8, 10]);
  });

  it('has the content of the action cases and the padded actions of action_fd', () => {
    const policy = prepare('action_policy');
    expect(planOf(policy.request, policy.facts).content).toEqual({ width: 176, height: 128 });
    const inverse = prepare('action_id');
    expect(planOf(inverse.request, inverse.facts).content).toEqual({ width: 160, height: 112 });
    const forward = prepare('action_fd');
    const { action } = planOf(forward.request, forward.facts);
    expect(action).toMatchObject({ rows: 8, offset: 1, domain: 7, rawDim: 10 });
    expect(action?.given[7]).toEqual(action?.given[6]);
    expect(action?.given[6]?.[0]).toBe(-0.42876172065734863);
  });

  it('takes chunks as long as the clip where the reference names none', () => {
    const edge = prepare('transfer_edge');
    expect(planOf(edge.request, edge.facts).transfer).toMatchObject({ chunkFrames: 9, totalFrames: 9 });
    const chunked = prepare('transfer_chunked');
    expect(planOf(chunked.request, chunked.facts).transfer).toMatchObject({ chunkFrames: 9, totalFrames: 13 });
  });

  it('runs distilled_t2v on its own sigmas', () => {
    const { request, facts } = prepare('distilled_t2v');
    expect(planOf(request, facts)).toMatchObject({
      steps: 4,
      schedule: { solver: 'flow-euler', sigmas: [1, 0.9375, 0.8333, 0.625] },
      guidance: { scale: 1 },
      negativePrompt: null,
    });
  });
});
