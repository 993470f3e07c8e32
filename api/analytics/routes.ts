import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { idParams } from '#api/schemas.ts';
import type { Deps } from '#runtime/deps.ts';
import { readReport } from './rules.ts';
import { analyticsQuery, analyticsSchema, analyticsView } from './schemas.ts';

/** What visitors saw of a site. */
export function analyticsRoutes(app: Api, { clock }: Deps): void {
  app.get(
    '/v1/sites/:id/analytics',
    {
      config: { operation: 'site.analytics', capability: 'analytics' },
      schema: {
        summary: 'Read how a site is visited',
        description:
          'Views of the live site’s pages, counted where they are served: without a script in the page, without a cookie, and without keeping any ' +
          'visitor’s address. A view is here within some 10 seconds.',
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
