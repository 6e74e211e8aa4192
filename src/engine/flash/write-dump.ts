// Writes a reference dump: runs the reference denoise of a prompt, without guidance, and keeps what conditions it and where it
// ends. Source: performance spec, A.8.
import { setImmediate } from 'node:timers/promises';
import { type Backend, disposeTensors, type Tensor, uploadFloats } from '../../backend/index.js';
import { embedTimesteps, patchify, ropeTables } from '../../models/cosmos3-transformer/index.js';
import { downloadFloats } from '../../pipeline/conditioning/vision-source.js';
import type { Recorder } from '../../pipeline/denoise/recorder.js';
import { makeSchedule } from '../../pipeline/denoise/schedule.js';
import { channelsLast } from '../../pipeline/denoise/targets.js';
import { generate } from '../../pipeline/generate.js';
import type { Networks } from '../../pipeline/networks.js';
import type { Plan } from '../../pipeline/plan-types.js';
import { fromFloat32, type WritableTensor, writeSafetensors } from '../../weights/index.js';
import { dumpKeys, type Floats } from './files/reference-dump.js';

/** How a dump is written. */
export interface WriteDumpOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onStep?: ((done: { readonly step: number; readonly steps: number }) => void) | undefined;
}

/** Counts of a dump. */
export interface WrittenDump {
  readonly steps: number; // N
  readonly textTokens: number; // L
  readonly tokens: number; // S
  readonly latentShape: readonly number[]; // [1, C, T, H, W]
}

/**
 * Runs a plan of words alone, guidance 1 and the native grid, and writes its dump. The file is whole or not there.
 * @throws the signal's reason when stopped
 */
export async function writeDump(
  path: string,
  plan: Plan,
  networks: Networks,
  { signal, onStep }: WriteDumpOptions,
): Promise<WrittenDump> {
  const { recorded, recorder } = newRecorder(plan.steps);
  const options = { skipFrames: true, recorder, ...(signal === undefined ? {} : { signal }) };
  const noInputs = { image: null, video: null, controls: new Map() };
  for await (const event of generate(plan, networks, noInputs, options)) {
    // Steps do not return to the event loop by themselves; signals need it.
    await setImmediate();
    if (event.type === 'step') onStep?.(event);
  }
  const start = taken(recorded, 'start');
  const final = taken(recorded, 'final');
  const conditions = await readConditions(networks, plan, start, taken(recorded, 'positions'));
  const [tokens = 0] = conditions.get(dumpKeys.noiseTokens)?.shape ?? [];
  const latentShape = [1, ...final.shape];
  const tensors = [
    ...[...conditions].map(([name, value]) => toTensor(name, value)),
    toTensor(dumpKeys.finalLatent, { shape: latentShape, values: final.values }),
    ...describePlan(plan),
  ];
  signal?.throwIfAborted();
  await writeSafetensors(path, tensors, { format: 'pt', model: plan.model });
  return { steps: plan.steps, textTokens: plan.prompt.tokens.length, tokens, latentShape };
}

type Recorded = Map<'start' | 'positions' | 'final', Floats>;

function newRecorder(steps: number): { readonly recorded: Recorded; readonly recorder: Recorder } {
  const recorded: Recorded = new Map();
  const wanted = {
    '0/start/vision/latents': 'start',
    '0/cond/positions': 'positions',
    [`0/${steps - 1}/vision/latents`]: 'final',
  } as const;
  const names = new Map(Object.entries(wanted));
  const recorder: Recorder = {
    record(key, shape, values) {
      const name = names.get(key);
      if (name !== undefined) recorded.set(name, { shape, values: values.slice() });
    },
  };
  return { recorded, recorder };
}

function taken(recorded: Recorded, name: 'start' | 'positions' | 'final'): Floats {
  const value = recorded.get(name);
  if (value === undefined) throw new Error(`the run recorded no ${name}`);
  return value;
}

