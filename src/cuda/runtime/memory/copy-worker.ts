// A thread that helps to copy host memory.
import { workerData } from 'node:worker_threads';
import { CopyBoard } from './copy-board.js';

const { shared }: { readonly shared: SharedArrayBuffer } = workerData;

new CopyBoard(shared).serve();
