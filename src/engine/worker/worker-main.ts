// Entry of a worker process.
import { openGenerateRunner } from './generate-runner.js';
import { runWorker } from './run-worker.js';

runWorker(openGenerateRunner);
