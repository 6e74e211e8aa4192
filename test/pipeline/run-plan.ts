// Runs plans on the CPU device with the small golden checkpoint, for tests of the pipeline.
import { join } from 'node:path';
import type { Backend } from '../../src/backend/index.js';
import { type CpuBackend, createCpuBackend } from '../../src/cpu/index.js';
import { loadNetworks } from '../../src/engine/checkpoint/load-networks.js';
import type { RgbClip } from '../../src/media/index.js';
import { type GenerateOptions, generate } from '../../src/pipeline/generate.js';
import type { PlanInputs } from '../../src/pipeline/inputs.js';
import type { Networks } from '../../src/pipeline/networks.js';
import type { Plan } from '../../src/pipeline/plan-types.js';
import type { HintKind } from '../../src/pipeline/request.js';
import { openCheckpoint } from '../../src/weights/index.js';
import { goldenFolder } from '../golden/read-case.js';

export async function cpuNetworks(threads = 2): Promise<{ networks: Networks; backend: CpuBackend }> {
  const backend = await createCpuBackend({ threads, blas: null });
  return { networks: networksOn(backend), backend };
}

export function networksOn(backend: Backend): Networks {
  return loadNetworks(openCheckpoint(join(goldenFolder, 'tiny-nano')), backend).networks;
}

export interface RunResult {
  readonly rgb: Uint8Array;
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  readonly latents: Readonly<Record<string, Float32Array>>;
  readonly sound: readonly Float32Array[] | null;
  readonly actions: readonly (readonly number[])[] | null;
  readonly phases: readonly string[];
  readonly steps: number;
}

export const noInputs: PlanInputs = { image: null, video: null, controls: new Map() };

export function controlInputs(maps: Partial<Record<HintKind, RgbClip>>, video: RgbClip | null = null): PlanInputs {
  return { image: null, video, controls: new Map(Object.entries(maps) as [HintKind, RgbClip][]) };
}

export async function runPlan(
  plan: Plan,
  networks: Networks,
  inputs: PlanInputs = noInputs,
  options: GenerateOptions = {},
): Promise<RunResult> {
  const parts: Uint8Array[] = [];
  const latents: Record<string, Float32Array> = {};
  const phases: string[] = [];
  let [frames, width, height, steps] = [0, 0, 0, 0];
  let sound: RunResult['sound'] = null;
  let actions: RunResult['actions'] = null;
  for await (const event of generate(plan, networks, inputs, { latents: true, ...options })) {
    if (event.type === 'frames') {
      parts.push(event.data);
      frames += event.count;
      [width, height] = [event.width, event.height];
    }
    if (event.type === 'latents') latents[`${event.modality}/${event.chunk}`] = event.data;
    if (event.type === 'sound') sound = event.waveform.channels;
    if (event.type === 'actions') actions = event.rows;
    if (event.type === 'phase') phases.push(event.phase);
    if (event.type === 'step') steps++;
  }
  return { rgb: Buffer.concat(parts), frames, width, height, latents, sound, actions, phases, steps };
}

/** A clip whose every pixel is told by its place and frame. */
export function testClip(width: number, height: number, frames: number, seed = 1): RgbClip {
  const data = new Uint8Array(frames * width * height * 3);
  for (let i = 0; i < data.length; i++) {
    const pixel = Math.floor(i / 3) % (width * height);
    const frame = Math.floor(i / (3 * width * height));
    data[i] =
      (Math.floor((pixel % width) / 8) * 37 * seed + Math.floor(pixel / width / 8) * 61 + frame * 23 + (i % 3) * 80) %
      256;
  }
  return { width, height, frames, fps: 24, data };
}
