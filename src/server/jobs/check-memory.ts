// Whether a plan fits the memory of the device that would run it.
import { totalmem } from 'node:os';
import { adviseFit, findFit } from '../../engine/checkpoint/memory-fit.js';
import { formatBytes } from '../../engine/index.js';
import type { PlannedRequest } from '../../engine/planner/planner.js';
import { RequestError } from '../../protocol/index.js';
import type { ServerContext } from '../server-context.js';

/** Bytes that jobs may take; null while a GPU has not told yet. */
export function availableMemory({ planner, supervisor }: Pick<ServerContext, 'planner' | 'supervisor'>): number | null {
  if (planner.use.kind === 'cpu') return totalmem();
  const [worker] = supervisor.workers;
  return worker?.freeBytes ?? worker?.memoryBytes ?? null;
}

/**
 * Weights and activations must fit: a device process that the system ends takes its job with it.
 * @param hostLimit bytes of the host that flags which are named may lock
 * @throws RequestError naming what the plan takes, what there is, and flags of the server with which it would fit
 */
export function checkMemory(
  { planner, supervisor }: Pick<ServerContext, 'planner' | 'supervisor'>,
  { plan, estimate }: PlannedRequest,
  hostLimit = totalmem(),
): void {
  const limit = availableMemory({ planner, supervisor });
  if (limit === null || estimate.memoryBytes <= limit) return;
  const { use } = planner;
  const [worker] = supervisor.workers;
  const fit = findFit({
    use,
    limit,
    hostLimit,
    servesFp8: worker?.servesFp8 ?? false,
    need: (other) => planner.estimate(plan, other),
  });
  const { width, height } = plan.canvas;
  throw new RequestError(
    'unsupported',
    'size',
    `size ${width}x${height} with ${plan.frames} frames needs about ${formatBytes(estimate.memoryBytes)} of memory, ` +
      `${use.kind === 'cpu' ? 'this machine' : (worker?.name ?? 'the GPU')} has ${formatBytes(limit)}` +
      `${use.kind === 'cpu' ? '' : ' to spare'}; ${adviseFit(fit)}`,
  );
}
