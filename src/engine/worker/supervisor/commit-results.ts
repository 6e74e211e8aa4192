// Makes the files of a run artifacts of record: checked, moved to the store, recorded together with the job's end.
import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ArtifactStore, JobOutcome, JobQueue, Lease } from '../../jobs/types.js';
import type { ProducedFile, RunResult } from '../job-runner.js';

/** A finished run. */
export interface FinishedRun {
  readonly lease: Lease;
  /** Where its files lie. */
  readonly folder: string;
  readonly result: RunResult;
  readonly phases: JobOutcome['phases'];
  readonly peakMemoryMb: number;
}

/**
 * Commits a run: either all its files are of record and the job is completed, or none of them is kept.
 * @returns false when the lease was lost
 * @throws when a file is not what the run said, or cannot be stored
 */
export async function commitResults(queue: JobQueue, store: ArtifactStore, run: FinishedRun): Promise<boolean> {
  const { lease, folder, result, phases, peakMemoryMb } = run;
  const stored: string[] = [];
  let isCommitted = false;
  try {
    for (const file of result.files) await checkFile(folder, file);
    const artifacts: JobOutcome['artifacts'][number][] = [];
    for (const { name, variant, index, mediaType, bytes, sha256 } of result.files) {
      const file = await store.put(join(folder, name), mediaType);
      stored.push(file);
      artifacts.push({ id: randomUUID(), variant, index, mediaType, bytes, sha256, file });
    }
    isCommitted = await queue.complete(lease, { artifacts, result: result.result, phases, peakMemoryMb });
    return isCommitted;
  } finally {
    if (!isCommitted) await store.delete(stored);
  }
}

async function checkFile(folder: string, { name, bytes }: ProducedFile): Promise<void> {
  if (basename(name) !== name) throw new Error(`the run named a file outside its folder: ${name}`);
  const stat = await lstat(join(folder, name));
  if (!stat.isFile()) throw new Error(`the run named ${name}, which is no file`);
  if (stat.size !== bytes) throw new Error(`${name} has ${stat.size} bytes, the run wrote ${bytes}`);
}
