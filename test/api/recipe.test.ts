// The requests of the recipe, as curl sends them: sizes, frames and steps cut to what a CPU does in seconds, the rest as documented.

import { createReadStream } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../architecture/source-tree.js';
import { makeRecipeMedia } from './recipe-media.js';
import { probeStreams, runProgram, runScript } from './run-program.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
let files: { url: string; close(): void };

beforeAll(async () => {
  server = await startServer({
    flags: [
      '--served-model-name',
      'nvidia/Cosmos3-Nano',
      '--media-root',
      '.',
      '--allow-media-hosts',
      '127.0.0.1',
      '--omni',
      '--init-timeout',
      '1800',
    ],
  });
  await makeRecipeMedia(server.folder);
  await copyFile(join(root, 'recipes/cosmos3/negative_prompt.json'), join(server.folder, 'negative_prompt.json'));
  files = await serveFiles(server.folder);
}, 90_000);
afterAll(async () => {
  files?.close();
  await server?.[Symbol.asyncDispose]();
});

/** Runs a command of the recipe in the server's folder, with `$SERVER` as its address. */
const sh = (script: string) => runScript(`SERVER=${server.url}\n${script}`, server.folder);
const streams = (name: string) => probeStreams(join(server.folder, name));

/** The requests' common fields. */
const common = `-H "Accept: video/mp4" -F "model=nvidia/Cosmos3-Nano" -F "size=64x64" -F "num_frames=9" -F "fps=24" -F "num_inference_steps=2"`;
const options = `-F "guidance_scale=6.0" -F "max_sequence_length=4096" -F "flow_shift=10.0"`;
const template = `-F 'extra_params={"use_resolution_template":false,"use_duration_template":false,"guardrails":true}'`;

