/** The handlers of errors, unknown addresses and unsupported methods: pages for people, JSON for programs. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { sendErrorPage, sendPage } from '#api/plugins/browser.ts';
import { asAppError, sendError, unknownUrl } from '#api/plugins/errors.ts';
import { call } from '#rules/calls/calls.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { noticePage } from '#web/pages/notice.ts';
import { isProgramAddress, prefersHtml, varyByAccept } from './representation.ts';

/** Handles errors, unknown paths and unsupported methods. Add it before any route. */
export function answerErrors(app: Api): void {
  const paths = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = paths.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    paths.set(url, methods);
  });
  // An unknown path returns its own error, even if its method or body caused another one.
  app.setErrorHandler((error, request, reply) =>
    request.is404 ? refuseAddress(paths, request, reply) : sendErrorAsAsked(error, request, reply),
  );
  app.setNotFoundHandler((request, reply) => refuseAddress(paths, request, reply));
}

/** An error as a page or as JSON, with the same status. The API, MCP and git always answer with JSON. */
export function sendErrorAsAsked(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (isPageWanted(request, reply)) return sendErrorPage(asAppError(error, request), request, reply);
  return sendError(error, request, reply);
}

function isPageWanted(request: FastifyRequest, reply: FastifyReply): boolean {
  if (isProgramAddress(request)) return false;
  varyByAccept(reply).header('cache-control', 'no-store');
  return prefersHtml(request);
}

function refuseAddress(paths: Map<string, Set<string>>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = addressRefusal(methodsOf(paths, request.url), reply);
  return isPageWanted(request, reply)
    ? sendPage(reply, nothingHere, refusal.status)
    : sendError(refusal, request, reply);
}

/** Lists the supported methods in the header `Allow` (RFC 9110 section 15.5.6). */
function addressRefusal(allowed: string[], reply: FastifyReply): AppError {
  if (allowed.length === 0) return unknownUrl();
  reply.header('allow', allowed.join(', '));
  return errors.method_not_allowed(`This URL supports only these methods: ${allowed.join(', ')}.`, {
    nextAction: `Use one of these methods. ${call('openapi.read')} describes what each does.`,
  });
}

const nothingHere = noticePage({
  title: 'We can’t find this page',
  text: 'There is nothing at this address. Check it for a typing error, or start from the home page.',
  link: { href: '/', text: 'Go to the home page' },
});

function methodsOf(paths: Map<string, Set<string>>, url: string): string[] {
  const path = url.split('?', 1)[0] ?? '';
  const matching = [...paths].filter(([pattern]) => path === pattern || toExpression(pattern).test(path));
  return [...new Set(matching.flatMap(([, methods]) => [...methods]))].sort();
}

function toExpression(pattern: string): RegExp {
  const parts = pattern.split(/(:\w+|\*)/).map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}
