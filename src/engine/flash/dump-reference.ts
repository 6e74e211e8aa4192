// From a prompt to a reference dump in a file: the door of `orrery dump`.
import { randomInt } from 'node:crypto';
import type { CheckpointFacts } from '../../pipeline/facts.js';
import { plan as makePlan } from '../../pipeline/plan.js';
import type { Plan, PlanWarning } from '../../pipeline/plan-types.js';
import { RequestError } from '../../protocol/index.js';
import { loadNetworks } from '../checkpoint/load-networks.js';
import { type ModelOptions, openModel } from '../checkpoint/open-model.js';
import { type EngineConfig, readConfig } from '../config.js';
import { chooseDevice, type DeviceDtype, type GpuChoices, openDevice } from '../loader.js';
import { checkWritable } from '../outputs/output-target.js';
import { openPromptGuard } from '../safety/prompt-guard.js';
import { defaultShift } from './cosmos3-video.js';
import { refuseUnknown } from './refuse-unknown.js';
import { type WrittenDump, writeDump } from './write-dump.js';

/** What to dump. Sizes and rates that are absent are the checkpoint's own. */
export interface DumpRequest extends Omit<ModelOptions, 'synthetic'> {
  readonly prompt: string;
  /** The file to write. */
  readonly output: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly frames?: number | undefined;
  readonly fps?: number | undefined;
  /** 10 where absent. */
  readonly steps?: number | undefined;
  /** Flow shift; 10 where absent. */
  readonly shift?: number | undefined;
  readonly seed?: number | undefined;
  readonly device?: string | undefined;
  readonly dtype?: DeviceDtype | undefined;
  /** How a GPU computes. */
  readonly gpu?: GpuChoices | undefined;
  readonly threads?: number | undefined;
  readonly cudaLibraries?: readonly string[] | undefined;
  readonly onStep?: ((done: { readonly step: number; readonly steps: number }) => void) | undefined;
  readonly environment?: EngineConfig | undefined;
}

const requestKeys: readonly (keyof DumpRequest)[] = [
  'prompt',
  'output',
  'model',
  'revision',
  'parts',
  'width',
  'height',
  'frames',
  'fps',
  'steps',
  'shift',
  'seed',
  'device',
  'dtype',
  'gpu',
  'threads',
  'cudaLibraries',
  'onStep',
  'onDownload',
  'signal',
  'environment',
];

/** A dump that was written. */
export interface Dumped extends WrittenDump {
  readonly path: string;
  readonly plan: Plan;
  readonly warnings: readonly PlanWarning[];
}

const defaultSteps = 10;

/**
 * Denoises a prompt without guidance and writes the dump, as reference of `loadModel(…).setPrompt({ ref })`.
 * @throws RequestError for a request that cannot be served; errors of the checkpoint and the device; the signal's reason
 */
export async function dumpReference(request: DumpRequest): Promise<Dumped> {
  refuseUnknown('dumpReference', request, requestKeys);
  const { prompt, output, device, dtype, threads, cudaLibraries = [], signal, onStep } = request;
  if (typeof output !== 'string' || !output.endsWith('.safetensors'))
    throw new RequestError('invalid_value', 'output', `output ${output} must end in .safetensors`);
  checkWritable([{ path: output, kind: 'safetensors' }]);
  const settings = request.environment ?? readConfig();
  if (typeof prompt === 'string' && prompt !== '') await openPromptGuard(settings).checkPrompt(prompt, signal);
  const environment = { ...settings, libraryRoots: [...cudaLibraries, ...settings.libraryRoots] };
  const { libraryRoots, blas, kernelCache } = environment;
  const place = chooseDevice(device ?? environment.device, libraryRoots);
  const { checkpoint, facts } = await openModel(request, environment);
  try {
    if (facts.distilledSigmas)
      throw new RequestError('unsupported', 'model', `model ${facts.id} is distilled: it has noise levels of its own`);
    const { plan, warnings } = planDump(request, facts);
    const opened = await openDevice(place, {
      threads: threads ?? environment.threads,
      dtype: dtype ?? environment.dtype,
      blas,
      libraryRoots,
      kernelCache,
      gpu: request.gpu,
    });
    try {
      const { networks } = loadNetworks(checkpoint, opened.backend, { cuda: opened.cuda });
      const written = await writeDump(output, plan, networks, { signal, onStep });
      return { path: output, plan, warnings, ...written };
    } finally {
      await opened.backend[Symbol.asyncDispose]();
    }
  } finally {
    checkpoint[Symbol.dispose]();
  }
}

function planDump(request: DumpRequest, checkpoint: CheckpointFacts) {
  const { prompt, width, height, frames, fps, seed, steps = defaultSteps, shift = defaultShift } = request;
  const given = Object.entries({ width, height, frames, fps, seed }).filter(([, value]) => value !== undefined);
  const task = frames === 1 ? 'text-to-image' : 'text-to-video';
  const asked = { prompt, task, ...Object.fromEntries(given), steps, flowShift: shift, guidance: 1 } as const;
  return makePlan(asked, { checkpoint, image: null, video: null, hints: [], randomSeed: randomInt(2 ** 31) });
}
