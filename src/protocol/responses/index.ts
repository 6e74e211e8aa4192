// Replies of the server.
export { ErrorBody } from './error.js';
export {
  EventStream,
  JobEventData,
  type JobEventMessage,
  type JobEventName,
  jobEventNames,
  jobEvents,
} from './events.js';
export { ChatRequest, ChatResponse, ImageResponse } from './image.js';
export { Job, JobDeleted, JobInputInfo, JobList, Upload } from './job.js';
export { Health, ModelCard, ModelDetails, ModelList, Readiness, TaskCard, Version } from './model.js';
export { PlanReply } from './plan.js';
export { ServerStatus } from './status.js';
export {
  ActionPayload,
  ArtifactInfo,
  artifactVariants,
  JobFailure,
  ProgressInfo,
  VideoDeleted,
  VideoJob,
  VideoList,
} from './video.js';
