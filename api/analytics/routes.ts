import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { idParams } from '#api/schemas.ts';
import type { Deps } from '#runtime/deps.ts';
import { readReport } from './rules.ts';
import { analyticsQuery, analyticsSchema, analyticsView } from './schemas.ts';

/** A site's visits. */
export function analyticsRoutes(app: Api, { clock }: Deps): void {
  app.get(
    '/v1/sites/:id/analytics',
    {
      config: { operation: 'site.analytics', needs: 'read', capability: 'analytics' },
      schema: {
        summary: 'Read a site’s analytics',
        description:
          'Returns page views of the live site. They are counted on the server, without scripts, cookies or stored IP ' +
          'addresses. A new view is included within about 10 seconds.',
        params: idParams,
        querystring: analyticsQuery,
        response: { 200: analyticsSchema },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      return analyticsView(await readReport(em, site.id, query.period, clock.now()));
    },
  );
}
