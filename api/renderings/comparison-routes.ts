import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { idParams } from '#api/schemas.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import type { Rendering } from '#db/renderings/rendering.ts';
import type { Deps } from '#runtime/deps.ts';
import { comparisonSchema, comparisonsInput, comparisonView } from './comparison-schemas.ts';
import { askForComparison, loadComparison, readPicture, waitForRendering } from './rules.ts';
import { pictureParams, pictureResponse, sendPicture } from './sent-picture.ts';

const capability = 'screenshots';

/** Which pages of a version look different from those of an earlier one. */
export function comparisonRoutes(app: Api, deps: Deps): void {
  const viewOf = async (rendering: Rendering) =>
    comparisonView(
      deps.config,
      rendering,
      await deps.em().findOneOrFail(Deployment, { id: rendering.deployment?.id ?? '' }),
    );

  app.post(
    '/v1/deployments/:id/comparisons',
    {
      config: {
        operation: 'deployment.compare',
        needs: 'read',
        capability,
        makes: 'cmp',
        replay: async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id) =>
          viewOf(await loadComparison(em, actor, id)),
      },
      schema: {
        summary: 'See which pages look different',
        description:
          'Draws pages of both versions at 390 and 1280 pixels, and compares them: which look different, where, and a picture of both beside each other. Use it before you publish a preview. Waits for as long as `Prefer` allows.',
        params: idParams,
        body: comparisonsInput,
        response: { 200: comparisonSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const id = await askForComparison(em, deps, actor, { ...body, id: request.newId('cmp'), of: params.id });
      return await viewOf(await waitForRendering(deps, id, request.waitMs));
    },
  );

  app.get(
    '/v1/comparisons/:id',
    {
      config: { operation: 'comparison.read', needs: 'read', capability },
      schema: {
        summary: 'Read which pages look different',
        params: idParams,
        response: { 200: comparisonSchema },
      },
    },
    async (request) => {
      const { id } = await loadComparison(request.em, request.actor, request.params.id);
      return await viewOf(await waitForRendering(deps, id, request.waitMs));
    },
  );

  app.get(
    '/v1/comparisons/:id/pictures/:number',
    {
      config: { operation: 'comparison.picture', needs: 'read', capability, answers: ['image/webp'] },
      schema: {
        summary: 'See both versions of a page',
        description: 'The earlier version is on the left, the newer one on the right. What differs is outlined.',
        params: pictureParams,
        response: pictureResponse,
      },
    },
    async ({ em, actor, params }, reply) => {
      const { id } = await loadComparison(em, actor, params.id);
      return sendPicture(reply, 'webp', await readPicture(em, deps, { rendering: id, position: params.number }));
    },
  );
}
