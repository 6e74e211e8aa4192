// Runs jobs on the engine: the stored request through the door again, with the seed of its plan, files into the job's folder.
import { readFile, stat } from 'node:fs/promises';
import { cpus } from 'node:os';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Type from 'typebox';
import Value from 'typebox/value';
import { frameOf, type RgbImage } from '../../media/index.js';
import { projections } from '../../models/cosmos3-transformer/index.js';
import type { MediaSource } from '../../pipeline/media-source.js';
import type { Previewer } from '../../pipeline/preview/previewer.js';
import { type ComputedKind, computedKinds, hintKinds } from '../../pipeline/request.js';
import { hashFile } from '../artifacts/hash-file.js';
import { syntheticNames } from '../checkpoint/synthetic-configs.js';
import { readRequest, type WireRequest } from '../door/read-request.js';
import type { ArtifactVariant, JobOutput, JsonObject } from '../jobs/types.js';
import { Orrery } from '../orrery.js';
import type { ControlPaths } from '../outputs/control-files.js';
import { mediaTypes, type OutputKind } from '../outputs/output-target.js';
import type { Artifact, ProgressEvent } from '../run/events.js';
import type { DeviceInfo, JobRunner, ProducedFile, RunContext, RunResult, WorkerJob } from './job-runner.js';
import { PreviewEncoder } from './preview-encoder.js';
import { writeThumbnail } from './thumbnail.js';

const tower = Type.Union([Type.Literal('und'), Type.Literal('gen')]);

