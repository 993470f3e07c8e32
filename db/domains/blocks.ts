/** Blocks of domains by an operator. */
import { platformFor, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';
import { Domain } from './domain.ts';
import { rescanSite } from './site-hosts.ts';
import { detachDomain, lockDomainWithSite, lockName, signalOnboardDomain } from './transitions.ts';

async function lockWithName(tx: EntityManager, id: string): Promise<Domain> {
  const found = await tx.findOne(Domain, { id });
  if (!found) throw errors.not_found('There is no domain with this id.');
  await lockName(tx, found.registrable);
  return await lockDomainWithSite(tx, id);
}

/**
 * Blocks the domain for the operator: it is not served, whatever the DNS says, until it is unblocked. Blocking a
 * removed domain blocks its name.
 */
export async function blockDomain(em: EntityManager, clock: Clock, id: string, reason: string): Promise<Domain> {
  return await em.transactional(async (tx) => {
    const domain = await lockWithName(tx, id);
    // A lost domain does not regain ownership: it is blocked for its account only.
    const wasLost = domain.status === 'Deleted';
    if (wasLost) await detachDomain(tx, clock, domain);
    const stopped = { status: 'Blocked', statusSince: clock.now(), blockReason: reason, nextCheckAt: null } as const;
    Object.assign(domain, stopped, wasLost ? { provedAt: null } : {});
    await tx.flush();
    if (domain.site) await rescanSite(tx, clock, domain.site.id);
    if (!domain.removedAt) signalOnboardDomain(tx, clock, id, 'block');
    recordAct(tx, clock, platformFor(domain.account.id), 'domain.blocked', { subject: domain, detail: { reason } });
    return domain;
  });
}

/** Unblocks the domain; it is checked at once. */
export async function unblockDomain(em: EntityManager, clock: Clock, id: string): Promise<Domain> {
  return await em.transactional(async (tx) => {
    const domain = await lockWithName(tx, id);
    if (domain.status !== 'Blocked') return domain;
    const now = clock.now();
    const counts = { checks: 0, elsewhereChecks: 0, elsewhereSince: null, absentChecks: 0, absentSince: null };
    const status = domain.provedAt ? 'Moved' : 'pending';
    const nextCheckAt = domain.removedAt ? null : now;
    Object.assign(domain, { ...counts, status, statusSince: now, blockReason: null, nextCheckAt });
    if (!domain.removedAt) signalOnboardDomain(tx, clock, id, 'unblock');
    recordAct(tx, clock, platformFor(domain.account.id), 'domain.unblocked', { subject: domain });
    return domain;
  });
}
