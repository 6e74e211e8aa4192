// The plan door: what a request would become and cost, without a job.
import type { FastifyInstance } from 'fastify';
import { PlanReply } from '../../protocol/index.js';
import { JobRequest } from '../gallery/job-routes.js';
import { readJobForm } from '../gallery/read-job-form.js';
import { availableMemory } from '../jobs/check-memory.js';
import { preview } from '../jobs/submission.js';
import { documented } from '../routes/documented.js';
import { receiveBody } from '../routes/request-body.js';
import { formTypes, tellIgnored } from '../routes/videos.js';
import type { ServerContext } from '../server-context.js';
import { viewPlan } from './view-plan.js';

/** Adds the route. */
export function addPlanRoute(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'What a request would become and cost; makes no job',
    tags: ['Jobs'],
    body: JobRequest,
    consumes: formTypes,
    reply: PlanReply,
    errors: [400, 401, 413, 415],
  });
  app.post('/v1/plan', { schema }, async (request, reply): Promise<PlanReply> => {
    await using body = await receiveBody(request, context);
    const form = readJobForm(body);
    tellIgnored(reply, form.ignored);
    const { planned } = await preview(context, form);
    return viewPlan(planned, {
      forecast: await context.forecast.seconds(planned.plan, planned.estimate),
      queueSeconds: await context.events.backlogSeconds(),
      availableBytes: availableMemory(context),
    });
  });
}
