/** Whatever a request begins is done for it: it goes under the request's id, into the log and into the outbox. */
import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import type { Config } from '#runtime/config.ts';
import { type Cause, doFor, isRequestId, presentCause } from '#runtime/telemetry/context.ts';
import { isTraceparent, type Spans, tracing } from '#runtime/telemetry/spans.ts';
import { newRequestId } from './headers.ts';
import { outerRequestId } from './inside.ts';

/** Asked each second by whoever looks whether we are there. */
const unseen = new Set(['/healthz', '/readyz']);

declare module 'fastify' {
  interface FastifyRequest {
    cause: Cause;
  }
}

/**
 * Makes the ids of requests: ours, or that of a front that is trusted, where it is one. What is written into logs and shown to an owner is
 * not for strangers to choose. Calls that the API makes to itself keep the id of the request that they are part of.
 */
export function requestIds({ trustedProxies }: Pick<Config, 'trustedProxies'>): (raw: IncomingMessage) => string {
  const isTrusted = proxyAddress.compile(trustedProxies);
  return ({ headers, socket }) => {
    const outer = outerRequestId();
    if (outer !== undefined) return outer;
    const given = headers['x-request-id'];
    return isRequestId(given) && isTrusted(socket.remoteAddress ?? '', 0) ? given : newRequestId();
  };
}

/** Before all other hooks. What follows a body that was read by events would not be known to follow the request: so it is said twice. */
export function carryCause(app: Api, { trustedProxies }: Pick<Config, 'trustedProxies'>): void {
  const isTrusted = proxyAddress.compile(trustedProxies);

  /** Begins the span of a request, in the trace of a front that is trusted or of the call that this one is part of. */
  function trace(spans: Spans, { id, method, routeOptions, headers, socket }: FastifyRequest, reply: FastifyReply) {
    const { url: route, config } = routeOptions;
    const inner = outerRequestId() === undefined ? undefined : presentCause()?.traceparent;
    const given = headers.traceparent;
    const fronts = isTraceparent(given) && isTrusted(socket.remoteAddress ?? '', 0) ? given : undefined;
    const attributes = { 'http.request.method': method, 'http.route': route, 'frontage.operation': config.operation };
    const span = spans.begin(route === undefined ? method : `${method} ${route}`, {
      kind: 'server',
      parent: inner ?? fronts,
      attributes: { ...attributes, 'frontage.request_id': id },
    });
    reply.raw.once('close', () => {
      const status = reply.raw.statusCode;
      span.end({ 'http.response.status_code': status }, status >= 500 ? 'fault' : 'ok');
    });
    return span.traceparent;
  }

  app.decorateRequest('cause');
  app.addHook('onRequest', (request, reply, done) => {
    request.cause = { reqId: request.id };
    const spans = tracing();
    if (spans && !unseen.has(request.url)) request.cause.traceparent = trace(spans, request, reply);
    doFor(request.cause, done);
  });
  app.addHook('preValidation', (request, _reply, done) => doFor(request.cause, done));
}