describe('CUDA section', () => {
  test('models', async () => {
    const { stdout } = await sh('curl $SERVER/v1/models');
    expect(JSON.parse(stdout)).toMatchObject({
      object: 'list',
      data: [{ id: 'nvidia/Cosmos3-Nano', object: 'model' }],
    });
  });

  test('text to image', async () => {
    await sh(`curl -sS -X POST $SERVER/v1/images/generations -H "Content-Type: application/json" -d '{
      "model": "nvidia/Cosmos3-Nano",
      "prompt": "A photorealistic red sports car on a city street at golden hour, cinematic lighting.",
      "negative_prompt": "blurry, distorted, low quality",
      "size": "96x96", "n": 1, "response_format": "b64_json",
      "num_inference_steps": 2, "guidance_scale": 7.0, "seed": 42
    }' | python3 -c "import sys,json,base64; open('cosmos3_t2i.png','wb').write(base64.b64decode(json.load(sys.stdin)['data'][0]['b64_json']))"`);
    expect(await streams('cosmos3_t2i.png')).toMatchObject([{ codec_name: 'png', width: 96, height: 96 }]);
  });

  test('text to video, twice the same', async () => {
    const request = (
      name: string,
    ) => `curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync ${common} ${options} ${template} \
      -F "prompt=A robot arm is cleaning a plate in the kitchen" \
      -F "negative_prompt=blurry, distorted, low quality, jittery, deformed" -F "seed=123" -D ${name}.headers -o ${name}.mp4`;
    const { stdout } = await sh(
      `${request('t2v')}\n${request('t2v_again')}\nmd5sum t2v.mp4 t2v_again.mp4 | cut -d' ' -f1 | uniq | wc -l`,
    );
    expect(stdout.trim()).toBe('1');
    expect(await streams('t2v.mp4')).toMatchObject([
      { codec_type: 'video', codec_name: 'h264', width: 64, height: 64, nb_read_frames: '9', r_frame_rate: '24/1' },
    ]);
    expect(await readFile(join(server.folder, 't2v.headers'), 'utf8')).not.toMatch(/x-orrery-ignored/i);
  });

  test('image to video', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync ${common} ${options} ${template} \
      -F "prompt=The scene comes to life with smooth, natural motion." -F "negative_prompt=blurry, distorted, low quality" \
      -F "seed=1111" -F "input_reference=@reference.jpg;type=image/jpeg" -o i2v.mp4`);
    expect(await streams('i2v.mp4')).toMatchObject([{ width: 64, height: 64, nb_read_frames: '9' }]);
    // The picture is the first frame, whatever the noise: two seeds agree there, and nowhere else.
    const { stdout } =
      await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync ${common} ${options} -F "prompt=The scene." \
      -F seed=1 -F "input_reference=@reference.jpg" -o i2v_other.mp4
      for frame in 0 8; do ffmpeg -v info -i i2v.mp4 -i i2v_other.mp4 -filter_complex "[0]select=eq(n\\,$frame)[a];[1]select=eq(n\\,$frame)[b];[a][b]psnr" \
        -f null - 2>&1 | grep -oE 'average:([0-9.]+|inf)' | cut -d: -f2; done`);
    const [first = 0, last = 0] = stdout
      .trim()
      .split('\n')
      .map((text) => (text === 'inf' ? 100 : Number(text)));
    expect(first).toBeGreaterThan(30);
    expect(last).toBeLessThan(first - 5);
  });

  const v2v = `${common} ${options} -F "prompt=Continue the same scene with smooth natural motion and consistent subjects."`;

  test('video to video, from an upload', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync ${v2v} -F "negative_prompt=blurry, distorted, low quality, jittery, deformed" \
      -F 'extra_params={"use_resolution_template":false,"use_duration_template":false,"guardrails":true,"condition_frame_indexes_vision":[0,1],"condition_video_keep":"first"}' \
      -F "seed=2222" -F "input_reference=@reference.mp4;type=video/mp4" -o v2v.mp4`);
    expect(await streams('v2v.mp4')).toMatchObject([{ width: 64, height: 64, nb_read_frames: '9' }]);
  });

  test('video to video, from a URL and a data URL', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync ${v2v} -F seed=1 \
      -F 'extra_params={"condition_frame_indexes_vision":[0,1],"condition_video_keep":"last"}' \
      -F 'video_reference={"video_url":"${files.url}/reference.mp4"}' -o v2v_from_url.mp4
    printf '{"video_url":"data:video/mp4;base64,%s"}' "$(base64 -w0 reference.mp4)" > reference.json
    curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync ${v2v} -F seed=1 \
      -F 'extra_params={"condition_frame_indexes_vision":[0,1],"condition_video_keep":"last"}' \
      -F 'video_reference=<reference.json' -o v2v_from_data.mp4
    cmp v2v_from_url.mp4 v2v_from_data.mp4`);
    expect(await streams('v2v_from_url.mp4')).toMatchObject([{ width: 64, height: 64, nb_read_frames: '9' }]);
  });

  test('transfer from a depth map of the server’s disk', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync -H "Accept: video/mp4" -F "model=nvidia/Cosmos3-Nano" \
      -F "prompt=Generate a realistic scene following the provided control video." \
      --form-string "negative_prompt=$(jq -c . negative_prompt.json)" \
      -F "size=64x64" -F "num_frames=5" -F "num_inference_steps=1" -F "seed=125" \
      -F 'extra_params={"depth":{"control_path":"${server.folder}/depth_control.mp4"},"max_frames":9,"resolution":"256","num_video_frames_per_chunk":9}' \
      -o transfer_depth.mp4`);
    const details = await (await fetch(`${server.url}/v1/models/nvidia/Cosmos3-Nano`)).text();
    const { tasks }: { tasks: { task: string; fps: number }[] } = JSON.parse(details);
    const fps = tasks.find(({ task }) => task === 'transfer')?.fps;
    // The nearest bucket to 96x64 in the tier of 256.
    expect(await streams('transfer_depth.mp4')).toMatchObject([
      { width: 320, height: 192, nb_read_frames: '5', r_frame_rate: `${fps}/1` },
    ]);
  });

  test('transfer with an uploaded map, and with edges of the input clip', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync -F "prompt=A scene." -F num_frames=1 -F num_inference_steps=1 -F seed=1 \
      -F control_type=depth -F "control_reference=@depth_control.mp4" -F 'extra_params={"resolution":"256"}' -o uploaded.mp4
    curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync -F "prompt=A scene." -F num_frames=1 -F num_inference_steps=1 -F seed=1 \
      -F "input_reference=@reference.mp4" -F 'extra_params={"edge":true,"resolution":"256","show_control_condition":true}' -o edges.mp4`);
    expect(await streams('uploaded.mp4')).toMatchObject([{ width: 320, height: 192, nb_read_frames: '1' }]);
    expect(await streams('edges.mp4')).toMatchObject([
      { width: 640, height: 192, nb_read_frames: '1', r_frame_rate: '12/1' },
    ]);
  });

  test('text to video with sound', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync ${common} ${options} ${template} \
      -F "prompt=The video opens with a view of a well-lit indoor fruit display. Audio description: soft servo whirs." \
      -F "negative_prompt=blurry, distorted, low quality" -F "seed=0" -F "generate_sound=true" -F "sound_duration=0.375" -o sound.mp4`);
    const found = await streams('sound.mp4');
    expect(found).toMatchObject([
      { codec_type: 'video', nb_read_frames: '9' },
      { codec_type: 'audio', codec_name: 'aac', sample_rate: '48000', channels: 2 },
    ]);
    expect(Number(found[1]?.duration)).toBeCloseTo(0.375, 1);
  });

  test('forward dynamics', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync -H "Accept: video/mp4" --form-string "model=nvidia/Cosmos3-Nano" \
      --form-string "prompt=You are an autonomous vehicle. This video is captured from a first-person perspective." \
      -F "input_reference=@first_frame.jpg;type=image/jpeg" -F "size=64x48" -F "num_frames=9" -F "fps=10" \
      -F "num_inference_steps=2" -F "guidance_scale=1.0" -F "flow_shift=5.0" \
      --form-string "extra_params={\\"action_mode\\":\\"forward_dynamics\\",\\"domain_name\\":\\"av\\",\\"raw_action_dim\\":9,\\"action_chunk_size\\":8,\\"action\\":$(cat action.json)}" \
      -F "seed=0" -o forward_dynamics.mp4`);
    expect(await streams('forward_dynamics.mp4')).toMatchObject([
      { width: 64, height: 48, nb_read_frames: '9', r_frame_rate: '10/1' },
    ]);
  });

  const poll = (id: string) =>
    `until [ "$(curl -sS $SERVER/v1/videos/${id} | jq -r .status)" = completed ]; do sleep 0.2; done`;
  const action = (mode: string) =>
    `--form-string 'extra_params={"action_mode":"${mode}","domain_name":"bridge_orig_lerobot","raw_action_dim":10,"action_chunk_size":16}'`;
  const actionFields = `-F "size=64x48" -F "num_frames=17" -F "fps=5" -F "num_inference_steps=2" -F "guidance_scale=1.0" -F "flow_shift=5.0"`;

  test('policy', async () => {
    const { stdout } =
      await sh(`VIDEO_ID=$(curl -sS -X POST $SERVER/v1/videos -H "Accept: application/json" --form-string "model=nvidia/Cosmos3-Nano" \
      --form-string "prompt=Pick up the banana and place it in the bowl." -F "input_reference=@first_frame.jpg;type=image/jpeg" \
      ${actionFields} ${action('policy')} -F "seed=0" | jq -r '.id')
    ${poll('$VIDEO_ID')}
    curl -sS "$SERVER/v1/videos/$VIDEO_ID" | jq -c '.action | {shape, dtype, raw_action_dim, action_mode, domain_id, rows: (.data | length)}'
    curl -sS -L "$SERVER/v1/videos/$VIDEO_ID/content" -o policy.mp4`);
    expect(JSON.parse(stdout)).toEqual({
      shape: [16, 10],
      dtype: 'float32',
      raw_action_dim: 10,
      action_mode: 'policy',
      domain_id: 7,
      rows: 16,
    });
    expect(await streams('policy.mp4')).toMatchObject([
      { width: 64, height: 48, nb_read_frames: '17', r_frame_rate: '5/1' },
    ]);
  });

  test('inverse dynamics', async () => {
    const { stdout } =
      await sh(`VIDEO_ID=$(curl -sS -X POST $SERVER/v1/videos -H "Accept: application/json" --form-string "model=nvidia/Cosmos3-Nano" \
      --form-string "prompt=Recover the robot action trajectory from this clip." -F "input_reference=@motion_clip.mp4;type=video/mp4" \
      ${actionFields} ${action('inverse_dynamics')} -F "seed=0" | jq -r '.id')
    ${poll('$VIDEO_ID')}
    curl -sS "$SERVER/v1/videos/$VIDEO_ID" | jq -c '.action | {shape, dtype, raw_action_dim, domain_id}'
    curl -sS "$SERVER/v1/videos/$VIDEO_ID/content?variant=action" | jq -c '[.data[][] | isnormal or . == 0] | all'
    curl -sS -L "$SERVER/v1/videos/$VIDEO_ID/content" -o inverse_dynamics.mp4`);
    const [facts = '', finite] = stdout.trim().split('\n');
    expect(JSON.parse(facts)).toEqual({ shape: [16, 10], dtype: 'float32', raw_action_dim: 10, domain_id: 7 });
    expect(finite).toBe('true');
    expect(await streams('inverse_dynamics.mp4')).toMatchObject([{ width: 64, height: 48 }]);
  });
});

