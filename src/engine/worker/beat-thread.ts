// The thread that shows that its process lives, whatever the main thread is busy with, and ends it when the parent is gone.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type BeatData, beatDescriptor } from './messages.js';

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
parentPort?.postMessage('beating');
setInterval(beat, everyMs);
