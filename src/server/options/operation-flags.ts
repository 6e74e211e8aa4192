// The flags that do something here, for whoever runs the server: jobs, storage, logs, device.
import { type ServeFlag, works } from './serve-flag.js';

const jobs: readonly ServeFlag[] = [
  {
    name: 'storage-path',
    group: 'Jobs',
    kind: 'text',
    value: 'FOLDER',
    about: 'Where jobs, uploads and results lie; a folder of the user where absent.',
    does: works,
  },
  {
    name: 'storage-lifetime',
    group: 'Jobs',
    kind: 'number',
    value: 'SECONDS',
    minimum: 1,
    fallback: 604_800,
    about: 'How long finished jobs and results are kept.',
    does: works,
  },
  {
    name: 'preview-steps',
    group: 'Jobs',
    kind: 'integer',
    value: 'N',
    minimum: 0,
    fallback: 2,
    about: 'Steps at least between two previews of a job; 0 for none. None either where a guardrail judges frames.',
    does: works,
  },
  {
    name: 'max-queue',
    group: 'Jobs',
    kind: 'integer',
    value: 'N',
    minimum: 1,
    fallback: 1000,
    about: 'Most jobs that wait; more are answered 429.',
    does: works,
  },
];

const operation: readonly ServeFlag[] = [
  {
    name: 'config',
    group: 'Operation',
    kind: 'text',
    value: 'FILE',
    about: 'YAML or JSON file with the names of flags as keys.',
    does: works,
  },
  { name: 'print-config', group: 'Operation', kind: 'switch', about: 'Show the settings and leave.', does: works },
  {
    name: 'init-timeout',
    group: 'Operation',
    kind: 'number',
    value: 'SECONDS',
    minimum: 1,
    fallback: 600,
    about: 'Longest that the device process may take to open its checkpoint.',
    does: works,
  },
  {
    name: 'drain-timeout',
    group: 'Operation',
    kind: 'number',
    value: 'SECONDS',
    minimum: 0,
    fallback: 120,
    about: 'Longest wait for running jobs after SIGTERM; what is not done then runs at the next start.',
    does: works,
  },
  {
    name: 'log-level',
    group: 'Operation',
    kind: 'text',
    value: 'LEVEL',
    aliases: ['uvicorn-log-level'],
    fallback: 'info',
    about: 'Least level of log lines: trace, debug, info, warning, error, silent.',
    does: works,
  },
  {
    name: 'log-requests',
    group: 'Operation',
    kind: 'switch',
    about: 'A log line for each request, also for the successful ones.',
    does: works,
  },
];

/** Flags of running the server. */
export const operationFlags: readonly ServeFlag[] = [...jobs, ...operation];
