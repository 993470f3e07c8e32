/**
 * CORS (Fetch standard) for OAuth clients that run in web pages. These endpoints use no cookies, and require a code, a
 * verifier or a token, so any page may read the responses. `/mcp` itself refuses pages of other sites.
 */
import type { Api } from '#api/api.ts';

const preflightSeconds = '600';

/**
 * Allows pages to read all responses of the scope, including errors. Call it before hooks that may refuse a request.
 */
export function openToPages(scope: Api): void {
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': 'retry-after, x-request-id' });
  });
}

/** Responds to preflight requests for these paths. Add it to a scope without rate limits. */
export function preflightsOf(scope: Api, method: 'GET' | 'POST', paths: readonly string[]): void {
  for (const path of paths) {
    scope.options(path, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': method,
          // The MCP SDK's client sends its version even when it reads metadata.
          'access-control-allow-headers': 'content-type, mcp-protocol-version',
          'access-control-max-age': preflightSeconds,
        })
        .send(),
    );
  }
}
