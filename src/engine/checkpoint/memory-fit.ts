// Which options of the program would make a job fit a device that it does not fit: what errors of memory advise.
import { totalmem } from 'node:os';
import { OutOfMemoryError } from '../../backend/index.js';
import { defaultTiling } from '../../models/wan-vae/index.js';
import type { CostEstimate } from '../../pipeline/plan/cost.js';
import { formatBytes } from '../tools/format-bytes.js';
import type { DeviceMemoryUse } from './cost-config.js';

/** What a job takes, in bytes. */
export type MemoryNeed = Pick<CostEstimate, 'memoryBytes' | 'hostMemoryBytes'>;

/** A job and a device. */
export interface MemoryQuestion {
  /** How it is kept now. */
  readonly use: DeviceMemoryUse;
  /** Bytes that the job may take on the device. */
  readonly limit: number;
  /** Bytes of the host that may be page-locked. */
  readonly hostLimit: number;
  /** Whether the device has products in eight bits. */
  readonly servesFp8: boolean;
  /** What the job takes where it is kept otherwise. */
  readonly need: (use: DeviceMemoryUse) => MemoryNeed;
}

/** Flags that make a job fit, and what it then takes. */
export interface MemoryFit {
  readonly flags: readonly string[];
  readonly memoryBytes: number;
}

interface Saving {
  readonly flag: string;
  readonly helps: (question: MemoryQuestion) => boolean;
  readonly apply: (use: DeviceMemoryUse) => DeviceMemoryUse;
}

/** In the order in which they are preferred: those that change results least first. */
const savings: readonly Saving[] = [
  {
    flag: '--release-text-tower',
    helps: ({ use }) => use.kind === 'gpu' && use.offload.length === 0,
    apply: (use) => ({ ...use, offload: ['und'] }),
  },
  {
    flag: '--vae-use-tiling',
    helps: ({ use }) => use.tiling === null,
    apply: (use) => ({ ...use, tiling: defaultTiling }),
  },
  {
    flag: '--enable-layerwise-offload',
    helps: ({ use }) => use.kind === 'gpu' && !use.offload.includes('gen'),
    apply: (use) => ({ ...use, offload: ['und', 'gen'] }),
  },
  {
    flag: '--quantization fp8',
    helps: ({ use, servesFp8 }) => use.kind === 'gpu' && use.quantization === null && servesFp8,
    apply: (use) => ({ ...use, quantization: { format: 'fp8' } }),
  },
];

/** The fewest flags that make a job fit; null where none do. */
export function findFit(question: MemoryQuestion): MemoryFit | null {
  const { use, limit, hostLimit, need } = question;
  const helpful = savings.filter(({ helps }) => helps(question));
  // Bit i of a number stands for the saving i.
  const sets = Array.from({ length: 2 ** helpful.length - 1 }, (_, i) =>
    helpful.filter((_, bit) => (i + 1) & (1 << bit)),
  );
  sets.sort((a, b) => a.length - b.length);
  for (const set of sets) {
    const { memoryBytes, hostMemoryBytes } = need(set.reduce((kept, { apply }) => apply(kept), use));
    if (memoryBytes <= limit && hostMemoryBytes <= hostLimit)
      return { flags: set.map(({ flag }) => flag), memoryBytes };
  }
  return null;
}

/** What to do about a job that does not fit, as the end of a sentence. */
export function adviseFit(fit: MemoryFit | null): string {
  const smaller = 'ask for a smaller size or fewer frames';
  if (fit === null) return smaller;
  return `${smaller}, or start with ${fit.flags.join(' ')}, which takes about ${formatBytes(fit.memoryBytes)}`;
}

/** A device's memory when it was opened, in bytes. */
export interface DeviceMemory {
  readonly totalBytes: number;
  readonly freeBytes: number;
}

/**
 * The same error, saying what the job takes, what the GPU has and which options would fit. Errors of other kinds, of other devices
 * and of the host's memory say enough.
 * @param gpu null where the device is another
 * @param hostLimit bytes of the host that may be page-locked
 */
export function adviseOnMemory(
  error: unknown,
  gpu: (DeviceMemory & { readonly servesFp8: boolean }) | null,
  { use, need }: Pick<MemoryQuestion, 'use' | 'need'>,
  hostLimit = totalmem(),
): unknown {
  if (gpu === null || !(error instanceof OutOfMemoryError) || error.place === 'host') return error;
  const { totalBytes, freeBytes, servesFp8 } = gpu;
  const { memoryBytes } = need(use);
  // Where the estimate says that it fits, what was lacking has to be saved.
  const limit = Math.min(freeBytes, memoryBytes - Math.max(0, error.asked - error.free));
  const has = `the GPU has ${formatBytes(totalBytes)}, of which ${formatBytes(freeBytes)} were free when it was opened`;
  const fit = findFit({ use, limit, hostLimit, servesFp8, need });
  return new OutOfMemoryError(
    error.asked,
    error.free,
    `This takes about ${formatBytes(memoryBytes)}, ${has}: ${adviseFit(fit)}.`,
  );
}