/** What the network was given, by key. */
async function readConditions(
  { backend: b, transformer }: Networks,
  plan: Plan,
  start: Floats, // [C, T, H, W]
  positions: Floats, // [3, S]
): Promise<Map<string, Floats>> {
  const { config } = transformer;
  const owned: Tensor[] = [];
  const read = async (tensor: Tensor): Promise<Floats> => {
    owned.push(tensor);
    const { shape, data } = await downloadFloats(b, tensor);
    return { shape, values: data };
  };
  const rope = async (rows: Float32Array, [cos, sin]: readonly [string, string]): Promise<[string, Floats][]> => {
    const length = rows.length / 3;
    const [t, h, w] = [0, 1, 2].map((axis) => rows.subarray(axis * length, (axis + 1) * length));
    if (!t || !h || !w) throw new Error('positions have three axes');
    const layout = { headDim: config.headDim, theta: config.ropeTheta, axes: config.ropeAxes };
    const tables = ropeTables(b, { t, h, w }, layout);
    return [
      [cos, await read(tables.cos)],
      [sin, await read(tables.sin)],
    ];
  };
  try {
    const { length } = plan.prompt.tokens;
    const line = Float32Array.from({ length: 3 * length }, (_, i) => i % length);
    const [channels = 1, ...grid] = start.shape;
    const noise = uploadFloats(b, channelsLast(start.values, channels), [...grid, channels]);
    const tokens = b.scope(() => patchify(b, noise, config.patch));
    const scaled = makeSchedule(plan).timesteps.map((t) => Math.fround(t * config.timestepScale));
    const steps = embedTimesteps(b, transformer.timestep, scaled); // [N, D]
    owned.push(noise, tokens, steps);
    const embedded = await read(steps);
    return new Map<string, Floats>([
      [dumpKeys.textRows, await read(embedText(b, transformer.embedTokens, plan.prompt.tokens))],
      ...(await rope(line, [dumpKeys.textRope.cos, dumpKeys.textRope.sin])),
      ...(await rope(positions.values, [dumpKeys.genRope.cos, dumpKeys.genRope.sin])),
      [dumpKeys.noiseTokens, await read(tokens)],
      [dumpKeys.genRows, await read(embedTokens(b, transformer.visionInput, tokens, steps))],
      ...splitSteps(embedded),
    ]);
  } finally {
    disposeTensors(owned);
  }
}

function embedText(b: Backend, table: Networks['transformer']['embedTokens'], ids: readonly number[]): Tensor {
  const bytes = new Uint8Array(Int32Array.from(ids).buffer);
  return b.scope(() => b.embed(table, b.upload({ shape: [ids.length], dtype: 'i32', bytes })));
}

/** The generation tower's rows at the first step. */
function embedTokens(
  b: Backend,
  { weight, bias }: Networks['transformer']['visionInput'],
  tokens: Tensor,
  steps: Tensor,
): Tensor {
  const [count = 0] = tokens.shape;
  return b.scope(() => {
    const rows = b.matmul(b.cast(tokens, b.activationDtype), weight, bias ? { bias } : {});
    const all = uploadFloats(b, new Float32Array(count).fill(1), [count]);
    return b.addRows(rows, b.cast(b.slice(steps, 0, 0, 1), b.activationDtype), all);
  });
}

function splitSteps({ shape, values }: Floats): [string, Floats][] {
  const [steps = 0, hidden = 0] = shape;
  return Array.from({ length: steps }, (_, step) => {
    const row = values.slice(step * hidden, (step + 1) * hidden);
    return [dumpKeys.timestep(step), { shape: [1, hidden], values: row }];
  });
}

function toTensor(name: string, { shape, values }: Floats): WritableTensor {
  return { name, dtype: 'f32', shape, bytes: fromFloat32(values, 'f32') };
}

/** What a reader may want to know; readers of the original format pass over it. */
function describePlan(plan: Plan): WritableTensor[] {
  const { prompt, schedule, seed, fps, frames, content } = plan;
  const text = new TextEncoder().encode(prompt.text);
  const floats = (name: string, ...values: number[]) =>
    toTensor(name, { shape: [values.length], values: Float32Array.from(values) });
  return [
    ...(schedule.solver === 'unipc' ? [floats(dumpKeys.shift, schedule.flowShift)] : []),
    { name: 'meta/prompt', dtype: 'u8', shape: [text.length], bytes: text },
    {
      name: 'meta/seed',
      dtype: 'i64',
      shape: [1],
      bytes: new Uint8Array(BigInt64Array.of(BigInt(seed)).buffer),
    },
    floats('meta/fps', fps),
    floats('meta/frames_height_width', frames, content.height, content.width),
    floats('meta/timesteps', ...makeSchedule(plan).timesteps),
  ];
}
