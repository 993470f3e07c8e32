/** Headers of every response: the request id and the security headers. */
import { randomBytes } from 'node:crypto';
import type { Api } from '#api/api.ts';
import type { Deps } from '#runtime/deps.ts';

const defaults = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export function newRequestId(): string {
  return `req_${randomBytes(12).toString('hex')}`;
}

/** Set before all other hooks, so that routes can override them. */
export function setHeaders(app: Api, { config: { baseUrl }, shutdown }: Pick<Deps, 'config' | 'shutdown'>): void {
  const all: Record<string, string> = baseUrl.startsWith('https:')
    ? { ...defaults, 'strict-transport-security': 'max-age=31536000' }
    : defaults;
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(all);
    // This process is shutting down, so the next request must go to another one.
    if (shutdown.signal.aborted) reply.header('connection', 'close');
    reply.header('x-request-id', request.id);
    if (request.url.startsWith('/v1/')) reply.header('cache-control', 'no-store');
  });
}
