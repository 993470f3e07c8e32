/** Everything that a request starts runs in its context: log lines and outbox entries have its id. */
import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { currentInternalRequest } from '#api/operations/internal-request.ts';
import type { Config } from '#runtime/config.ts';
import { currentContext, isRequestId, type RequestContext, runWithContext } from '#runtime/telemetry/context.ts';
import { isTraceparent, type Spans, tracing } from '#runtime/telemetry/spans.ts';
import { newRequestId } from './headers.ts';

/** Polled each second by health checks. */
const untraced = new Set(['/healthz', '/readyz']);

declare module 'fastify' {
  interface FastifyRequest {
    requestContext: RequestContext;
  }
}

/**
 * Creates request ids: a new one, or that of a trusted proxy if it is well-formed. Strangers must not choose what is logged and shown to
 * owners. Calls that the API makes to itself keep the id of the outer request.
 */
export function requestIds({ trustedProxies }: Pick<Config, 'trustedProxies'>): (raw: IncomingMessage) => string {
  const isTrusted = proxyAddress.compile(trustedProxies);
  return ({ headers, socket }) => {
    const internal = currentInternalRequest();
    if (internal) return internal.id;
    const given = headers['x-request-id'];
    return isRequestId(given) && isTrusted(socket.remoteAddress ?? '', 0) ? given : newRequestId();
  };
}

/** Runs before all other hooks. Set again before validation, because reading the body by events loses the async context. */
export function requestContext(app: Api, { trustedProxies }: Pick<Config, 'trustedProxies'>): void {
  const isTrusted = proxyAddress.compile(trustedProxies);

  /** Starts the span of a request, in the trace of a trusted proxy or of the outer call. */
  function trace(spans: Spans, request: FastifyRequest, reply: FastifyReply) {
    const { id, method, routeOptions, headers, socket } = request;
    const { url: route, config } = routeOptions;
    const inner = request.internal ? currentContext()?.traceparent : undefined;
    const given = headers.traceparent;
    const fromProxy = isTraceparent(given) && isTrusted(socket.remoteAddress ?? '', 0) ? given : undefined;
    const attributes = { 'http.request.method': method, 'http.route': route, 'frontage.operation': config.operation };
    const span = spans.start(route === undefined ? method : `${method} ${route}`, {
      kind: 'server',
      parent: inner ?? fromProxy,
      attributes: { ...attributes, 'frontage.request_id': id },
    });
    reply.raw.once('close', () => {
      const status = reply.raw.statusCode;
      span.end({ 'http.response.status_code': status }, status >= 500 ? 'error' : 'ok');
    });
    return span.traceparent;
  }

  app.decorateRequest('requestContext');
  app.decorateRequest('internal', null);
  app.addHook('onRequest', (request, reply, done) => {
    request.internal = currentInternalRequest() ?? null;
    request.requestContext = { reqId: request.id };
    const spans = tracing();
    if (spans && !untraced.has(request.url)) request.requestContext.traceparent = trace(spans, request, reply);
    runWithContext(request.requestContext, done);
  });
  app.addHook('preValidation', (request, _reply, done) => runWithContext(request.requestContext, done));
}
