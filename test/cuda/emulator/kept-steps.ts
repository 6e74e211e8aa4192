// Whole jobs on the emulated device: with steps recorded by earlier jobs, with step caches and reused guidance, each held against
// the same job alone, bit for bit.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { CudaBackend } from '../../../src/cuda/cuda-backend.js';
import { readCheckpointFacts } from '../../../src/engine/checkpoint/checkpoint-facts.js';
import { loadNetworks } from '../../../src/engine/checkpoint/load-networks.js';
import { generate } from '../../../src/pipeline/generate.js';
import { plan } from '../../../src/pipeline/plan.js';
import type { GenerationRequest } from '../../../src/pipeline/request.js';
import { RunCaches } from '../../../src/pipeline/run-caches.js';
import { openCheckpoint } from '../../../src/weights/index.js';

const base = { width: 64, height: 48, frames: 5, steps: 2, seed: 7, guidance: 3, task: 'text-to-video' } as const;
const requests: readonly Partial<GenerationRequest>[] = [
  {},
  { prompt: 'A dog in deep snow at night.', seed: 3 },
  { steps: 6, stepCache: { kind: 'seacache', threshold: 5, warmupSteps: 1 } },
  { steps: 6, stepCache: { kind: 'teacache', threshold: 5, warmupSteps: 1 } },
  { steps: 4, guidanceEvery: 2 },
];

/** Runs the jobs, and prints what differs. */
export async function checkKeptSteps(b: CudaBackend): Promise<{ readonly passed: number; readonly failed: number }> {
  const checkpoint = openCheckpoint(fileURLToPath(new URL('../../golden/data/tiny-nano', import.meta.url)));
  const { networks } = loadNetworks(checkpoint, b);
  const facts = {
    checkpoint: readCheckpointFacts(checkpoint, 'tiny'),
    image: null,
    video: null,
    hints: [],
    randomSeed: 1,
  };
  const run = async (request: Partial<GenerationRequest>, caches?: RunCaches): Promise<string> => {
    const job = plan({ prompt: 'A cat.', ...base, ...request }, facts).plan;
    const hash = createHash('sha256');
    const options = { latents: true, skipFrames: true, caches };
    for await (const event of generate(job, networks, { image: null, video: null, controls: new Map() }, options)) {
      if (event.type === 'step') hash.update(`${event.skipped} ${event.passes} `);
      if (event.type === 'latents') hash.update(event.data);
    }
    return hash.digest('hex');
  };
  using caches = new RunCaches({ textBytes: 2 ** 30, sessions: 4, sessionBytes: 2 ** 30 });
  let passed = 0;
  for (const request of requests) {
    if ((await run(request, caches)) === (await run(request))) passed++;
    else console.log(`kept steps differ: ${JSON.stringify(request)}`);
  }
  const { hits } = caches.sessions.use;
  if (hits === requests.length - 1) passed++;
  else console.log(`kept steps: ${hits} jobs of ${requests.length - 1} found theirs`);
  return { passed, failed: requests.length + 1 - passed };
}
