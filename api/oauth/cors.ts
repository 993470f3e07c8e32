/**
 * Connectors that run in pages of other sites (the Fetch standard's CORS protocol). What they call takes no cookie, and gives nothing but to who holds a
 * code, a verifier or a token, so any page may read the answers. `/mcp` itself answers no pages of other sites.
 */
import type { Api } from '#api/api.ts';

const preflightSeconds = '600';

/** Lets pages read every answer of the scope, refusals too. Call it before what may refuse. */
export function openToPages(scope: Api): void {
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': 'retry-after, x-request-id' });
  });
}

/** Answers the browser's question beforehand, for these addresses. In a scope without limits: it is no call. */
export function preflightsOf(scope: Api, method: 'GET' | 'POST', paths: readonly string[]): void {
  for (const path of paths) {
    scope.options(path, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': method,
          // The version is what the SDK's own client says even where it reads metadata.
          'access-control-allow-headers': 'content-type, mcp-protocol-version',
          'access-control-max-age': preflightSeconds,
        })
        .send(),
    );
  }
}
