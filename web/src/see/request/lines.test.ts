import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { cliLine } from './cli-line.js';
import { curlLine } from './curl-line.js';
import { javascriptLine } from './javascript-line.js';
import { endingOf, type RepeatableJob, repeatForm } from './repeat-form.js';

const base = 'http://127.0.0.1:8000';

const job = (change: Partial<RepeatableJob>): RepeatableJob => ({
  id: 'job-1',
  kind: 'video',
  prompt: 'A ball',
  seed: 7,
  request: { prompt: 'A ball' },
  inputs: [],
  artifacts: [{ variant: 'video', media_type: 'video/mp4', url: '/v1/jobs/job-1/content?variant=video' }],
  ...change,
});

/** What a program called by the command would get. */
function wordsOf(command: string, program: string): readonly string[] {
  const script = `${program}() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { ORRERY_API_KEY: 'sk-1' } })
    .split('\0')
    .slice(0, -1);
}

describe('repeatForm', () => {
  it('adds the seed that was drawn, once', () => {
    expect(repeatForm(job({}))).toEqual({ prompt: 'A ball', seed: 7 });
    expect(repeatForm(job({ request: { prompt: 'x', seed: 3 } }))).toEqual({ prompt: 'x', seed: 3 });
    expect(repeatForm(job({ request: { prompt: 'x', extra_params: { seed: 3 } } })).seed).toBeUndefined();
    expect(repeatForm(job({ seed: null, request: { prompt: 'x', size: null } }))).toEqual({ prompt: 'x' });
  });

  it('knows endings', () => {
    expect(['image/jpeg', 'video/mp4; codecs=avc1', 'x/y'].map(endingOf)).toEqual(['jpg', 'mp4', 'bin']);
  });
});

describe('curlLine', () => {
  it('survives the shell with any prompt', () => {
    const prompt = 'It\'s "odd" $HOME `id` \\ \n ü';
    const words = wordsOf(curlLine(job({ request: { prompt, size: '96x96' } }), base), 'curl');
    expect(words).toContain(`${base}/v1/videos/sync`);
    expect(JSON.parse(words[words.indexOf('-d') + 1] ?? '')).toEqual({ prompt, size: '96x96', seed: 7 });
    expect(words.slice(-2)).toEqual(['-o', 'job-1.mp4']);
    expect(words.join(' ')).not.toContain('Authorization');
  });

  it('asks for a picture as a file, and takes a key from the environment where keys are asked for', () => {
    const picture = job({
      kind: 'image',
      artifacts: [{ variant: 'image', media_type: 'image/webp', url: '/v1/jobs/job-1/content?variant=image&token=t' }],
    });
    const words = wordsOf(curlLine(picture, base), 'curl');
    expect(words).toContain('Authorization: Bearer sk-1');
    expect(words).toContain(`${base}/v1/images/generations`);
    expect(JSON.parse(words[words.indexOf('-d') + 1] ?? '')).toMatchObject({ response_format: 'file' });
    expect(words.at(-1)).toBe('job-1.webp');
  });

  it('makes a job where there is no clip to wait for', () => {
    const actions = job({ request: { prompt: 'x', extra_params: { actions_only: true } }, artifacts: [] });
    const words = wordsOf(curlLine(actions, base), 'curl');
    expect(words).toContain(`${base}/v1/jobs`);
    expect(words).not.toContain('-o');
  });
});

describe('cliLine', () => {
  it('uses flags for what has one, and --extra-body for the rest', () => {
    const request = {
      prompt: "It's a ball",
      size: '96x96',
      num_frames: 9,
      guidance: 2,
      generate_sound: true,
      negative_prompt: '-blurry',
      extra_params: { guidance_interval: [0, 900], view_point: 'wrist_view', unknown_thing: 1 },
    };
    expect(wordsOf(cliLine(job({ request }), base, null), 'orrery')).toEqual([
      'generate',
      "It's a ball",
      ...['--size', '96x96'],
      ...['--num-frames', '9'],
      ...['--guidance-scale', '2'],
      '--sound',
      '--negative-prompt=-blurry',
      ...['--seed', '7'],
      ...['--extra-body', '{"guidance_interval":[0,900],"view_point":"wrist_view"}'],
      ...['-o', 'job-1.mp4'],
    ]);
  });

  it('fetches inputs first', () => {
    const transfer = job({
      request: {
        prompt: '- a street',
        video_reference: { file_id: 'file-a' },
        extra_params: { edge: true, depth: { file_id: 'file-b' }, blur: { file_id: 'file-c', control_weight: 0.5 } },
      },
      inputs: [
        { role: 'video', file_id: 'file-a', media_type: 'video/mp4' },
        { role: 'depth', file_id: 'file-b', media_type: 'video/mp4' },
        { role: 'blur', file_id: 'file-c', media_type: 'image/png' },
      ],
    });
    const line = cliLine(transfer, base, 'nvidia/Cosmos3-Nano');
    expect(line.split('\n').slice(0, 3)).toEqual([
      `curl -sS --fail-with-body ${base}/v1/jobs/job-1/inputs/video -o video.mp4`,
      `curl -sS --fail-with-body ${base}/v1/jobs/job-1/inputs/depth -o depth.mp4`,
      `curl -sS --fail-with-body ${base}/v1/jobs/job-1/inputs/blur -o blur.png`,
    ]);
    expect(wordsOf(line.split('\n').slice(3).join('\n'), 'orrery')).toEqual([
      'generate',
      '--prompt=- a street',
      ...['--model', 'nvidia/Cosmos3-Nano'],
      ...['--video', 'video.mp4'],
      ...['--seed', '7'],
      '--edge',
      ...['--depth', 'depth.mp4'],
      ...['--extra-body', '{"blur":{"control_path":"blur.png","control_weight":0.5}}'],
      ...['-o', 'job-1.mp4'],
    ]);
  });

  it('writes actions beside the clip', () => {
    const artifacts = [
      { variant: 'video', media_type: 'video/mp4', url: '' },
      { variant: 'action', media_type: 'application/json', url: '' },
    ];
    expect(wordsOf(cliLine(job({ artifacts }), base, null), 'orrery').slice(-4)).toEqual([
      ...['-o', 'job-1.mp4'],
      ...['-o', 'job-1.json'],
    ]);
  });
});

describe('javascriptLine', () => {
  it('creates the job, follows it and keeps its result', () => {
    const text = javascriptLine(job({}), base);
    expect(text).toContain("createClient({ baseUrl: 'http://127.0.0.1:8000' })");
    expect(text).toContain("client.createJob({ prompt: 'A ball', seed: 7 })");
    expect(text).toContain("client.jobContent(job.id, 'video')");
    expect(text).toContain("writeFile('job-1.mp4'");
  });
});
