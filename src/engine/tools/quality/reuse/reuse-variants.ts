// Ways to leave work out that are measured against the whole run: step caches at several thresholds, and guidance reused.
import type { SkipMode, StepCacheRequest } from '../../../../pipeline/request.js';

export interface ReuseVariant {
  readonly name: string;
  readonly stepCache?: StepCacheRequest;
  readonly skipMode?: SkipMode;
  readonly guidanceEvery?: number;
}

const cache = (stepCache: StepCacheRequest, name = `${stepCache.kind} ${stepCache.threshold}`): ReuseVariant => ({
  name,
  stepCache,
});

const sea = { kind: 'seacache', threshold: 0.25 } as const;

/** All of them. Velocities are extrapolated where the name does not say that they are held. */
export const reuseVariants: readonly ReuseVariant[] = [
  ...[0.05, 0.1, 0.2, 0.4].map((threshold) => cache({ kind: 'teacache', threshold })),
  { ...cache({ kind: 'teacache', threshold: 0.2 }, 'teacache 0.2, held'), skipMode: 'hold' },
  cache({ kind: 'teacache', threshold: 0.1, warmupSteps: 1 }, 'teacache 0.1, warm-up of one step'),
  ...[0.1, 0.15, 0.25].map((threshold) => cache({ kind: 'seacache', threshold })),
  { ...cache(sea, 'seacache 0.25, held'), skipMode: 'hold' },
  cache({ ...sea, warmupSteps: 1 }, 'seacache 0.25, warm-up of one step'),
  ...[2, 3, 4].map((guidanceEvery) => ({ name: `guidance every ${guidanceEvery}`, guidanceEvery })),
  { ...cache(sea, 'seacache 0.25, guidance every 2'), guidanceEvery: 2 },
];
