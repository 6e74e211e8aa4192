// Entry of a worker process.
import { openGenerateRunner } from './generate-runner.js';
import { serveSupervisor } from './serve-supervisor.js';

serveSupervisor(openGenerateRunner);