describe('ROCm and NPU sections', () => {
  test('pictures and clips open in the tools they name', async () => {
    const { stdout } = await runProgram('ffprobe', [
      '-v',
      'error',
      '-show_entries',
      'stream=codec_type,nb_frames,width,height',
      '-of',
      'compact',
      join(server.folder, 't2v.mp4'),
    ]);
    expect(stdout.trim()).toBe('stream|codec_type=video|width=64|height=64|nb_frames=9');
  });

  test('fewer steps and no negative prompt', async () => {
    await sh(`curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync -H "Accept: video/mp4" -F "model=nvidia/Cosmos3-Nano" \
      -F "prompt=The scene comes to life with smooth, natural motion." -F "size=64x64" -F "num_frames=9" -F "fps=8" \
      -F "num_inference_steps=2" -F "guidance_scale=6.0" -F "seed=42" -F "input_reference=@reference.jpg;type=image/jpeg" -o npu_i2v.mp4
    curl -sS --fail-with-body -X POST $SERVER/v1/videos/sync -H "Accept: video/mp4" -F "model=nvidia/Cosmos3-Nano" \
      -F "prompt=Continue the same scene with smooth natural motion and consistent subjects." -F "size=64x64" -F "num_frames=5" -F "fps=5" \
      -F "num_inference_steps=2" -F "guidance_scale=6.0" -F "seed=42" -F "input_reference=@reference.mp4;type=video/mp4" -o npu_v2v.mp4`);
    expect(await streams('npu_i2v.mp4')).toMatchObject([{ nb_read_frames: '9', r_frame_rate: '8/1' }]);
    expect(await streams('npu_v2v.mp4')).toMatchObject([{ nb_read_frames: '5', r_frame_rate: '5/1' }]);
  });
});

/** Serves a folder on this machine. */
async function serveFiles(folder: string): Promise<{ url: string; close(): void }> {
  const web = createServer((request, response) => {
    createReadStream(join(folder, (request.url ?? '').replace(/^\/+/, '')))
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const { port } = web.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => web.close() };
}
