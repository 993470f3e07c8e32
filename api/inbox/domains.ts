/** The reader's domains for which an owner, or a person of the platform, has to do something. */
import { Domain } from '../../db/entities/domain.ts';
import { domainViews } from '../domains/views.ts';
import { type InboxItem, itemsMax, type Source } from './item.ts';

const states = {
  pending: 'waits for its set-up',
  active: 'cannot get its certificate',
  Moved: 'leads elsewhere',
  Deleted: 'leads here no more, and is not served',
  Blocked: 'was stopped by a person of the platform',
};

export const waitingDomains: Source = async (em, { accountId }, since, { config, now }) => {
  const domains = await em.find(
    Domain,
    { account: accountId, removedAt: null, checkedAt: { $ne: null }, statusSince: { $gt: since } },
    { populate: ['site'], orderBy: { statusSince: 'desc' }, limit: itemsMax },
  );
  const views = await domainViews(em, { config, clock: { now: () => now } }, domains);
  return domains.flatMap((domain, at): InboxItem[] => {
    const { waiting_on, ssl, next_action } = views[at] ?? {};
    const isLive = domain.status === 'active' && ssl?.status === 'active';
    if (isLive || !next_action || waiting_on === 'platform') return [];
    const { id, name, site, status, statusSince } = domain;
    return [
      {
        kind: 'domain',
        id,
        site: site ? { id: site.id, name: site.name } : null,
        at: statusSince,
        title: `The domain ${name} ${states[status]}.`,
        nextAction: next_action,
      },
    ];
  });
};
