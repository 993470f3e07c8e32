import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { idParams } from '#api/schemas.ts';
import type { Deps } from '#runtime/deps.ts';
import { redirectsOf, setRedirects } from './rules.ts';
import { redirectsInput, redirectsSchema, redirectsView } from './schemas.ts';

/** Redirects: read and replaced as a whole. */
export function redirectRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/sites/:id/redirects',
    {
      config: { operation: 'redirects.read', needs: 'read' },
      schema: { summary: 'Read the redirects', params: idParams, response: { 200: redirectsSchema } },
    },
    async ({ em, actor, params }) => redirectsView(await redirectsOf(deps, await loadSite(em, actor, params.id))),
  );

  app.put(
    '/v1/sites/:id/redirects',
    {
      config: { operation: 'redirects.set', needs: 'write', invalid: { rules: 'invalid_redirects' } },
      schema: {
        summary: 'Set the redirects',
        description:
          'Replaces all redirects. The new rules take effect immediately, take precedence over files and over a deployment’s `_redirects`, ' +
          'and remain in place when a deployment is published or restored. The visitor’s query string is kept.',
        params: idParams,
        body: redirectsInput,
        response: { 200: redirectsSchema },
      },
    },
    async ({ em, actor, params, body }) => redirectsView(await setRedirects(em, deps, actor, params.id, body.rules)),
  );
}
