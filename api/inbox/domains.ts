/** The reader's domains that need action by the owner or the operator. */

import { reachableDomains } from '#api/domains/rules.ts';
import { domainsWithAdvice } from '#api/domains/views.ts';
import { Domain } from '#db/domains/domain.ts';
import type { CodeSource, InboxItem } from './item.ts';

const states = {
  pending: 'is not set up yet',
  active: 'cannot get a certificate',
  Moved: 'no longer points to this platform',
  Deleted: 'no longer points to this platform and is no longer served',
  Blocked: 'has been blocked by the operator',
};

export const waitingDomains: CodeSource = async (em, reader, since, { config, now }) => {
  const checked = { ...reachableDomains(reader), checkedAt: { $ne: null } };
  const domains = await em.find(Domain, checked, { refresh: true });
  const known = await domainsWithAdvice(em, { config, clock: { now: () => now } }, domains);
  const items = known.flatMap(({ domain, view, advice }): InboxItem[] => {
    const isActive = view.status === 'active';
    const isWrong = isActive && advice.hasDnsProblem;
    const isLive = isActive && view.ssl.status === 'active' && !isWrong;
    if (isLive || !advice.nextAction || advice.waitingOn === 'platform' || advice.since <= since) return [];
    const { id, name, site, status, createdAt: addedAt } = domain;
    return [
      {
        kind: 'domain',
        id,
        site: site ? { id: site.id, name: reader.sites.get(site.id) ?? '' } : null,
        at: advice.since,
        title: `The domain ${name} ${isWrong ? 'has a problem in its DNS' : states[status]}.`,
        nextAction: advice.nextAction,
        ...(site ? {} : { freeDomain: { name, addedAt } }),
      },
    ];
  });
  return items.sort((a, b) => b.at.getTime() - a.at.getTime());
};
