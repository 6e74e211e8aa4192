// The robot socket, driven by a client on Debian's python3-msgpack, and the same policy over plain HTTP.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, type VideoJob } from '../../src/protocol/index.js';
import { root } from '../architecture/source-tree.js';
import { runProgram } from './run-program.js';
import { type StartedServer, startServer } from './start-server.js';

/** The recipe's file of overrides. */
const overrides = {
  '0': {
    model_config: {
      policy_server_config: {
        image_resolution: [540, 640],
        n_external_cameras: 2,
        needs_wrist_camera: true,
        needs_stereo_camera: false,
        needs_session_id: true,
        action_space: 'joint_position',
      },
    },
  },
};

let server: StartedServer;
beforeAll(async () => {
  server = await startServer({
    flags: [
      '--no-guardrails',
      '--model-class-name',
      'Cosmos3OmniDiffusersPipeline',
      '--stage-overrides',
      JSON.stringify(overrides),
      '--robot-openpi-idle-timeout',
      '1',
    ],
  });
}, 90_000);
afterAll(async () => server?.[Symbol.asyncDispose]());

interface Answer {
  readonly config?: unknown;
  readonly hex?: string;
  readonly again?: boolean;
  readonly keys?: readonly string[];
  readonly dtype?: string;
  readonly shape?: readonly number[];
  readonly numbers?: readonly number[];
  readonly map?: Readonly<Record<string, unknown>>;
}

async function askAs(form: 'openpi' | 'nd'): Promise<readonly Answer[]> {
  const { hostname, port } = new URL(server.url);
  const { stdout } = await runProgram('/usr/bin/python3', [
    join(root, 'test/api/openpi_client.py'),
    hostname,
    port,
    form,
  ]);
  const answers: Answer[] = JSON.parse(stdout);
  return answers;
}

describe('a Python robot', { timeout: 120_000 }, () => {
  test('speaks with OpenPI’s markers', async () => {
    const [hello, first, second, reset, incomplete, garbage] = await askAs('openpi');
    expect(hello?.config).toEqual(overrides['0'].model_config.policy_server_config);
    expect(first).toMatchObject({
      keys: ['__ndarray__', 'data', 'dtype', 'shape'],
      dtype: '<f4',
      shape: [32, 8],
      again: true,
    });
    expect(first?.numbers).toHaveLength(256);
    expect(first?.numbers?.every(Number.isFinite)).toBe(true);
    // 84: a map of four; c4 0b: eleven bytes, "__ndarray__"; c3: true; c4 04: "data"; c5 0400: 1024 bytes.
    expect(first?.hex?.startsWith('84c40b5f5f6e6461727261795f5fc3c40464617461c50400')).toBe(true);
    expect(second?.numbers).toEqual(first?.numbers);
    expect(reset?.map).toEqual({ status: 'reset successful' });
    expect(incomplete?.map).toMatchObject({ type: 'error', message: 'Invalid request payload' });
    expect(garbage?.map).toMatchObject({ type: 'error', message: 'Invalid request payload' });
  });

  test('speaks in the older form, and is answered in it', async () => {
    const [, first] = await askAs('nd');
    expect(first).toMatchObject({
      keys: ['nd', 'type', 'kind', 'shape', 'data'],
      dtype: '<f4',
      shape: [32, 8],
      again: true,
    });
    // 85: a map of five; c4 02 "nd"; c3; c4 04 "type"; a3 "<f4"; c4 04 "kind"; c4 00; c4 05 "shape"; 92 20 08.
    expect(first?.hex?.startsWith('85c4026e64c3c40474797065a33c6634c4046b696e64c400c4057368617065922008')).toBe(true);
  });
});

test('a silent socket is closed, a busy one is not', { timeout: 60_000 }, async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/realtime/robot/openpi`);
  const begin = performance.now();
  const code = await new Promise<number>((resolve) => socket.once('close', resolve));
  expect(code).toBe(1000);
  expect(performance.now() - begin).toBeGreaterThan(900);
  expect(performance.now() - begin).toBeLessThan(5000);
});

test('the policy answers over HTTP as well, with the canvas of training', { timeout: 60_000 }, async () => {
  const row = (width: number) => Array.from({ length: width }, (_, x) => [x % 256, 10, 20]);
  const picture = Array.from({ length: 36 }, () => row(64));
  const robot = {
    prompt: 'pick up the banana',
    'observation/image': picture,
    'observation/joint_position': [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    'observation/gripper_position': 0.25,
  };
  const client = createClient({ baseUrl: server.url });
  const created = await client.createVideo({
    prompt: 'x',
    extra_params: { robot_obs: robot, seed: 3, num_inference_steps: 1 },
  });
  let job: VideoJob = created;
  while (job.status === 'queued' || job.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, 100));
    job = await client.video(created.id);
  }
  expect(job.action).toMatchObject({
    shape: [32, 8],
    dtype: 'float32',
    raw_action_dim: 8,
    action_mode: 'policy',
    domain_id: 8,
  });
  await expect(client.content(job.id)).rejects.toMatchObject({ status: 404 });
  const actions = await (
    await fetch(`${server.url}${job.artifacts.find(({ variant }) => variant === 'action')?.url}`)
  ).text();
  expect(JSON.parse(actions).data).toEqual(job.action?.data);
});

test('without a configuration there is no policy', { timeout: 90_000 }, async () => {
  await using plain = await startServer({ isHasty: true });
  const socket = new WebSocket(`${plain.url.replace('http', 'ws')}/v1/realtime/robot/openpi`);
  const text = await new Promise<string>((resolve) =>
    socket.once('message', (data, isBinary) => resolve(isBinary ? 'binary' : String(data))),
  );
  expect(JSON.parse(text)).toEqual({ type: 'error', error: 'Robot policy not available', code: 'unsupported' });
});
