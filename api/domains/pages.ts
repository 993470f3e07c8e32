/** The owner's domains for the account page. */

import type { Person } from '#api/access.ts';
import { Domain } from '#db/domains/domain.ts';
import type { EntityManager } from '#db/orm.ts';
import { displayName, hostPart } from '#rules/dns/names.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { DomainShown } from '#web/pages/domains.ts';
import type { Advice } from './responsible-party.ts';
import { domainsWithAdvice } from './views.ts';

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
  return (await domainsWithAdvice(em, deps, domains)).map(({ domain, view, advice }): DomainShown => {
    const { name, mode, site, registrable } = domain;
    // While an active domain is right, a query that failed asks for nothing.
    const isAsked = view.status !== 'active' || advice.hasDnsProblem;
    return {
      name: displayName(name),
      mode,
      setup: isAsked ? view.setup.map((one) => ({ ...one, host: hostPart(one.name, registrable) })) : [],
      problems: view.problems,
      state: stateOf(domain, view.ssl.status, advice),
      site: site ? siteHostname(deps.config, site.name) : null,
    };
  });
}

function stateOf({ status, site }: Domain, ssl: string, { waitingOn, hasDnsProblem }: Advice): string {
  if (status === 'pending') return waiting[waitingOn ?? 'platform'];
  if (status !== 'active') return states[status];
  if (hasDnsProblem) return waiting.owner;
  if (ssl !== 'active') return 'Waiting for its certificate';
  return site ? 'Works' : 'Works, but shows no site yet';
}
