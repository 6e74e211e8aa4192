// Entry of a device process whose results are shown to a guard model before they are kept.
import { openGenerateRunner } from '../../engine/worker/generate-runner.js';
import { serveSupervisor } from '../../engine/worker/serve-supervisor.js';
import { guardResults } from './frame-guard.js';

serveSupervisor(guardResults(openGenerateRunner));