const optionSchema = Type.Object({
  model: Type.Optional(Type.String()),
  revision: Type.Optional(Type.String()),
  parts: Type.Optional(Type.Record(Type.String(), Type.String())),
  threads: Type.Optional(Type.Integer({ minimum: 1 })),
  dtype: Type.Optional(Type.Union([Type.Literal('bf16'), Type.Literal('f32')])),
  cudaLibraries: Type.Optional(Type.Array(Type.String())),
  vaeTiling: Type.Optional(Type.Boolean()),
  gpu: Type.Optional(
    Type.Object({
      fp8Attention: Type.Optional(Type.Boolean()),
      fp8FastAccumulation: Type.Optional(Type.Boolean()),
      tune: Type.Optional(Type.Boolean()),
    }),
  ),
  synthetic: Type.Optional(Type.Union(syntheticNames.map((name) => Type.Literal(name)))),
  lora: Type.Optional(Type.Object({ path: Type.String(), scale: Type.Number() })),
  quantization: Type.Optional(
    Type.Object({
      format: Type.Literal('fp8'),
      excludeTowers: Type.Optional(Type.Array(tower)),
      excludeLayers: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
      excludeProjections: Type.Optional(Type.Array(Type.Union(projections.map((name) => Type.Literal(name))))),
      wideFirstSteps: Type.Optional(Type.Integer({ minimum: 0 })),
      wideLastSteps: Type.Optional(Type.Integer({ minimum: 0 })),
      keepWide: Type.Optional(Type.Boolean()),
    }),
  ),
  offload: Type.Optional(Type.Array(tower)),
  previewSteps: Type.Optional(Type.Integer({ minimum: 0 })),
  warmUp: Type.Optional(Type.Array(Type.String())),
  keep: Type.Optional(
    Type.Object({
      textBytes: Type.Optional(Type.Integer({ minimum: 0 })),
      shapes: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
  ),
});

/**
 * Opens the checkpoint that `options` name on the device and reads its weights.
 * Options: `model`, `revision`, `parts`, `threads`, `dtype`, `cudaLibraries`, `vaeTiling`, `gpu`, `synthetic`, `lora`, `quantization`, `offload`, `keep`, as `Orrery.load` takes them; `previewSteps`:
 * steps between two previews, none where 0 or absent; `warmUp`: shapes as `Orrery.warmUp` takes them.
 * @throws what loading throws, and TypeError for options of another form
 */
export async function openGenerateRunner(device: string, options: JsonObject): Promise<JobRunner> {
  if (!Value.Check(optionSchema, options)) throw new TypeError(`bad options of a worker: ${JSON.stringify(options)}`);
  const orrery = await Orrery.load({ ...options, device, onDebug: (message) => console.error(message) });
  const { previewSteps = 0 } = options;
  let previewer: Previewer | undefined;
  try {
    await orrery.loadWeights();
    await orrery.warmUp(options.warmUp ?? []);
    if (previewSteps > 0) previewer = await orrery.openPreviewer({ everySteps: previewSteps });
  } catch (error) {
    await orrery[Symbol.asyncDispose]();
    throw error;
  }
  return {
    device: describeDevice(orrery),
    run: (job, context) => runJob({ orrery, previewer }, job, context),
    [Symbol.asyncDispose]: () => orrery[Symbol.asyncDispose](),
  };
}

/** The processor's name: the description of a GPU begins with it, behind the device. */
function describeDevice({ device, deviceDescription, openDevice }: Orrery): DeviceInfo {
  const [, gpu = device] = /^cuda:\d+: ([^,]+)/.exec(deviceDescription ?? '') ?? [];
  const { totalBytes, freeBytes, servesFp8, setup } = openDevice ?? {};
  return {
    name: device === 'cpu' ? (cpus()[0]?.model.trim() ?? 'CPU') : gpu,
    memoryBytes: totalBytes ?? null,
    freeBytes: freeBytes ?? null,
    servesFp8: servesFp8 ?? false,
    setup: setup ?? [],
  };
}

interface Engine {
  readonly orrery: Orrery;
  readonly previewer: Previewer | undefined;
}

async function runJob(engine: Engine, job: WorkerJob, context: RunContext): Promise<RunResult> {
  const outputs = job.outputs.map((output, index) => ({ ...output, path: pathOf(job, output, index) }));
  const written = outputs.filter(({ variant }) => variant !== 'thumbnail' && computedKindOf(variant) === null);
  const read = readRequest(await wireOf(job));
  const output = written.length === 0 ? undefined : written.map(({ path }) => path);
  // A job that is shown in lists is watched; one whose caller waits on the line is not.
  const previewer = outputs.some(({ variant }) => variant === 'thumbnail') ? engine.previewer : undefined;
  const controls = controlPaths(outputs);
  const generation = engine.orrery.generateRead(read, { output, controls, previewer, signal: context.signal });
  const previews = new PreviewEncoder((preview) => context.onPreview(preview));
  let artifact: Artifact | undefined;
  let firstFrame: RgbImage | undefined;
  for await (const event of generation) {
    if (event.type === 'artifact') artifact = event.artifact;
    else if (event.type === 'plan') context.onPlan(event.plan);
    else if (event.type === 'preview') previews.add(event);
    else if (event.type === 'frames') firstFrame ??= copyFirst(event);
    else context.onProgress(progressOf(event));
    // Steps of a device that computes on this thread leave no gap by themselves in which a cancellation could arrive.
    await nextTurn();
    context.signal.throwIfAborted();
  }
  await previews.settle();
  if (artifact === undefined) throw new Error('the generation ended without an artifact');
  for (const { variant, path } of outputs) if (variant === 'thumbnail') await writeThumbnail(path, firstFrame);
  const files: ProducedFile[] = [];
  for (const { path, variant, kind } of outputs) {
    const index = files.filter((file) => file.variant === variant).length;
    const [bytes, sha256] = [(await stat(path)).size, await hashFile(path)];
    files.push({ name: basename(path), variant, index, mediaType: mediaTypes[kind], bytes, sha256 });
  }
  const { bytes: textCacheBytes = 0 } = engine.orrery.kept?.texts ?? {};
  return { files, result: { ...describe(artifact), textCacheBytes } };
}

const extensions: Readonly<Record<OutputKind, string>> = {
  mp4: 'mp4',
  png: 'png',
  jpeg: 'jpg',
  webp: 'webp',
  wav: 'wav',
  json: 'json',
  safetensors: 'safetensors',
};

function pathOf({ folder }: WorkerJob, { variant, kind }: JobOutput, index: number): string {
  return join(folder, `${variant}-${index}.${extensions[kind]}`);
}

/** The hint whose computed map a variant is; null for other variants. */
function computedKindOf(variant: ArtifactVariant): ComputedKind | null {
  return computedKinds.find((kind) => variant === `control_${kind}`) ?? null;
}

function controlPaths(outputs: readonly (JobOutput & { readonly path: string })[]): ControlPaths {
  const pairs = outputs.map(({ variant, path }) => [computedKindOf(variant), path] as const);
  return Object.fromEntries(pairs.filter(([kind]) => kind !== null));
}

/** The request as the door takes it. Inputs go in as bytes: their place on this machine is nobody's business. */
async function wireOf({ request, plan, inputs }: WorkerJob): Promise<WireRequest> {
  const sources = new Map<string, MediaSource>();
  for (const { role, path } of inputs) sources.set(role, { kind: 'bytes', bytes: await readFile(path) });
  const [image, video] = [sources.get('image'), sources.get('video')];
  const controls = Object.fromEntries(
    hintKinds.flatMap((kind) => {
      const source = sources.get(kind);
      return source === undefined ? [] : [[kind, source] as const];
    }),
  );
  return {
    fields: request.fields,
    // A second attempt makes what the first one would have made.
    extra: plan === null ? request.extra : { ...request.extra, seed: plan.seed },
    ...(image === undefined ? {} : { image }),
    ...(video === undefined ? {} : { video }),
    controls,
  };
}

function progressOf(event: Extract<ProgressEvent, { readonly type: 'phase' | 'step' }>) {
  const { chunk, chunks } = event;
  return event.type === 'phase'
    ? { phase: event.phase, step: 0, steps: 0, chunk, chunks }
    : { phase: 'denoise' as const, step: event.step, steps: event.steps, chunk, chunks };
}

function copyFirst({ width, height, count, data }: Extract<ProgressEvent, { readonly type: 'frames' }>): RgbImage {
  const frame = frameOf({ width, height, frames: count, fps: null, data }, 0);
  return { ...frame, data: frame.data.slice() };
}

/** What a record says about a result besides its files. */
function describe(artifact: Artifact): JsonObject {
  const { plan, warnings, width, height, frames, fps, hasSound, framesSha256, action, seconds, fingerprint } = artifact;
  const { steps, computedSteps, passes, computedTexts, reusedTexts } = artifact.work;
  return {
    width,
    height,
    frames,
    fps,
    hasSound,
    framesSha256,
    task: plan.task,
    seed: plan.seed,
    seconds,
    peakMemoryBytes: artifact.peakMemoryBytes,
    steps,
    computedSteps,
    passes,
    computedTexts,
    reusedTexts,
    action: action === null ? null : { ...action, shape: [...action.shape] },
    warnings: warnings.map(({ param, message }) => ({ param, message })),
    fingerprint: { ...fingerprint },
  };
}
