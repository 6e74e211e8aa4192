// The door of the jobs: what a server needs to accept, run, follow and keep them.
export { ContentTokens } from '../artifacts/content-tokens.js';
export type { JobLog, SupervisionLimits } from '../worker/supervisor/supervision.js';
export {
  ArtifactMissingError,
  IdempotencyConflictError,
  LockHeldError,
  QueueFullError,
  StoreVersionError,
  UnknownUploadError,
  WorkerRefusedError,
} from './errors.js';
export { type DeviceOptions, type JobEngine, type JobEngineOptions, openJobEngine } from './open-job-engine.js';
export { shapeOf } from './run-timeline.js';
export type * from './types.js';
