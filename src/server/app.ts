// The HTTP application: plugins, hooks and routes on one server context. Opens no port.
import { randomUUID } from 'node:crypto';
import swagger from '@fastify/swagger';
import { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, fastify, LogController } from 'fastify';
import { packageVersion } from '../engine/index.js';
import { RequestError } from '../protocol/index.js';
import { AllowedMethods } from './allowed-methods.js';
import { registerBodies } from './bodies/read-body.js';
import { addJobRoutes } from './gallery/job-routes.js';
import { addUploadRoute } from './gallery/upload-route.js';
import type { Logger } from './operation/logging.js';
import { addStatusRoute } from './operation/status-route.js';
import { ApiKeys, requireKeys } from './owner.js';
import { addPlanRoute } from './planning/plan-route.js';
import { addPolicySocket } from './policy/policy-socket.js';
import { describeError, errorBody, sendError } from './respond.js';
import { addChatRoute } from './routes/chat.js';
import { addContentRoute } from './routes/content.js';
import { isSignedContent } from './routes/content-url.js';
import { addEventRoutes } from './routes/events.js';
import { addHealthRoutes } from './routes/health.js';
import { addImageRoutes } from './routes/images.js';
import { addModelRoutes } from './routes/models.js';
import { bodyLimits } from './routes/request-body.js';
import { addVideoSyncRoute } from './routes/video-sync.js';
import { addVideoRoutes } from './routes/videos.js';
import type { ServerContext } from './server-context.js';

/** Builds the application. Close it to end its connections. */
export async function createApp(context: ServerContext, log: Logger): Promise<FastifyInstance> {
  const { settings } = context;
  const loggerInstance: FastifyBaseLogger = log;
  const requestTimeout = settings.requestTimeoutSeconds * 1000;
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => readRequestId(request.headers['x-request-id']),
    // A request's own id is taken by genReqId, which checks it.
    requestIdHeader: false,
    requestTimeout,
    connectionTimeout: 0,
    http: { requestTimeout, headersTimeout: Math.min(60_000, requestTimeout), connectionsCheckingInterval: 1000 },
    keepAliveTimeout: 65_000,
    bodyLimit: settings.inputs.maxJsonBytes,
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    // Replies are built by types, bodies read by hand: schemas document.
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return socket.destroy();
      const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
      const body = JSON.stringify(errorBody(clientFailure(status), null));
      const head = `HTTP/1.1 ${status} ${status === 408 ? 'Request Timeout' : 'Bad Request'}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
      socket.end(head + body);
    },
  });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.setErrorHandler((error, request, reply) => {
    context.metrics.refused(describeError(error).reason);
    return sendError(request, reply, error);
  });
  const allowed = new AllowedMethods(app);
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    const methods = allowed.of(path);
    const isKnown = methods.length > 0;
    if (isKnown) reply.header('allow', methods.join(', '));
    const what = `There is no ${request.method} ${path.slice(0, 200)}`;
    const error = isKnown
      ? new RequestError('method_not_allowed', null, `${what}; it takes ${methods.join(', ')}.`)
      : new RequestError('not_found', null, `${what}; GET /docs lists what there is.`);
    return sendError(request, reply, error);
  });
  await registerBodies(app, bodyLimits(settings.inputs));
  addHooks(app, context);
  requireKeys(app, new ApiKeys(settings.apiKeys), (request) => isSignedContent(request, context.tokens));
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Orrery',
        description: 'World models behind an OpenAI-compatible interface: pictures, clips, sound and robot actions.',
        version: packageVersion(),
      },
      ...(settings.rootPath === '' ? {} : { servers: [{ url: settings.rootPath }] }),
    },
  });
  await app.register(async (routes) => {
    addHealthRoutes(routes, context);
    addModelRoutes(routes, context);
    addImageRoutes(routes, context);
    addVideoSyncRoute(routes, context);
    addVideoRoutes(routes, context);
    addContentRoute(routes, context);
    addJobRoutes(routes, context);
    addUploadRoute(routes, context);
    addPlanRoute(routes, context);
    addStatusRoute(routes, context);
    addEventRoutes(routes, context);
    addChatRoute(routes, context);
  });
  await addPolicySocket(app, context, log);
  await app.ready();
  return app;
}

function clientFailure(status: number) {
  const reason = status === 408 ? 'request_timeout' : status === 431 ? 'headers_too_large' : 'invalid_body';
  const message = status === 408 ? 'The request did not arrive in time.' : 'The request is no HTTP that can be read.';
  return { status, reason, param: null, message } as const;
}

function readRequestId(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID().replaceAll('-', '');
}

/** Request ids, cross-origin headers, a line and a number for each request. */
function addHooks(app: FastifyInstance, { settings, metrics }: ServerContext): void {
  app.addHook('onRequest', async (request, reply) => {
    reply
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      // Addresses may carry tokens.
      .header('referrer-policy', 'no-referrer');
    const { origin } = request.headers;
    if (origin === undefined || !(settings.origins.includes('*') || settings.origins.includes(origin))) return;
    reply.header('access-control-allow-origin', origin).header('vary', 'origin');
    reply.header('access-control-expose-headers', 'x-request-id, x-orrery-ignored, retry-after, content-range');
    if (request.method !== 'OPTIONS') return;
    return reply
      .header('access-control-allow-methods', 'GET, HEAD, POST, DELETE, OPTIONS')
      .header(
        'access-control-allow-headers',
        'authorization, content-type, idempotency-key, last-event-id, range, x-orrery-deadline, x-orrery-priority, x-request-id',
      )
      .header('access-control-max-age', '86400')
      .code(204)
      .send();
  });
  app.addHook('onResponse', async (request, reply) => {
    const seconds = reply.elapsedTime / 1000;
    metrics.answered(routeOf(request), request.method, reply.statusCode, seconds);
    const line = {
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      seconds: Math.round(seconds * 1000) / 1000,
    };
    if (settings.logsRequests || request.method !== 'GET') request.log.info(line, 'request answered');
    else request.log.debug(line, 'request answered');
  });
}

/** The route's pattern, not the address: addresses have no end. */
function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'none';
}
