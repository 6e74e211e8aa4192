// How an engine is loaded, and what it tells of the device that it opened.
import type { Quantization, Tower } from '../models/cosmos3-transformer/index.js';
import type { DeviceMemory } from './checkpoint/memory-fit.js';
import type { ModelOptions } from './checkpoint/open-model.js';
import type { EngineConfig } from './config.js';
import type { DeviceDtype, GpuChoices } from './loader.js';
import type { KeepOptions } from './run/open-caches.js';
import type { Guard } from './safety/guard.js';

/** How an engine is loaded. What is absent comes from the environment, then from defaults. */
export interface LoadOptions extends ModelOptions {
  readonly device?: string | undefined;
  /** Threads of the CPU device. */
  readonly threads?: number | undefined;
  /** What networks compute in on a GPU; `bf16` where absent. */
  readonly dtype?: DeviceDtype | undefined;
  /** Folders that CUDA's libraries are sought in before all others. */
  readonly cudaLibraries?: readonly string[] | undefined;
  /** Linear layers of the transformer in eight bits, on GPUs that can; none where absent. */
  readonly quantization?: Quantization | undefined;
  /**
   * Towers whose layers lie in the host's memory and come to the GPU one ahead of their use: `und`, which is needed only while a
   * prompt is read, or both. None where absent.
   */
  readonly offload?: readonly Tower[] | undefined;
  /** How a GPU computes. */
  readonly gpu?: GpuChoices | undefined;
  /** Decode frames by tiles: less memory, a little more time, slightly other pixels. */
  readonly vaeTiling?: boolean | undefined;
  /** What is kept between generations. */
  readonly keep?: KeepOptions | undefined;
  /** Environment settings to use instead of the process's own. */
  readonly config?: EngineConfig | undefined;
  /** Checks prompts of requests that do not turn that off; the bundled word list where absent. */
  readonly guard?: Pick<Guard, 'checkPrompt'> | undefined;
  /** Told what is worth knowing but no error: names in the checkpoint that nothing reads. */
  readonly onDebug?: ((message: string) => void) | undefined;
}

/** A device that is open. */
export interface OpenDevice extends DeviceMemory {
  /** Whether it has products in eight bits. */
  readonly servesFp8: boolean;
  /** What it is and how weights are kept and frames decoded, for people. */
  readonly setup: readonly string[];
}
