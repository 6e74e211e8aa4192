// What is served: /v1/models, in the form of the OpenAI interface and, for one model, with its defaults and limits.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { guidanceLimit, ModelDetails, ModelList, RequestError, stepLimit } from '../../protocol/index.js';
import type { ServerContext } from '../server-context.js';
import { documented } from './documented.js';

const tags = ['Models'];

/** Adds the routes. */
export function addModelRoutes(app: FastifyInstance, context: ServerContext): void {
  app.get(
    '/v1/models',
    { schema: documented({ summary: 'Served models', tags, reply: ModelList }) },
    (): ModelList => ({
      object: 'list',
      data: context.modelNames.map((name) => describeCard(context, name)),
    }),
  );

  const schema = documented({
    summary: 'A model with its tasks, defaults and limits',
    tags,
    params: Type.Object({ id: Type.String({ description: 'Name of the model.' }) }),
    reply: ModelDetails,
    errors: [404],
  });
  app.get<{ Params: { id: string } }>('/v1/models/:id', { schema }, (request) => findModel(context, request.params.id));
  // Names of models have slashes in them, which not every client encodes.
  app.get<{ Params: { '*': string } }>('/v1/models/*', { schema: { hide: true } }, (request) =>
    findModel(context, request.params['*']),
  );
}

function findModel(context: ServerContext, name: string): ModelDetails {
  if (context.modelNames.includes(name)) return describeDetails(context, name);
  throw new RequestError(
    'not_found',
    'model',
    `The model ${name.slice(0, 200)} does not exist; GET /v1/models lists what does.`,
  );
}

function describeCard({ planner, startedAt }: ServerContext, id: string) {
  const { given, path } = planner.describe();
  return {
    id,
    object: 'model' as const,
    created: startedAt,
    owned_by: 'orrery',
    root: given ?? path,
    parent: null,
    max_model_len: null,
    permission: [
      {
        id: `modelperm-${createHash('sha256').update(id).digest('hex').slice(0, 32)}`,
        object: 'model_permission',
        created: startedAt,
        allow_create_engine: false,
        allow_sampling: true,
        allow_logprobs: true,
        allow_search_indices: false,
        allow_view: true,
        allow_fine_tuning: false,
        organization: '*',
        group: null,
        is_blocking: false,
      },
    ],
  };
}

function describeDetails(context: ServerContext, name: string): ModelDetails {
  const { settings, planner, guard, supervisor } = context;
  const model = planner.describe();
  return {
    ...describeCard(context, name),
    family: model.family,
    device: supervisor.workers[0]?.device ?? 'none',
    tasks: model.tasks.map(({ task, defaults }) => ({
      task,
      width: defaults.width,
      height: defaults.height,
      num_frames: defaults.frames,
      fps: defaults.fps,
      num_inference_steps: defaults.steps,
      guidance_scale: defaults.guidance,
      flow_shift: defaults.flowShift,
      guidance_interval: defaults.guidanceInterval === null ? null : [...defaults.guidanceInterval],
    })),
    limits: {
      max_pixels: settings.maxImagePixels,
      max_steps: stepLimit,
      max_guidance: guidanceLimit,
      max_upload_bytes: settings.inputs.maxUploadBytes,
      max_queue: settings.maxQueue,
      size_multiple: model.sizeMultiple,
    },
    resolutions: Object.fromEntries(Object.entries(model.resolutions).map(([tier, sizes]) => [tier, [...sizes]])),
    sound: model.hasSound,
    actions:
      model.actions === null
        ? null
        : {
            max_dim: model.actions.maxDim,
            domains: model.actions.domains.map(({ id, names, rawDims }) => ({
              id,
              names: [...names],
              raw_dims: [...rawDims],
            })),
          },
    guardrails: { enabled: guard.isEnabled, prompt: [...guard.promptCheckers], frames: [...guard.frameCheckers] },
    policy_server: settings.policyServer ?? model.policyServer,
  };
}
