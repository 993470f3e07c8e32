import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { wholly } from '#api/invitations/rules.ts';
import { invitationInput, siteInvitationSchema, siteInvitationView } from '#api/invitations/schemas.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import type { Deps } from '#runtime/deps.ts';
import {
  holdingSlots,
  inviteCollaborator,
  loadOwnSite,
  loadSiteInvitation,
  withdrawInvitation,
} from './invitations.ts';
import { leaveSite, membersOf, placeOf, removeCollaborator } from './rules.ts';
import {
  collaboratorParams,
  collaboratorSchema,
  collaboratorView,
  removedSchema,
  siteInvitationParams,
} from './schemas.ts';

/** Collaborators of a site, and its invitations. */
export function collaboratorRoutes(app: Api, deps: Deps): void {
  memberRoutes(app, deps);
  inviteRoute(app, deps);
  siteInvitationRoutes(app, deps);
}

function memberRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/sites/:id/collaborators',
    {
      config: { operation: 'collaborator.list', needs: 'read' },
      schema: {
        summary: 'List the people with access to a site',
        description: 'Lists the owner first, then the collaborators.',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(collaboratorSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const members = await membersOf(em, site);
      const { rows, next_cursor } = await page(
        deps.config.secret,
        ['collaborators', site.id],
        query,
        (after, limit) => members.filter((one) => after === undefined || placeOf(one) < after).slice(0, limit),
        placeOf,
      );
      return { items: rows.map(collaboratorView), next_cursor };
    },
  );

  app.delete(
    '/v1/sites/:id/collaborators/:account_id',
    {
      config: { operation: 'collaborator.remove', needs: 'write', ownerOnly: true },
      schema: {
        summary: 'Remove a collaborator',
        description: 'All of the account’s tokens and git passwords lose access to the site immediately.',
        params: collaboratorParams,
        response: { 200: removedSchema },
      },
    },
    async ({ em, actor, params }) => {
      const removed = await removeCollaborator(em, deps, actor, params.id, params.account_id);
      return { ...collaboratorView(removed), ended: removed.ended, moved: removed.moved };
    },
  );

  app.delete(
    '/v1/sites/:id/collaborators/me',
    {
      config: { operation: 'collaborator.leave', needs: 'write' },
      schema: {
        summary: 'Leave a site',
        description:
          'Ends this account’s own access to a site on which it is a collaborator, immediately and for all of its tokens and git passwords.',
        params: idParams,
        response: { 200: removedSchema },
      },
    },
    async ({ em, actor, params }) => {
      const left = await leaveSite(em, deps, actor, params.id);
      return { ...collaboratorView(left), ended: left.ended, moved: left.moved };
    },
  );
}

function inviteRoute(app: Api, deps: Deps): void {
  const context = () => ({ config: deps.config, now: deps.clock.now() });
  app.post(
    '/v1/sites/:id/collaborators',
    {
      config: {
        operation: 'collaborator.invite',
        needs: 'write',
        ownerOnly: true,
        capability: 'mail',
        makes: 'inv',
        replay: async ({ em, actor, params }: FastifyRequest, id) => {
          const siteId = (params as z.output<typeof idParams>).id;
          return siteInvitationView(await loadSiteInvitation(em, actor, siteId, id), context());
        },
      },
      schema: {
        summary: 'Invite a collaborator',
        description:
          'E-mails an invitation link to the address, which does not need to have an account yet. The invitation is valid for 14 days. The owner gets an e-mail that names the token and links to a page that ends the access.',
        params: idParams,
        body: invitationInput,
        response: { 200: siteInvitationSchema },
      },
    },
    async (request) => {
      const input = { id: request.newId('inv'), email: request.body.email };
      const invitation = await inviteCollaborator(request.em, deps, request.actor, request.params.id, input);
      return siteInvitationView(invitation, context());
    },
  );
}

function siteInvitationRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  const context = () => ({ config, now: clock.now() });

  app.get(
    '/v1/sites/:id/invitations',
    {
      config: { operation: 'collaborator.invitations', needs: 'read', ownerOnly: true },
      schema: {
        summary: 'List a site’s invitations',
        description:
          'Lists open and expired invitations. Withdraw an expired invitation before you invite its address again.',
        params: idParams,
        querystring: pageQuery,
        response: { 200: listOf(siteInvitationSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadOwnSite(em, actor, params.id);
      const { rows, next_cursor } = await page(
        config.secret,
        ['site invitations', site.id],
        query,
        newestFirst(em, Invitation, holdingSlots(site)),
        byId,
      );
      const whole = await em.populate(rows, wholly.populate);
      return { items: whole.map((one) => siteInvitationView(one, context())), next_cursor };
    },
  );

  app.delete(
    '/v1/sites/:id/invitations/:invitation_id',
    {
      config: { operation: 'collaborator.withdraw', needs: 'write', ownerOnly: true },
      schema: {
        summary: 'Withdraw an invitation',
        description: 'An expired invitation also needs to be withdrawn before its address can be invited again.',
        params: siteInvitationParams,
        response: { 200: siteInvitationSchema },
      },
    },
    async ({ em, actor, params }) => {
      const invitation = await withdrawInvitation(em, deps, actor, params.id, params.invitation_id);
      return siteInvitationView(invitation, context());
    },
  );
}
