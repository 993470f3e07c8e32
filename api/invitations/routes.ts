import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import type { Deps } from '#runtime/deps.ts';
import { acceptInvitation, addressedTo, declineInvitation, loadInvitation, wholly } from './rules.ts';
import { invitationSchema, invitationView } from './schemas.ts';

/** Invitations to the caller's account. */
export function invitationRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  const context = () => ({ config, now: clock.now() });

  app.get(
    '/v1/invitations',
    {
      config: { operation: 'invitation.list', needs: 'any' },
      schema: {
        summary: 'List the invitations to this account',
        description: 'Lists the open invitations. The owner also receives each one by e-mail.',
        querystring: pageQuery,
        response: { 200: listOf(invitationSchema) },
      },
    },
    async ({ em, actor, query }) => {
      const { rows, next_cursor } = await page(
        config.secret,
        ['invitations', actor.accountId],
        query,
        newestFirst(em, Invitation, await addressedTo(em, clock, actor)),
        byId,
      );
      const whole = await em.populate(rows, wholly.populate);
      return { items: whole.map((one) => invitationView(one, context())), next_cursor };
    },
  );

  app.post(
    '/v1/invitations/:id/accept',
    {
      config: {
        operation: 'invitation.accept',
        needs: 'all_sites',
        recordsOnce: true,
        replay: async ({ em, actor }: Pick<FastifyRequest, 'em' | 'actor'>, id) =>
          invitationView(await loadInvitation(em, actor, id), context()),
      },
      schema: {
        summary: 'Accept an invitation',
        description: 'The token’s account becomes a collaborator on the site. Send the invitation’s id, not its link.',
        params: idParams,
        response: { 200: invitationSchema },
      },
    },
    async ({ em, actor, params }) => invitationView(await acceptInvitation(em, deps, actor, params.id), context()),
  );

  app.delete(
    '/v1/invitations/:id',
    {
      config: { operation: 'invitation.decline', needs: 'all_sites' },
      schema: {
        summary: 'Decline an invitation',
        description: 'The site’s owner can then invite this address again. Declining it again changes nothing.',
        params: idParams,
        response: { 200: invitationSchema },
      },
    },
    async ({ em, actor, params }) => invitationView(await declineInvitation(em, deps, actor, params.id), context()),
  );
}
