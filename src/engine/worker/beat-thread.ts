// The thread that shows that its process lives, whatever the main thread is busy with, and ends it when the parent is gone.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { beatDescriptor } from './messages.js';

/** What the thread is started with. */
export interface BeatData {
  readonly everyMs: number;
  readonly parentPid: number;
}

const { everyMs, parentPid }: BeatData = workerData;

function beat(): void {
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL');
  try {
    writeSync(beatDescriptor, `${process.memoryUsage.rss()}\n`);
  } catch (error) {
    // A full pipe means a parent that does not read just now; a broken one, a parent that never will.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') process.kill(process.pid, 'SIGKILL');
  }
}

beat();
setInterval(beat, everyMs);
