// Runs a plan and writes its outputs; reports progress on the way.

import { resourceUsage } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import type { Ffmpeg, Waveform } from '../../media/index.js';
import type { Tiling } from '../../models/wan-vae/index.js';
import { generate } from '../../pipeline/generate.js';
import type { PlanInputs } from '../../pipeline/inputs.js';
import type { Networks } from '../../pipeline/networks.js';
import type { Plan, PlanWarning } from '../../pipeline/plan-types.js';
import type { Previewer } from '../../pipeline/preview/previewer.js';
import type { RunCaches } from '../../pipeline/run-caches.js';
import { describeActions } from '../outputs/action-result.js';
import { ControlFiles, type ControlPaths } from '../outputs/control-files.js';
import { type LatentResult, OutputFiles } from '../outputs/output-files.js';
import { OutputPlace } from '../outputs/output-place.js';
import type { OutputTarget } from '../outputs/output-target.js';
import type { Provenance } from '../provenance/provenance.js';
import type { Artifact, GpuMemory, ProgressEvent } from './events.js';
import { StepTimer } from './step-timer.js';
import { WorkTally } from './work-tally.js';

/** What a run needs besides its plan. */
export interface RunContext {
  readonly networks: Networks;
  /** Serve this run and are filled by it. */
  readonly caches: RunCaches;
  readonly inputs: PlanInputs;
  readonly targets: readonly OutputTarget[];
  /** Where clips of the control maps go that the run makes. */
  readonly controls: ControlPaths;
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
  const { networks, inputs, targets, origin, ffmpeg, signal } = context;
  await using place = await OutputPlace.open(targets, context.keepsData);
  await using outputs = new OutputFiles(place.targets, { origin, ffmpeg, signal });
  await using controls = new ControlFiles(plan, context.controls, {
    ffmpeg: ffmpeg ?? undefined,
    codecOptions: origin.codecOptions,
    signal,
  });
  const timer = new StepTimer();
  const tally = new WorkTally();
  const latents: LatentResult[] = [];
  let sound: Waveform | null = null;
  let rows: (readonly number[])[] | null = null;
  let chunks = 1;
  const wantsLatents = targets.some(({ kind }) => kind === 'safetensors');
  const wantsFrames = targets.some(({ kind }) => kind !== 'safetensors' && kind !== 'wav');
  const options = {
    latents: wantsLatents,
    controls: controls.isWanted,
    skipFrames: !wantsFrames && plan.transfer === null,
    previewer: context.previewer,
    caches: context.caches,
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
      case 'text':
        tally.add(event);
        break;
      case 'step':
        tally.add(event);
        yield { ...event, ...timer.step(event) };
        break;
      case 'frames':
        await outputs.addFrames(event, sound);
        yield event;
        break;
      case 'preview':
        yield event;
        break;
      case 'control':
        await controls.add(event);
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
  const action = describeActions(plan, rows);
  // All is whole before anything appears.
  await controls.finish();
  const { files, framesSha256 } = await outputs.finish({ sound, action, latents });
  await controls.commit();
  const artifact: Artifact = {
    plan,
    warnings: context.warnings,
    ...(await place.read(files)),
    framesSha256,
    width: outputs.first?.width ?? plan.content.width,
    height: outputs.first?.height ?? plan.content.height,
    frames: outputs.count,
    fps: plan.fps,
    hasSound: sound !== null,
    action,
    fingerprint: origin.fingerprint,
    seconds: (performance.now() - context.startedAt) / 1000,
    peakMemoryBytes: resourceUsage().maxRSS * 1024,
    gpuMemory: context.readGpuMemory(),
    work: tally.work,
  };
  yield { type: 'artifact', artifact };
}
