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
export { Health, ModelCard, ModelDetails, ModelList, Readiness, TaskCard, Version } from './model.js';
export { ActionPayload, ArtifactInfo, JobFailure, ProgressInfo, VideoDeleted, VideoJob, VideoList } from './video.js';
