// `orrery bench --task …`: where the time of one job goes on a device, part by part, cold and warm, beside what the device could do.

import type { Quantization, Tower } from '../../../models/cosmos3-transformer/index.js';
import { decodeFlops, defaultTiling } from '../../../models/wan-vae/index.js';
import { branchNames, branchWeights } from '../../../pipeline/denoise/guidance.js';
import { makeSchedule } from '../../../pipeline/denoise/schedule.js';
import { estimateCost, layerFlops } from '../../../pipeline/plan/cost.js';
import { plan as makePlan } from '../../../pipeline/plan.js';
import type { Plan } from '../../../pipeline/plan-types.js';
import { checkDeviceOptions } from '../../checkpoint/check-options.js';
import { memoryUse, readCostConfig } from '../../checkpoint/cost-config.js';
import { loadNetworks } from '../../checkpoint/load-networks.js';
import { type ModelOptions, type OpenedModel, openModel } from '../../checkpoint/open-model.js';
import { type EngineConfig, readConfig } from '../../config.js';
import type { ReadRequest } from '../../door/read-request.js';
import { findEncoder } from '../../encoder.js';
import { loadInputs } from '../../inputs/load-inputs.js';
import { makeFacts, type ProbedInputs, probeInputs, sourcesOf } from '../../inputs/probe.js';
import {
  checkSynthetic,
  chooseDevice,
  type DeviceDtype,
  type DeviceName,
  type GpuChoices,
  type OpenedDevice,
  openDevice,
} from '../../loader.js';
import { openCaches } from '../../run/open-caches.js';
import type { PipelineBench } from './bench-report.js';
import { decodeFloor, type PassSizes, stepFloor, stepWork } from './floors.js';
import {
  type BenchPhase,
  type Job,
  medianTimes,
  oneDecode,
  oneStep,
  type RunTimes,
  runOnce,
  stepTimes,
} from './run-job.js';
import { OpTimer, ReplayTimer, type ReplayTimes } from './timed-backend.js';

export interface PipelineBenchOptions extends ModelOptions {
  readonly request: ReadRequest;
  readonly device?: string | undefined;
  readonly dtype?: DeviceDtype | undefined;
  readonly threads?: number | undefined;
  readonly cudaLibraries?: readonly string[] | undefined;
  readonly quantization?: Quantization | undefined;
  /** Towers whose layers lie in the host's memory between uses. */
  readonly offload?: readonly Tower[] | undefined;
  readonly gpu?: GpuChoices | undefined;
  /** The prompt's tokens, repeated or cut to so many; as they are where absent. */
  readonly textTokens?: number | undefined;
  /** Steps that reuse a velocity. */
  readonly skipSteps?: readonly number[] | undefined;
  /** Decode frames by tiles. */
  readonly vaeTiling?: boolean | undefined;
  /** Each branch goes through the network by itself, however few its rows. */
  readonly separateBranches?: boolean | undefined;
  readonly phase?: BenchPhase | undefined;
  /** False leaves out the times of single ops. */
  readonly ops?: boolean | undefined;
  /** Runs, the cold one included; 3 where absent. */
  readonly runs?: number | undefined;
  /** Told what is being done. */
  readonly onProgress?: ((what: string) => void) | undefined;
}

/** Measures a job. @throws what opening, planning and running throw */
export async function benchPipeline(
  options: PipelineBenchOptions,
  config: EngineConfig = readConfig(),
): Promise<PipelineBench> {
  const libraryRoots = [...(options.cudaLibraries ?? []), ...config.libraryRoots];
  const model = await openModel(options, config);
  try {
    const { phase = 'all', request } = options;
    const tiling = options.vaeTiling === true ? defaultTiling : null;
    await using probed = await probeInputs(sourcesOf(request.request), {
      findFfmpeg: () => findEncoder(config),
      signal: undefined,
    });
    const plan = planJob(options, model, probed);
    const inputs = await loadInputs(plan, probed);
    const { dtype = config.dtype, threads = config.threads } = options;
    const { blas, kernelCache } = config;
    const name = chooseDevice(options.device ?? config.device, libraryRoots);
    checkSynthetic(options.synthetic, name);
    checkDeviceOptions(name, options);
    const [device, openSeconds] = await timed(() =>
      openDevice(name, { threads, blas, dtype, libraryRoots, kernelCache, gpu: options.gpu }),
    );
    try {
      return await benchOn(device, { options, model, plan, inputs, phase, tiling, name, openSeconds });
    } finally {
      await device.backend[Symbol.asyncDispose]();
    }
  } finally {
    model.checkpoint[Symbol.dispose]();
  }
}

function planJob(
  { request, textTokens, skipSteps }: PipelineBenchOptions,
  model: OpenedModel,
  inputs: ProbedInputs,
): Plan {
  const { plan } = makePlan(request.request, makeFacts(request.request, model.facts, inputs));
  const resize = (tokens: readonly number[]) =>
    textTokens === undefined ? tokens : Array.from({ length: textTokens }, (_, i) => tokens[i % tokens.length] ?? 0);
  const { prompt, negativePrompt, skip } = plan;
  return {
    ...plan,
    prompt: { ...prompt, tokens: resize(prompt.tokens) },
    negativePrompt: negativePrompt && { ...negativePrompt, tokens: resize(negativePrompt.tokens) },
    skip: skipSteps === undefined ? skip : { ...skip, steps: skipSteps },
  };
}

