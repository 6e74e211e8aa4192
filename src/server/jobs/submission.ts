// From a generation form to a job in the queue: read, checked by the guardrails, inputs gathered, planned, accepted.
import { type Plan, type ReadRequest, readRequest, type WireRequest } from '../../engine/index.js';
import type { JobOutput, JobRecord, JsonObject, JsonValue } from '../../engine/jobs/types.js';
import type { PlannedRequest } from '../../engine/planner/planner.js';
import { hintNames, RequestError } from '../../protocol/index.js';
import { gatherInputs } from '../inputs/gather-inputs.js';
import { type GenerationForm, type Named, withDefaults } from '../requests/generation-form.js';
import type { ServerContext } from '../server-context.js';
import { checkMemory } from './check-memory.js';

/** Who asks, how, and for what files. */
export interface Submission {
  readonly owner: string;
  readonly requestId: string;
  /** Keeps lists apart: `video`, `image`, `policy`. */
  readonly kind: string;
  readonly outputs: (plan: Plan) => readonly JobOutput[];
  readonly id?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The caller waits on the line. */
  readonly transient?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly deadlineAt?: number | undefined;
  /** Refuses a plan that the route does not serve. */
  readonly check?: ((plan: Plan) => void) | undefined;
}

/** A job that was accepted. */
export interface Accepted {
  readonly record: JobRecord;
  readonly planned: PlannedRequest;
  readonly isNew: boolean;
}

/**
 * Reads, checks and plans a form without making a job of it.
 * @throws RequestError for whatever cannot be served; what the guardrails refuse included
 */
export function prepare(context: ServerContext, form: GenerationForm): Promise<Prepared> {
  const { guard, tracing } = context;
  return settle(context, form, ({ request, guardrails }) =>
    tracing.stage('guardrails', () => guard.check(request.prompt, guardrails)),
  );
}

/** The same without the guardrails: for whoever only wants to know. @throws RequestError */
export function preview(context: ServerContext, form: GenerationForm): Promise<Prepared> {
  return settle(context, form, async () => undefined);
}

async function settle(
  context: ServerContext,
  form: GenerationForm,
  judge: (read: ReadRequest) => Promise<void>,
): Promise<Prepared> {
  const { settings, uploads, inspector, planner, tracing } = context;
  const wire = toWire(withDefaults(form, settings.defaultParams), settings.flowShift);
  checkModel(context, wire.fields.model);
  const early = tellUnsupported(() => readRequest(wire));
  await judge(early);
  const inputs = await tracing.stage('inputs', () =>
    gatherInputs(form.wanted, { uploads, inspector, settings: settings.inputs }),
  );
  const { inputs: kept, ...sources } = inputs;
  const planned = await tracing.stage('plan', () => planner.plan({ ...wire, ...sources }));
  checkMemory(context, planned);
  return { wire, inputs: kept, planned };
}

/** A form that can become a job. */
export interface Prepared {
  readonly wire: WireRequest;
  readonly inputs: Awaited<ReturnType<typeof gatherInputs>>['inputs'];
  readonly planned: PlannedRequest;
}

/**
 * Puts a prepared form into the queue. When this resolves, the job is on disk.
 * @param change parameters in which this job differs from the form, as the seed of a second picture
 * @throws QueueFullError, IdempotencyConflictError, RequestError while the server drains
 */
export async function enqueue(
  context: ServerContext,
  { wire, inputs, planned }: Prepared,
  submission: Submission,
  change?: { readonly plan: Plan; readonly extra: Named },
): Promise<Accepted> {
  if (context.isDraining())
    throw new RequestError('unavailable', null, 'The server is shutting down; try again later.');
  const plan = change?.plan ?? planned.plan;
  submission.check?.(plan);
  const { outputs, check: _check, id, ...rest } = submission;
  const { record, created } = await context.queue.enqueue({
    ...rest,
    ...(id === undefined ? {} : { id }),
    request: { fields: toJson(wire.fields), extra: toJson({ ...wire.extra, ...change?.extra }), inputs },
    plan,
    outputs: outputs(plan),
  });
  if (created) context.metrics.accepted(submission.kind, plan.task);
  return { record, planned, isNew: created };
}

/** Shift of the text, image and video to video tasks, where the server has one and the request none. */
function toWire({ fields, extra }: GenerationForm, flowShift: number | null): WireRequest {
  const names = { ...fields, ...extra };
  const isPlain =
    [...hintNames, 'action_mode'].every((name) => names[name] === undefined) && names.task !== 'text-to-image';
  const isStated = (names.flow_shift ?? names.shift) !== undefined;
  return { fields: flowShift !== null && isPlain && !isStated ? { ...fields, flow_shift: flowShift } : fields, extra };
}

function checkModel({ modelNames }: ServerContext, model: unknown): void {
  if (model === undefined || model === null || model === '' || modelNames.includes(String(model))) return;
  throw new RequestError(
    'invalid_value',
    'model',
    `Model mismatch: request specifies '${String(model).slice(0, 200)}' but server is running '${modelNames[0]}'.`,
  );
}

/** What no request can have is the caller's mistake here, not a gap of the server. */
function tellUnsupported(read: () => ReadRequest): ReadRequest {
  try {
    return read();
  } catch (error) {
    if (error instanceof RequestError && error.code === 'not_implemented') {
      throw new RequestError('unsupported', error.param, error.message);
    }
    throw error;
  }
}

function toJson(values: Named): JsonObject {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (isJson(value) ? [[name, value]] : [])));
}

function isJson(value: unknown): value is JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return typeof value === 'object' && Object.values(value).every(isJson);
}
