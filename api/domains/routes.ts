import { z } from 'zod';
import type { Api, Authenticated } from '#api/api.ts';
import { byId, listOf, newestFirst, page, pageQuery } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { Domain } from '#db/domains/domain.ts';
import { loadUntil } from '#db/notifications.ts';
import { domainStatuses } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { attach, detach } from './attachment.ts';
import { recordRoutes } from './record-routes.ts';
import { addDomain, checkNow, loadDomain, reachableDomains, removeOwnDomain } from './rules.ts';
import { attachInput, domainInput, domainSchema } from './schemas.ts';
import { domainViews } from './views.ts';

/** Domains that owners registered elsewhere. */
export function domainRoutes(app: Api, deps: Deps): void {
  bringingRoutes(app, deps);
  readingRoutes(app, deps);
  servingRoutes(app, deps);
  recordRoutes(app, deps);
}

/** The current state. */
async function viewOf(deps: Deps, domain: Domain) {
  const [view] = await domainViews(deps.em(), deps, [domain]);
  if (!view) throw new Error('the domain has no view');
  return view;
}

function bringingRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/domains',
    {
      config: {
        operation: 'domain.onboard',
        needs: 'all_sites',
        capability: 'domains',
        makes: 'dom',
        recordsOnce: true,
        invalid: { domain: 'invalid_domain', mode: 'invalid_mode' },
        replay: async ({ em, actor }: Authenticated, id) => viewOf(deps, await loadDomain(em, actor, id)),
      },
      schema: {
        summary: 'Add a domain',
        description:
          'The domain must already be registered. The response lists what its owner needs to set: name servers at the registrar (`nameservers` mode) ' +
          'or records in its DNS (`cname` mode). The call waits for the first DNS check, for as long as `Prefer` allows.',
        body: domainInput,
        response: { 200: domainSchema },
      },
    },
    async (request) => {
      const { em, actor, body } = request;
      const { id } = await addDomain(em, deps, actor, { id: request.newId('dom'), ...body });
      request.answeredId = id;
      const domain = await loadUntil(
        deps.notifications,
        { channel: 'domain_changed', id },
        () => deps.em().findOneOrFail(Domain, { id }),
        ({ checkedAt }) => Boolean(checkedAt),
        request.waitMs,
      );
      return await viewOf(deps, domain);
    },
  );

  app.delete(
    '/v1/domains/:id',
    {
      config: { operation: 'domain.remove', needs: 'all_sites' },
      schema: {
        summary: 'Remove a domain',
        description:
          'Stops serving the site on the domain. Any account that adds the domain later must verify it again.',
        params: idParams,
        response: { 200: domainSchema },
      },
    },
    async ({ em, actor, params }) => {
      const before = await viewOf(deps, await loadDomain(em, actor, params.id));
      await removeOwnDomain(em, deps, actor, params.id);
      const { next_action: _over, ...last } = before;
      return { ...last, site_id: null, primary: false, waiting_on: null, next_check_at: null };
    },
  );
}

function readingRoutes(app: Api, deps: Deps): void {
  app.get(
    '/v1/domains',
    {
      config: { operation: 'domain.list', needs: 'read' },
      schema: {
        summary: 'List the account’s domains',
        querystring: pageQuery.extend({ status: z.enum(domainStatuses).optional() }),
        response: { 200: listOf(domainSchema) },
      },
    },
    async ({ em, actor, query }) => {
      const { status } = query;
      const { rows, next_cursor } = await page(
        deps.config.secret,
        ['domains', actor.accountId, status ?? ''],
        query,
        newestFirst(em, Domain, { ...reachableDomains(actor), ...(status ? { status } : {}) }),
        byId,
      );
      return { items: await domainViews(em, deps, rows), next_cursor };
    },
  );

  app.get(
    '/v1/domains/:id',
    {
      config: { operation: 'domain.read', needs: 'read' },
      schema: {
        summary: 'Read a domain',
        description: 'The domain is live only when `status` and `ssl.status` are both `active`.',
        params: idParams,
        response: { 200: domainSchema },
      },
    },
    async ({ em, actor, params }) => viewOf(deps, await loadDomain(em, actor, params.id)),
  );
}

function servingRoutes(app: Api, deps: Deps): void {
  const replay = async ({ em, actor, params }: Authenticated & { params: unknown }) =>
    viewOf(deps, await loadDomain(em, actor, (params as { id: string }).id));

  app.post(
    '/v1/domains/:id/check',
    {
      config: { operation: 'domain.check', needs: 'all_sites', replay },
      schema: {
        summary: 'Check a domain now',
        description:
          'A domain can be checked at most once every 5 seconds. The platform also checks it automatically at `next_check_at`.',
        params: idParams,
        response: { 200: domainSchema },
      },
    },
    async ({ em, actor, params }) => viewOf(deps, await checkNow(em, deps, actor, params.id)),
  );

  app.post(
    '/v1/domains/:id/attach',
    {
      config: { operation: 'domain.attach', needs: 'all_sites', replay, recordsOnce: true },
      schema: {
        summary: 'Serve a site on a domain',
        description:
          'A site’s first domain becomes its primary domain, to which the site’s other addresses redirect. The platform manages the ' +
          'domain’s certificate and DNS.',
        params: idParams,
        body: attachInput,
        response: { 200: domainSchema },
      },
    },
    async ({ em, actor, params, body }) =>
      viewOf(
        deps,
        await attach(em, deps, actor, { id: params.id, siteId: body.site_id, primary: body.primary === true }),
      ),
  );

  app.post(
    '/v1/domains/:id/detach',
    {
      config: { operation: 'domain.detach', needs: 'all_sites', replay, recordsOnce: true },
      schema: {
        summary: 'Stop serving a site on a domain',
        description:
          'The account keeps the domain. If it was the primary domain, the domain that has been attached longest replaces it.',
        params: idParams,
        response: { 200: domainSchema },
      },
    },
    async ({ em, actor, params }) => viewOf(deps, await detach(em, deps, actor, params.id)),
  );
}
