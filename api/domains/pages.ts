/** The owner's domains for the account page. */

import type { Person } from '#api/access.ts';
import { Domain } from '#db/domains/domain.ts';
import type { EntityManager } from '#db/orm.ts';
import { displayName, hostPart } from '#rules/dns/names.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { DomainShown } from '#web/pages/domains.ts';
import { domainViews } from './views.ts';

const waiting = { owner: 'Action needed', platform: 'We are working on it', operator: 'Waiting for the operator' };

const states = {
  Moved: 'Points to another server',
  Deleted: 'No longer points here, so it does not show your site',
  Blocked: 'Blocked: contact the operator of this service',
};

export async function domainsShown(em: EntityManager, deps: Deps, { accountId }: Person): Promise<DomainShown[]> {
  const domains = await em.find(
    Domain,
    { account: accountId, removedAt: null },
    { populate: ['site'], orderBy: { id: 'desc' } },
  );
  const views = await domainViews(em, deps, domains);
  return domains.flatMap((domain, at): DomainShown[] => {
    const view = views[at];
    if (!view) return [];
    const isLive = view.status === 'active' && view.ssl.status === 'active';
    const works = domain.site ? 'Works' : 'Works, but shows no site yet';
    const state = isLive ? works : stateOf(view);
    return [
      {
        name: displayName(domain.name),
        mode: domain.mode,
        setup: view.setup.map((one) => ({ ...one, host: hostPart(one.name, domain.registrable) })),
        problems: view.problems,
        state,
        site: domain.site ? siteHostname(deps.config, domain.site.name) : null,
      },
    ];
  });
}

function stateOf({
  status,
  waiting_on,
}: Pick<Awaited<ReturnType<typeof domainViews>>[number], 'status' | 'waiting_on'>): string {
  if (status === 'active') return 'Waiting for its certificate';
  return status === 'pending' ? waiting[waiting_on ?? 'platform'] : states[status];
}
