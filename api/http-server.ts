/** Fastify, as the API uses it. */
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { Deps } from '#runtime/deps.ts';
import { requestLogger } from '#runtime/log.ts';
import type { Api } from './api.ts';
import { sendErrorAsAsked } from './front/error-handlers.ts';
import { bodyBytesMax } from './plugins/json.ts';
import { requestIds } from './plugins/request-context.ts';
import { refuseBrokenRequests, timeouts } from './plugins/sockets.ts';

/** A server without routes, which does not listen yet. */
export function createHttpServer({ config, log }: Deps): Api {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(config),
    childLoggerFactory: (parent, bindings, options) => requestLogger(parent as Logger, bindings, options),
    bodyLimit: bodyBytesMax,
    // A path within a site is one parameter.
    routerOptions: { maxParamLength: 2048 },
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    return503OnClosing: false,
    clientErrorHandler: refuseBrokenRequests,
    // The URL could not be parsed, so the hooks of the routes have not run.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendErrorAsAsked(error, request as unknown as FastifyRequest, reply as unknown as FastifyReply);
    },
    ...timeouts,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  return app as unknown as Api;
}
