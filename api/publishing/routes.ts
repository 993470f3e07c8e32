import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { loadDeployment, loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { deploymentSchema, deploymentView } from '#api/deployments/schemas.ts';
import { warningsPart } from '#api/deployments/warnings/rules.ts';
import { idParams } from '#api/schemas.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { Deps } from '#runtime/deps.ts';
import { publish } from './rules.ts';
import { failure, waitForDeployment } from './waiting.ts';

const publishInput = z.strictObject({
  scope: z
    .enum(['site', 'posts'])
    .default('site')
    .describe(
      '`site` builds the latest commits of both repositories. `posts` rebuilds the live source with the latest posts.',
    ),
});

/** Publishing: builds the site from git and makes it live. */
export function publishingRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/sites/:id/publish',
    {
      config: {
        operation: 'site.publish',
        needs: 'write',
        capability: 'builds',
        makes: 'dep',
        replay: async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id) => {
          const deployment = await loadDeployment(em, actor, id);
          const { address } = await canonicalUrl(em, deps.config, deployment.site);
          return { ...deploymentView(deployment, actor, deps.clock.now()), address };
        },
      },
      schema: {
        summary: 'Publish a site',
        description:
          'Builds the site in a sandbox and makes it live when the build succeeds. Waits for as long as `Prefer` allows; if the build is not finished by then, ' +
          'the response has the current `status` and a `next_action`. If the build fails while you wait, the call returns `build_failed` with the build log. `Cache-Control: no-cache` forces a new build.',
        params: idParams,
        body: publishInput,
        response: { 200: deploymentSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body, headers } = request;
      const noCache = /(^|,)\s*no-cache\s*(,|$)/i.test(headers['cache-control'] ?? '');
      const { id } = await publish(em, deps, actor, {
        id: request.newId('dep'),
        siteId: params.id,
        scope: body.scope,
        noCache,
      });
      const deployment = await waitForDeployment(deps, id, request.waitMs);
      if (deployment.error) throw await failure(deps, deployment);
      const site = await loadSite(em, actor, params.id);
      const { address } = await canonicalUrl(em, deps.config, site);
      return {
        ...deploymentView(deployment, actor, deps.clock.now()),
        address,
        ...(await warningsPart(deps.em(), deps, deployment, 'passing')),
      };
    },
  );
}
