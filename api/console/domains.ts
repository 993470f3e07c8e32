/** The domains of a site, which belong to its owner's account. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { capabilitiesOf } from '#api/capabilities.ts';
import { loadDomain } from '#api/domains/rules.ts';
import { domainsWithAdvice } from '#api/domains/views.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { Domain } from '#db/domains/domain.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { hostPart } from '#rules/dns/names.ts';
import type { Deps } from '#runtime/deps.ts';
import {
  type DomainShown,
  detachPage,
  domainPage,
  domainsPage,
  type OneDomain,
  removalPage,
} from '#web/console/domains.ts';
import type { Refused, SiteFrame } from '#web/console/frame.ts';
import { sitePath } from '#web/console/tabs.ts';
import type { WrittenPage } from '#web/page.ts';
import { action } from './actions.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';

const base = '/account/sites/:id/domains';
type OneOf = { Params: { id: string; domain: string } };
type OnePage = (frame: SiteFrame, domain: OneDomain) => WrittenPage;

export function domainPages(console: Console): void {
  const { app, deps } = console;
  const pathOf = (request: FastifyRequest<Named>) => `${sitePath(request.params.id, 'domains')}/${domainId(request)}`;
  const show = (page: OnePage) => (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) =>
    showOne(deps, { request, reply, refused }, page);

  app.get<Named>(base, consolePage('domains'), (request, reply) => showList(deps, request, reply, null));
  for (const [path, page] of [
    ['', domainPage],
    ['/detach', detachPage],
    ['/remove', removalPage],
  ] as const) {
    const options = consolePage(`domain${path.replace('/', '_')}`);
    app.get<OneOf>(`${base}/:domain${path}`, options, (request, reply) => show(page)(request, reply, null));
  }

  action(console, {
    path: `${base}/add`,
    operation: 'domain.onboard',
    input: (_request, { field }) => ({ domain: (field('domain') ?? '').trim(), mode: field('mode') ?? '' }),
    done: ({ id }, { params }) => ({
      to: `${sitePath(params.id, 'domains')}/${id}`,
      notice: 'Now follow the steps. We keep checking the domain, and e-mail you when it works.',
    }),
    show: (request, reply, refused) => showList(deps, request, reply, refused),
  });

  action(console, {
    path: `${base}/:domain/check`,
    operation: 'domain.check',
    input: (request) => ({ id: domainId(request) }),
    done: (_answer, request) => ({ to: pathOf(request), notice: 'Checked. The steps below show what we found.' }),
    show: show(domainPage),
  });

  action(console, {
    path: `${base}/:domain/attach`,
    operation: 'domain.attach',
    input: (request, { field }) => ({
      id: domainId(request),
      site_id: request.params.id,
      ...(field('primary') === 'yes' ? { primary: true } : {}),
    }),
    done: ({ unicode, primary }, request) => ({
      to: pathOf(request),
      notice: primary
        ? `${unicode} is the main address of this site. Publish the site, so that its pages name it.`
        : `${unicode} shows this site.`,
    }),
    show: show(domainPage),
  });

  action(console, {
    path: `${base}/:domain/detach`,
    operation: 'domain.detach',
    input: (request) => ({ id: domainId(request) }),
    done: ({ unicode }, request) => ({ to: pathOf(request), notice: `${unicode} no longer shows a site.` }),
    show: show(detachPage),
  });

  action(console, {
    path: `${base}/:domain/remove`,
    operation: 'domain.remove',
    input: (request) => ({ id: domainId(request) }),
    done: ({ unicode }, { params }) => ({ to: sitePath(params.id, 'domains'), notice: `${unicode} is removed.` }),
    show: show(removalPage),
  });
}

const domainId = ({ params }: FastifyRequest): string => (params as OneOf['Params']).domain;

async function showList(deps: Deps, request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
  const { frame, site } = await siteFrameOf(request, reply, deps, refused);
  const own = { account: request.actor.accountId, removedAt: null };
  const rows = await request.em.find(Domain, own, { populate: ['site'], orderBy: { id: 'desc' } });
  const domains = await shown(request.em, deps, rows);
  const titles = new Map(rows.map(({ id, site: other }) => [id, other?.title ?? null]));
  const view = {
    attached: domains.filter((one) => one.site_id === site.id),
    others: domains
      .filter((one) => one.site_id !== site.id)
      .map((one) => ({ ...one, elsewhere: titles.get(one.id) ?? null })),
    modes: capabilitiesOf(deps.config).domains ? deps.config.domains.modes : [],
  };
  return sendPage(reply, domainsPage(frame, view), refused?.status);
}

type Asking = { request: FastifyRequest<Named>; reply: FastifyReply; refused: Refused | null };

async function showOne(deps: Deps, { request, reply, refused }: Asking, page: OnePage) {
  const { frame } = await siteFrameOf(request, reply, deps, refused);
  const row = await loadDomain(request.em, request.actor, domainId(request));
  const [domain] = await shown(request.em, deps, [row]);
  if (!domain) throw new Error('the domain has no view');
  const own = { account: request.actor.accountId, status: 'active', deleteAt: null } as const;
  const sites = domain.site_id === null ? await request.em.find(Site, own, { orderBy: { title: 'asc' } }) : [];
  return sendPage(reply, page(frame, { ...domain, sites }), refused?.status);
}

async function shown(em: EntityManager, deps: Deps, rows: readonly Domain[]): Promise<DomainShown[]> {
  return (await domainsWithAdvice(em, deps, rows)).map(({ domain, view }) => ({
    ...view,
    setup: view.setup.map((one) => ({ ...one, host: hostPart(one.name, domain.registrable) })),
    checked_at: view.checked_at?.toISOString() ?? null,
    next_check_at: view.next_check_at?.toISOString() ?? null,
  }));
}
