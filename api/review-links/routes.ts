import type { FastifyRequest } from 'fastify';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { ReviewLink } from '#db/review-links/review-link.ts';
import type { Deps } from '#runtime/deps.ts';
import { createLink, loadLink, revokeLink, secretPrefix } from './links.ts';
import {
  newReviewLinkSchema,
  newReviewLinkView,
  reviewLinkInput,
  reviewLinkSchema,
  reviewLinkView,
} from './schemas.ts';

/** Review links, with which an owner comments in a browser: create, list, revoke. */
export function reviewLinkRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  app.post(
    '/v1/sites/:id/review-links',
    {
      config: {
        operation: 'review.create',
        needs: 'write',
        makes: 'rev',
        showsSecret: true,
        invalid: { slot: 'invalid_slot', expires_in_seconds: 'invalid_expiry' },
        replay: async (request: FastifyRequest, id: string) => {
          const link = await loadLink(request.em, request.actor, id);
          return newReviewLinkView(link, request.newSecret(secretPrefix), config, clock.now());
        },
      },
      schema: {
        summary: 'Create a review link',
        description: 'The link opens the live site or a preview slot for commenting. It is shown only once.',
        params: idParams,
        body: reviewLinkInput,
        response: { 200: newReviewLinkSchema },
      },
    },
    async (request) => {
      const secret = request.newSecret(secretPrefix);
      const made = { id: request.newId('rev'), secret, ...request.body };
      const link = await createLink(request.em, deps, request.actor, request.params.id, made);
      return newReviewLinkView(link, secret, config, clock.now());
    },
  );

  app.get(
    '/v1/sites/:id/review-links',
    {
      config: { operation: 'review.list', needs: 'read' },
      schema: {
        summary: 'List the review links',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(reviewLinkSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const read = newestFirst(em, ReviewLink, { site: site.id });
      const { rows, next_cursor } = await page(config.secret, ['reviews', site.id], query, read, byId);
      return { items: rows.map((link) => reviewLinkView(link, clock.now())), next_cursor };
    },
  );

  app.delete(
    '/v1/review-links/:id',
    {
      config: { operation: 'review.end', needs: 'write' },
      schema: { summary: 'Revoke a review link', params: idParams, response: { 200: reviewLinkSchema } },
    },
    async ({ em, actor, params }) => reviewLinkView(await revokeLink(em, deps, actor, params.id), clock.now()),
  );
}