interface BenchContext extends Job {
  readonly options: PipelineBenchOptions;
  readonly model: OpenedModel;
  readonly name: DeviceName;
  readonly openSeconds: number;
}

async function benchOn(device: OpenedDevice, context: BenchContext): Promise<PipelineBench> {
  const { options, model, plan, phase, openSeconds } = context;
  const { runs = 3, quantization = null, offload = [], onProgress } = options;
  const { backend, cuda } = device;
  onProgress?.('loading');
  const [{ networks }, loadSeconds] = await timed(async () => {
    const loaded = loadNetworks(model.checkpoint, backend, { cuda, quantization, offload });
    await backend.synchronize();
    return loaded;
  });
  cuda?.resetPeaks();
  const replays = new ReplayTimer(backend, cuda);
  const opTimer = new OpTimer(backend, cuda);
  // Texts are run each time, since their time is measured.
  using caches = openCaches(
    context.name,
    { textBytes: 0, joinedRows: options.separateBranches === true ? 0 : undefined },
    [],
  );
  const times: RunTimes[] = [];
  const steps: ReplayTimes[] = [];
  for (let run = 0; run < runs; run++) {
    onProgress?.(run === 0 ? 'cold run' : `warm run ${run} of ${runs - 1}`);
    times.push(await runOnce({ ...networks, backend: replays.backend }, context, caches));
    await backend.synchronize();
    steps.push(replays.take());
  }
  const memory = cuda?.report().memory;
  const hasOps = options.ops !== false;
  if (hasOps) onProgress?.('op by op');
  const opByOp = { ...networks, backend: opTimer.backend };
  const stepOps = !hasOps || phase === 'decode' ? null : await oneStep(opByOp, context, opTimer);
  const decodeOps = !hasOps || phase === 'denoise' ? null : await oneDecode(opByOp, context, opTimer);
  const [cold, ...warmRuns] = times as [RunTimes, ...RunTimes[]];
  const warm = medianTimes(warmRuns.length > 0 ? warmRuns : [cold]);
  const { activationDtype: dtype } = backend;
  const cost = readCostConfig(model.checkpoint, memoryUse(context.name, { ...options, dtype }));
  const estimate = estimateCost(plan, cost);
  const texts = branchTexts(plan);
  const sizes: PassSizes = { layers: cost.layers, ...layerFlops(cost), rows: estimate.tokens.vision, texts };
  const work = stepWork(sizes);
  const step = phase === 'decode' ? null : stepTimes(steps.slice(Math.min(1, steps.length - 1)), plan);
  const floorMs = 1000 * stepFloor(sizes, quantization === null ? 'bf16' : 'fp8');
  const { width, height } = plan.content;
  const decodeWork = decodeFlops(networks.vae.config, { frames: plan.frames, width, height });
  const perSecond = (flops: number, ms: number | null | undefined) => (ms ? flops / (ms / 1000) : null);
  const report = cuda?.report();
  const decodeSeconds = phase === 'denoise' ? null : warm.decode;
  return {
    device: device.name,
    libraries: device.blas,
    model: model.facts.id,
    quantization,
    offload,
    job: {
      task: plan.task,
      width,
      height,
      frames: plan.frames,
      steps: plan.steps,
      branches: texts.length,
      textTokens: estimate.tokens.text,
      visionTokens: estimate.tokens.vision,
      skippedSteps: plan.skip.steps,
    },
    openSeconds,
    loadSeconds,
    cold,
    warm,
    coldMinusWarmSeconds: cold.total - warm.total,
    step,
    ops: { step: stepOps, decode: decodeOps },
    rates: {
      step: perSecond(work.linear + work.attention, step?.medianMs),
      gemm: perSecond(work.linear, stepOps?.kinds.gemm),
      attention: perSecond(work.attention, stepOps?.kinds.attention),
      decode: decodeSeconds === null ? null : decodeWork / decodeSeconds,
    },
    floor: cuda
      ? {
          stepMs: floorMs,
          decodeSeconds: decodeFloor(decodeWork),
          stepRatio: step === null ? null : step.medianMs / floorMs,
          decodeRatio: decodeSeconds === null ? null : decodeSeconds / decodeFloor(decodeWork),
        }
      : null,
    memory: memory
      ? {
          peakReservedBytes: memory.peakReserved,
          peakAllocatedBytes: memory.peakAllocated,
          estimateBytes: estimate.memoryBytes,
        }
      : null,
    kernels: report ? { ...report.modules, launches: report.launches } : null,
    choices: report
      ? {
          cudnn: report.cudnn,
          fp8: cuda?.fp8Serving() ?? null,
          attention: report.attention,
          convolution: report.convolution,
        }
      : null,
  };
}

/** Text keys of the branches that the first step runs. */
function branchTexts(plan: Plan): readonly number[] {
  const { timesteps } = makeSchedule(plan);
  const weights = branchWeights(plan.guidance, timesteps[0] ?? 0, false);
  return branchNames
    .filter((name) => weights[name] !== 0)
    .map((name) => (name === 'uncond' ? plan.negativePrompt : plan.prompt)?.tokens.length ?? 0);
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
}
