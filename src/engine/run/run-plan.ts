// Runs a plan and writes its outputs; reports progress on the way.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resourceUsage } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import type { Ffmpeg, Waveform } from '../../media/index.js';
import type { Tiling } from '../../models/wan-vae/index.js';
import { generate } from '../../pipeline/generate.js';
import type { PlanInputs } from '../../pipeline/inputs.js';
import type { Networks } from '../../pipeline/networks.js';
import type { Plan, PlanWarning } from '../../pipeline/plan-types.js';
import type { Previewer } from '../../pipeline/preview/previewer.js';
import { describeActions } from '../outputs/action-result.js';
import { FrameSpool } from '../outputs/frame-spool.js';
import { mediaTypes, type OutputTarget } from '../outputs/output-target.js';
import { type LatentResult, type OutputFile, writeOutputs } from '../outputs/write-outputs.js';
import type { Provenance } from '../provenance/provenance.js';
import type { Artifact, GpuMemory, ProgressEvent } from './events.js';
import { StepTimer } from './step-timer.js';

/** What a run needs besides its plan. */
export interface RunContext {
  readonly networks: Networks;
  readonly inputs: PlanInputs;
  readonly targets: readonly OutputTarget[];
  /** Reads the targets back into the artifact and removes them. */
  readonly keepsData: boolean;
  readonly ffmpeg: Ffmpeg | null;
  /** All of the provenance but the hash of the frames. */
  readonly origin: Omit<Provenance, 'framesSha256'>;
  readonly warnings: readonly PlanWarning[];
  /** Decode frames by tiles. */
  readonly tiling: Tiling | null;
  /** High-water marks of the GPU; gives null where there is none. */
  readonly readGpuMemory: () => GpuMemory | null;
  /** When the caller began to wait, by `performance.now()`. */
  readonly startedAt: number;
  readonly previewer?: Previewer | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a plan to its artifact.
 * @throws the signal's reason when stopped; then nothing is left behind
 */
export async function* runPlan(plan: Plan, context: RunContext): AsyncGenerator<ProgressEvent, void> {
  const { networks, inputs, targets, signal } = context;
  await using frames = new FrameSpool();
  const timer = new StepTimer();
  const latents: LatentResult[] = [];
  let sound: Waveform | null = null;
  let rows: (readonly number[])[] | null = null;
  let chunks = 1;
  const wantsLatents = targets.some(({ kind }) => kind === 'safetensors');
  const wantsFrames = targets.some(({ kind }) => kind !== 'safetensors' && kind !== 'wav');
  const options = {
    latents: wantsLatents,
    skipFrames: !wantsFrames && plan.transfer === null,
    previewer: context.previewer,
    ...(context.tiling === null ? {} : { tiling: context.tiling }),
    ...(signal === undefined ? {} : { signal }),
  };
  for await (const event of generate(plan, networks, inputs, options)) {
    // Steps do not return to the event loop by themselves; timers, signals and pipes need it.
    await setImmediate();
    switch (event.type) {
      case 'phase':
        chunks = event.chunks;
        yield event;
        if (event.phase === 'denoise') timer.start();
        break;
      case 'step':
        yield { ...event, ...timer.step(event) };
        break;
      case 'frames':
        await frames.add(event.data, event.count, event);
        yield event;
        break;
      case 'preview':
        yield event;
        break;
      case 'sound':
        sound = event.waveform;
        break;
      case 'actions':
        rows = [...(rows ?? []), ...event.rows];
        break;
      case 'latents': {
        const name = chunks > 1 ? `${event.modality}.${event.chunk}` : event.modality;
        latents.push({ name, shape: event.shape, data: event.data });
        break;
      }
      default:
        event satisfies never;
    }
  }
  yield { type: 'phase', phase: 'write', chunk: chunks - 1, chunks };
  const framesSha256 = frames.count === 0 ? null : frames.digest();
  const provenance: Provenance = { ...context.origin, framesSha256 };
  const action = describeActions(plan, rows);
  const result = { provenance, frames, sound, action, latents };
  const written = await writeTargets(context, (list) =>
    writeOutputs(list, result, { ffmpeg: context.ffmpeg, codecOptions: provenance.codecOptions, signal }),
  );
  const artifact: Artifact = {
    plan,
    warnings: context.warnings,
    ...written,
    framesSha256,
    width: frames.size?.width ?? plan.content.width,
    height: frames.size?.height ?? plan.content.height,
    frames: frames.count,
    fps: plan.fps,
    hasSound: sound !== null,
    action,
    fingerprint: provenance.fingerprint,
    seconds: (performance.now() - context.startedAt) / 1000,
    peakMemoryBytes: resourceUsage().maxRSS * 1024,
    gpuMemory: context.readGpuMemory(),
  };
  yield { type: 'artifact', artifact };
}

type Written = Pick<Artifact, 'files' | 'data' | 'mediaType'>;

async function writeTargets(
  { targets, keepsData }: RunContext,
  write: (targets: readonly OutputTarget[]) => Promise<readonly OutputFile[]>,
): Promise<Written> {
  const first = targets[0];
  const mediaType = first === undefined ? 'application/json' : mediaTypes[first.kind];
  if (!keepsData) return { files: await write(targets), data: null, mediaType };
  const folder = await mkdtemp(join(tmpdir(), 'orrery-output-'));
  try {
    const moved = targets.map(({ path, kind }) => ({ path: join(folder, path), kind }));
    await write(moved);
    return { files: [], data: first === undefined ? null : await readFile(join(folder, first.path)), mediaType };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
