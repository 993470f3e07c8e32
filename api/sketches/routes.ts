import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { byId, listOf, page } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import type { Deps } from '#runtime/deps.ts';
import { createSketch, loadSketch, removeSketch, sketchesOf } from './rules.ts';
import { sketchInput, sketchQuery, sketchSchema, sketchView } from './schemas.ts';

/** Sketches: design directions on their own hosts. */
export function sketchRoutes(app: Api, deps: Deps): void {
  const { config } = deps;

  app.post(
    '/v1/sketches',
    {
      config: {
        operation: 'sketch.create',
        needs: 'all_sites',
        capability: 'sketches',
        makes: 'sketch',
        invalid: { title: 'invalid_sketches', directions: 'invalid_sketches' },
        replay: async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id) =>
          sketchView(config, await loadSketch(em, actor, id)),
      },
      schema: {
        summary: 'Show design directions',
        description:
          'Each design direction is served on its own unguessable hostname, without scripts. An overview page shows all of them to the owner.',
        body: sketchInput,
        response: { 200: sketchSchema },
      },
    },
    async (request) => {
      const { em, actor, body } = request;
      return sketchView(config, await createSketch(em, deps, actor, { ...body, id: request.newId('sketch') }));
    },
  );

  app.get(
    '/v1/sketches',
    {
      config: { operation: 'sketch.list', needs: 'read', capability: 'sketches' },
      schema: {
        summary: 'List the sketches',
        description: 'Lists the sketches of the account, newest first, with the chosen direction of each.',
        querystring: sketchQuery,
        response: { 200: listOf(sketchSchema) },
      },
    },
    async ({ em, actor, query }) => {
      const { status = 'any' } = query;
      const list = ['sketches', actor.accountId, status];
      const { rows, next_cursor } = await page(config.secret, list, query, sketchesOf(em, actor, query.status), byId);
      return { items: rows.map((sketch) => sketchView(config, sketch)), next_cursor };
    },
  );

  app.delete(
    '/v1/sketches/:id',
    {
      config: { operation: 'sketch.delete', needs: 'all_sites', capability: 'sketches' },
      schema: { summary: 'Remove a sketch', params: idParams, response: { 200: sketchSchema } },
    },
    async ({ em, actor, params }) => sketchView(config, await removeSketch(em, deps, actor, params.id)),
  );
}
