// Whether a run's flow shift is the one a dump was made with: the timesteps reach the network through the dump's embeddings
// alone, so that another shift makes noise levels and embeddings disagree. Source: performance spec, A.7.
import type { Backend } from '../../backend/index.js';
import { embedTimesteps, type Transformer } from '../../models/cosmos3-transformer/index.js';
import { downloadFloats } from '../../pipeline/conditioning/vision-source.js';
import { flowSigmas } from '../../pipeline/denoise/schedule.js';

/** What is known of the timesteps that a dump's embeddings stand for. */
export type DumpTimesteps =
  | { readonly kind: 'recognised'; readonly timesteps: readonly number[] }
  | { readonly kind: 'foreign'; readonly step: number; readonly distance: number }
  /** The checkpoint has no time embedder. */
  | { readonly kind: 'unknown' };

const trainTimesteps = 1000;
/** Half-precision rows lie within 0.01 of their own; neighbours differ by about 0.001 of a row. */
const farthest = 0.05;
/** Steps of a grid by which rounded rows may be mistaken for a neighbour's. */
const tolerance = 2;

/**
 * Finds, for each row, the whole timestep (0 … 1000) whose embedding is nearest.
 * @param rows `[N, D]`, the dump's embeddings
 */
export async function recogniseTimesteps(
  b: Backend,
  { timestep, config }: Pick<Transformer, 'timestep' | 'config'>,
  rows: Float32Array,
): Promise<DumpTimesteps> {
  const { hidden, timestepScale } = config;
  const grid = Float32Array.from({ length: trainTimesteps + 1 }, (_, t) => t * timestepScale);
  const table = embedTimesteps(b, timestep, grid); // [1001, D]
  const { data } = await downloadFloats(b, table).finally(() => table[Symbol.dispose]());
  const timesteps: number[] = [];
  for (let step = 0; step * hidden < rows.length; step++) {
    const row = rows.subarray(step * hidden, (step + 1) * hidden);
    const { index, distance } = findNearest(row, data);
    if (!(distance <= farthest)) return { kind: 'foreign', step, distance };
    timesteps.push(index);
  }
  return { kind: 'recognised', timesteps };
}

function findNearest(row: Float32Array, table: Float32Array): { readonly index: number; readonly distance: number } {
  const width = row.length;
  let [index, least] = [0, Number.POSITIVE_INFINITY];
  for (let at = 0; at < table.length; at += width) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += ((row[i] as number) - (table[at + i] as number)) ** 2;
    if (sum < least) [index, least] = [at / width, sum];
  }
  const norm = row.reduce((sum, value) => sum + value * value, 0);
  return { index, distance: Math.sqrt(least / norm) };
}

/**
 * A sentence on a shift that is not the dump's, or that nothing could be held against; null where all is well.
 * @param stated the shift the dump itself states, null where it does not
 */
export function judgeShift(
  shift: number,
  { stated, found }: { readonly stated: number | null; readonly found: DumpTimesteps },
): string | null {
  const disagree = 'noise levels and timestep embeddings disagree';
  if (found.kind === 'foreign') {
    const far = `${(100 * found.distance).toFixed(0)} % away from the nearest`;
    return `the dump's embedding of step ${found.step} is none that this checkpoint makes (${far}): it was made with another checkpoint`;
  }
  if (found.kind === 'recognised') {
    const { timesteps } = found;
    const steps = timesteps.length;
    const expected = [...flowSigmas({ steps, shift, grid: 'native' }).timesteps];
    const isNear = (grid: ArrayLike<number>) => timesteps.every((t, i) => Math.abs(t - (grid[i] ?? 0)) <= tolerance);
    if (!isNear(expected) && isNear(flowSigmas({ steps, shift, grid: 'linspace' }).timesteps))
      return `the dump walks another grid, which begins at 1: its embeddings are those of timesteps ${timesteps.join(', ')}, the native grid has ${expected.join(', ')}; ${disagree} a little`;
    if (!isNear(expected)) {
      const made = stated ?? fitShift(timesteps);
      const wanted = `give --shift ${made}`;
      return `shift ${shift} is not the dump's: its embeddings are those of timesteps ${timesteps.join(', ')}, shift ${shift} has ${expected.join(', ')}; ${disagree}; ${wanted}`;
    }
  }
  if (stated !== null && Math.abs(stated - shift) > 1e-6 * stated)
    return `shift ${shift} is not the dump's, which was made with ${stated}: ${disagree}; give --shift ${stated}`;
  if (found.kind === 'unknown' && stated === null)
    return `shift ${shift} is unchecked: the checkpoint has no time embedder and the dump does not state its shift`;
  return null;
}

/** The shift whose timesteps lie nearest, to one decimal. */
function fitShift(timesteps: readonly number[]): number {
  const steps = timesteps.length;
  const candidates = Array.from({ length: 400 }, (_, i) => (i + 1) / 10);
  const errors = candidates.map((shift) => {
    const made = flowSigmas({ steps, shift, grid: 'native' }).timesteps;
    return made.reduce((sum, t, i) => sum + Math.abs(t - (timesteps[i] as number)), 0);
  });
  return candidates[errors.indexOf(Math.min(...errors))] ?? 1;
}
