// The protocol's door: what may be said over the wire.
export {
  type CallOptions,
  type ClientOptions,
  createClient,
  type JobForm,
  type JobQuery,
  type OrreryClient,
  type VideoForm,
} from './client/client.js';
export { OrreryClientError } from './client/client-error.js';
export type { FollowEventsOptions } from './client/follow-events.js';
export { readEvents, type ServerEvent } from './client/read-events.js';
export { extraParamGroups, extraParams } from './extra-params.js';
export { descriptionOf, type Flag, flagOf } from './flag.js';
export { generationFields, guidanceLimit, stepLimit } from './generation-fields.js';
export { aliases, knownNames, unavailableNames, unusedNames } from './known-names.js';
export { nearestName } from './nearest-name.js';
export { describeAllowed, parseField, parseFields, showValue } from './parse-field.js';
export { type ErrorCode, errorStatus, RequestError } from './request-error.js';
export * from './responses/index.js';
export { ExtraParams, ImageRequest, VideoRequest } from './route-requests.js';
export { hintParams, structuredParams } from './structured-params.js';
export {
  type HintName,
  hintNames,
  type InputRole,
  isHintName,
  isTaskName,
  type TaskName,
  type TaskTraits,
  taskNames,
  traitsOf,
} from './task-table.js';
