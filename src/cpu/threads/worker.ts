// A compute thread: takes tiles from the board until the device is closed.
import { parentPort, workerData } from 'node:worker_threads';
import { beginJob } from '../tiles/index.js';
import { startThread, type ThreadSetup } from './thread.js';

const thread = startThread(workerData as ThreadSetup);
parentPort?.postMessage('ready');
const seen = { generation: 0 };
for (let kind = thread.board.enter(seen); kind >= 0; kind = thread.board.enter(seen)) {
  try {
    const run = beginJob(kind, thread);
    for (let tile = thread.board.take(); tile >= 0; tile = thread.board.take()) run(tile);
  } catch (error) {
    thread.board.fail(error instanceof Error ? error.message : String(error));
  }
  thread.board.leave();
}
