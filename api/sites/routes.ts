import { type Actor, deletingSitesOf, loadSite, sitesOf } from '#api/access.ts';
import type { Api, Authenticated } from '#api/api.ts';
import { openCommentsOf } from '#api/comments/counts.ts';
import { byId, newestFirst, page } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import type { EntityManager } from '#db/orm.ts';
import { formerNamesOf } from '#db/sites/former-names.ts';
import { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import { deletionDelay, formerNameMs, nameReservedPeriod, period } from '#rules/periods.ts';
import type { PublicSiteStatus } from '#rules/site-deletion.ts';
import type { Deps } from '#runtime/deps.ts';
import { deleteSite, refuseDeletion, restoreSite } from './deletion.ts';
import {
  archiveSite,
  createSite,
  pendingAfterArchiving,
  unarchiveSite,
  unpublishedChanges,
  updateSite,
} from './rules.ts';
import {
  archivedSiteSchema,
  listDeleting,
  retitle,
  siteChange,
  siteDeletion,
  siteDetailSchema,
  siteDetailView,
  siteInput,
  siteList,
  siteSchema,
  sitesSchema,
  siteView,
} from './schemas.ts';

const shownToOwner = ['title', 'name'];

/** Sites: create from a template, list, rename, archive, delete. */
export function siteRoutes(app: Api, deps: Deps): void {
  const { config } = deps;
  const contextOf = async ({ em, actor }: Authenticated, site: Site) => {
    const open = await openCommentsOf(em, [site.id]);
    return { config, actor, openComments: open.get(site.id) ?? 0 };
  };
  const show = async (asked: Authenticated, site: Site) => siteView(site, await contextOf(asked, site));
  const detail = async (asked: Authenticated, site: Site) => {
    const changes = await unpublishedChanges(asked.em, deps, site);
    const formerNames = await formerNamesOf(asked.em, deps.clock.now(), site.id);
    return siteDetailView(site, { changes, formerNames }, await contextOf(asked, site));
  };
  const replay = async (asked: Authenticated, id: string) => show(asked, await loadSite(asked.em, asked.actor, id));

  /** With what does not end with the site. */
  async function archived(asked: Authenticated, site: Site) {
    const next = await pendingAfterArchiving(asked.em, deps.clock, site);
    return { ...(await show(asked, site)), ...(next === undefined ? {} : { next_action: next }) };
  }

  async function listed(em: EntityManager, actor: Actor, status: PublicSiteStatus | undefined) {
    if (status === 'deleting') return deletingSitesOf(actor);
    return { ...(await sitesOf(em, actor)), ...(status ? { status } : {}) };
  }

  app.post(
    '/v1/sites',
    {
      config: {
        operation: 'site.create',
        needs: 'all_sites',
        capability: 'repositories',
        makes: 'site',
        replay,
        shownToOwner,
      },
      schema: {
        summary: 'Create a site',
        description:
          'Creates the site’s source in git from the template, ready to build. Without a template (`null`), publishes return `no_source` until the first push.',
        body: siteInput,
        response: { 200: siteSchema },
      },
    },
    async (request) => {
      const { em, actor } = request;
      return show(request, await createSite(em, deps, actor, { id: request.newId('site'), ...request.body }));
    },
  );

  app.get(
    '/v1/sites',
    {
      config: { operation: 'site.list', needs: 'read' },
      schema: {
        summary: 'List the sites',
        description: 'Includes the account’s own sites and the sites on which it is a collaborator.',
        querystring: siteList,
        response: { 200: sitesSchema },
      },
    },
    async ({ em, actor, query: { status, ...query } }) => {
      const { rows, next_cursor } = await page(
        config.secret,
        ['sites', actor.accountId, ...(status ? [status] : [])],
        query,
        newestFirst(em, Site, await listed(em, actor, status)),
        byId,
      );
      const open = await openCommentsOf(em, rows.map(byId));
      const items = rows.map((site) => siteView(site, { config, actor, openComments: open.get(site.id) ?? 0 }));
      const isEmpty = items.length === 0 && !status && !query.cursor;
      const isHidden = isEmpty && (await em.count(Site, deletingSitesOf(actor))) > 0;
      return { items, next_cursor, ...(isHidden ? { next_action: listDeleting } : {}) };
    },
  );

  app.get(
    '/v1/sites/:id',
    {
      config: { operation: 'site.read', needs: 'read' },
      schema: { summary: 'Read a site', params: idParams, response: { 200: siteDetailSchema } },
    },
    async ({ em, actor, params }) => {
      const site = await loadSite(em, actor, params.id);
      return await detail({ em, actor }, site);
    },
  );

  app.patch(
    '/v1/sites/:id',
    {
      config: {
        operation: 'site.update',
        needs: 'write',
        ownerOnly: 'change the name',
        invalid: { colors: 'invalid_input' },
        shownToOwner,
      },
      schema: {
        summary: 'Change a site’s title, name or colours',
        description: `The name can be changed at most five times a day. The old address redirects to the new one for ${period(formerNameMs)}, for at most three old names. The live pages name the new address after the next publish.`,
        params: idParams,
        body: siteChange,
        response: { 200: siteDetailSchema },
      },
    },
    async ({ em, actor, params, body }) => {
      const site = await updateSite(em, deps, actor, params.id, body);
      const shown = await detail({ em, actor }, site);
      if (body.title === undefined) return shown;
      return { ...shown, next_action: [retitle(site), ...(shown.next_action ? [shown.next_action] : [])].join(' ') };
    },
  );

  app.post(
    '/v1/sites/:id/archive',
    {
      config: {
        operation: 'site.archive',
        needs: 'write',
        ownerOnly: true,
        replay: async (asked, id) => archived(asked, await loadSite(asked.em, asked.actor, id)),
        recordsOnce: true,
      },
      schema: {
        summary: 'Archive a site',
        description:
          `Closes a site, also for a while: ${call('site.unarchive')} opens it again. It is no longer served and cannot be changed, but it keeps its name. Visitors read only that the site is closed, ` +
          'without words of yours: to show a notice, publish one instead. Running builds are cancelled. Forms refuse enquiries, and the booking page takes no bookings. ' +
          'Confirmed bookings stay: `next_action` names them. Bookings that are not paid yet expire at once, with their pay links.',
        params: idParams,
        response: { 200: archivedSiteSchema },
      },
    },
    async ({ em, actor, params }) => archived({ em, actor }, await archiveSite(em, deps, actor, params.id)),
  );

  app.post(
    '/v1/sites/:id/unarchive',
    {
      config: { operation: 'site.unarchive', needs: 'write', ownerOnly: true, replay, recordsOnce: true },
      schema: {
        summary: 'Put an archived site online',
        description: 'Opens a site that was archived, as it was. Bookings that expired when it closed stay expired.',
        params: idParams,
        response: { 200: siteSchema },
      },
    },
    async ({ em, actor, params }) => show({ em, actor }, await unarchiveSite(em, deps, actor, params.id)),
  );

  app.delete(
    '/v1/sites/:id',
    {
      config: {
        operation: 'site.delete',
        needs: 'account',
        ownerOnly: true,
        precondition: ({ em, actor, params }) => refuseDeletion(em, actor, (params as { id: string }).id),
      },
      schema: {
        summary: 'Delete an archived site',
        description: `For ${deletionDelay} the site has the status \`deleting\` and can be restored; the owner is e-mailed how. Then it is deleted for good, with its repositories, versions, forms, submissions and comments; its domains stay in the account, and records of payments and bookings are kept. Its name stays reserved for ${nameReservedPeriod} more. A site can be deleted at most five times an hour.`,
        params: idParams,
        querystring: siteDeletion,
        response: { 200: siteSchema },
      },
    },
    async ({ em, actor, params, query }) => {
      const wishes = { confirmed: query.confirm === 'true', discard: query.discard === 'true' };
      return show({ em, actor }, await deleteSite(em, deps, actor, params.id, wishes));
    },
  );

  app.post(
    '/v1/sites/:id/restore-site',
    {
      config: { operation: 'site.restore', needs: 'account', ownerOnly: true, replay, recordsOnce: true },
      schema: {
        summary: 'Restore a site that is being deleted',
        description: 'The site is archived again. A site that is not being deleted stays unchanged.',
        params: idParams,
        response: { 200: siteSchema },
      },
    },
    async ({ em, actor, params }) => show({ em, actor }, await restoreSite(em, deps, actor, params.id)),
  );
}
