/**
 * State transitions of domains, for DNS checks, calls and operators. Each locks the row of the domain's site, then the
 * domain. Changes of ownership take an advisory lock on the registrable name; the trigger `domain_held` checks again.
 */

import { LockMode } from '@mikro-orm/core';
import { Certificate } from '#db/certificates/certificate.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { type DomainState, type ExpectedRecords, evaluate, nextState } from '#rules/dns/evaluation.ts';
import { dueMails } from '#rules/dns/mails.ts';
import type { DnsObservation } from '#rules/dns/observation.ts';
import { problemsOf } from '#rules/dns/problems.ts';
import { ownsName, servedStatuses } from '#rules/states.ts';
import { hourMs, minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { Domain, DomainTombstone } from './domain.ts';
import { type DomainMailDeps, queueDomainMails } from './mails.ts';
import { isOwnedByAnother, lostTo } from './ownership.ts';
import { rescanSite } from './site-hosts.ts';
import { ownDelegation } from './zones.ts';

export type DomainSignal = 'attach' | 'detach' | 'check' | 'block' | 'unblock' | 'remove';

/** Signals the domain's workflow when the transaction commits. */
export function signalOnboardDomain(tx: EntityManager, clock: Clock, id: string, signal: DomainSignal): void {
  signalWorkflow(tx, clock, 'onboardDomain', { domainId: id }, signal);
}

/** Starts the domain's workflow when the transaction commits. */
export function startOnboarding(tx: EntityManager, clock: Clock, domain: Domain): void {
  const about = { summary: domain.name, account: domain.account.id, hostname: domain.name };
  startWorkflow(tx, clock, 'onboardDomain', { domainId: domain.id }, about);
}

export async function lockDomain(tx: EntityManager, id: string): Promise<Domain> {
  return await tx.findOneOrFail(Domain, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * Locks the domain after its sites: the current one, the new one, and those of previous owners. Moving one domain of a
 * site may change which other one is primary, so a fixed order prevents deadlocks. The domain may be attached while this waits:
 * the savepoint gives the locks back, so that they are always taken in this order.
 */
export async function lockDomainWithSite(tx: EntityManager, id: string, siteId?: string): Promise<Domain> {
  for (;;) {
    await tx.execute('savepoint before_sites');
    const sites = await tx.execute<{ id: string }[]>(
      `select id from site where id = ? or id in (select other.site_id from domain own
         join domain other on other.registrable = own.registrable and other.name = own.name and other.removed_at is null where own.id = ?)
       order by id for no key update`,
      [siteId ?? null, id],
    );
    const domain = await lockDomain(tx, id);
    if (!domain.site || sites.some((site) => site.id === domain.site?.id)) return domain;
    await tx.execute('rollback to savepoint before_sites');
  }
}

/** Locks all names below one registrable name until the transaction ends. */
export async function lockName(tx: EntityManager, registrable: string): Promise<void> {
  await lockInTransaction(tx, `domain:${registrable}`);
}

/**
 * Stores an observation of the DNS and the resulting state. With `asked` it also signals the workflow, which then
 * updates zone and certificate. Undefined where the domain was removed meanwhile.
 */
export async function recordObservation(
  em: EntityManager,
  deps: DomainMailDeps,
  id: string,
  { sight: seen, wanted, asked = false }: { sight: DnsObservation; wanted: ExpectedRecords; asked?: boolean },
): Promise<Domain | undefined> {
  const { clock } = deps;
  return await em.transactional(async (tx) => {
    const { registrable } = await tx.findOneOrFail(Domain, { id });
    await lockName(tx, registrable);
    const domain = await lockDomainWithSite(tx, id);
    if (domain.removedAt) return undefined;
    const before = stateOf(domain);
    const problemsBefore = problemsOf(domain, deps.config.domains);
    const delegation = await ownDelegation(tx, domain);
    // A server that hosts a zone and the zone above it answers from the lower one, without a referral.
    const sight: DnsObservation = delegation ? { ...seen, delegation, ds: { none: true } } : seen;
    const verdict = evaluate(wanted, sight);
    const isTaken =
      !ownsName(before) && (await isOwnedByAnother(tx, clock.now(), { ...domain, accountId: domain.account.id }));
    // While another account owns the name, a proof does not count.
    const after = nextState(before, isTaken ? { ...verdict, isProved: false } : verdict, clock.now(), asked);
    if (ownsName(after) && !ownsName(before)) await takeOwnership(tx, clock, domain);
    Object.assign(domain, after, { sight });
    await tx.flush();
    if (problemsOf(domain, deps.config.domains).join() !== problemsBefore.join())
      await notifyInbox(tx, domain.account.id);
    if (before.status === 'active' && after.status !== 'active' && domain.site)
      await rescanSite(tx, clock, domain.site.id);
    await queueDomainMails(tx, deps, domain);
    if (asked) signalOnboardDomain(tx, clock, id, 'check');
    return domain;
  });
}

/** Queues the e-mail that the domain is live, if it was due but for its certificate. */
export async function mailCertifiedDomain(em: EntityManager, deps: DomainMailDeps, id: string): Promise<void> {
  if (!dueMails(await em.findOneOrFail(Domain, { id }, { refresh: true })).live) return;
  await em.transactional(async (tx) => {
    const domain = await lockDomain(tx, id);
    if (!domain.removedAt) await queueDomainMails(tx, deps, domain);
  });
}

function stateOf(domain: Domain): DomainState {
  const { status, statusSince, checks, elsewhereChecks, absentChecks, unprovedChecks } = domain;
  return {
    status,
    statusSince,
    checks,
    elsewhereChecks,
    absentChecks,
    unprovedChecks,
    unprovedSince: domain.unprovedSince ?? null,
    absentSince: domain.absentSince ?? null,
    provedAt: domain.provedAt ?? null,
    elsewhereSince: domain.elsewhereSince ?? null,
    checkedAt: domain.checkedAt ?? null,
    nextCheckAt: domain.nextCheckAt ?? null,
  };
}

/** Removes the lost domains of previous owners once the name is proved again. */
async function takeOwnership(tx: EntityManager, clock: Clock, domain: Domain): Promise<void> {
  for (const one of await lostTo(tx, clock.now(), domain)) await removeDomain(tx, clock, one);
  await tx.nativeDelete(DomainTombstone, { name: domain.name });
}

/** Removes the domain from its account; its workflow cleans up. The caller has locked the row. */
export async function removeDomain(tx: EntityManager, clock: Clock, domain: Domain): Promise<void> {
  const now = clock.now();
  await detachDomain(tx, clock, domain);
  if (domain.provedAt) {
    await tx.upsert(DomainTombstone, { name: domain.name, account: domain.account, mode: domain.mode, removedAt: now });
  }
  Object.assign(domain, { removedAt: now, nextCheckAt: null });
  await tx.flush();
  signalOnboardDomain(tx, clock, domain.id, 'remove');
}

/** Detaches the site. If the domain was primary, the one attached longest becomes primary. */
export async function detachDomain(tx: EntityManager, clock: Clock, domain: Domain): Promise<void> {
  const { site, isPrimary } = domain;
  if (!site) return;
  Object.assign(domain, { site: null, isPrimary: false, attachedAt: null, detachedAt: clock.now() });
  await tx.flush();
  await rescanSite(tx, clock, site.id);
  if (!isPrimary) return;
  const [next] = await tx.find(Domain, { site }, { orderBy: { attachedAt: 'asc', id: 'asc' }, limit: 1 });
  if (next) next.isPrimary = true;
  await tx.flush();
}

const overdueMs = 15 * minuteMs;
const overdueWorkflowMs = 2 * hourMs;

/** Domains whose check is overdue, and those removed recently: their workflow may be lost. */
export async function overdueDomains(em: EntityManager, clock: Clock): Promise<Domain[]> {
  const now = clock.now().getTime();
  const overdue = new Date(now - overdueMs);
  return await em.find(
    Domain,
    {
      $or: [
        { nextCheckAt: { $lt: overdue }, account: { blockedAt: null } },
        { removedAt: { $lt: overdue, $gt: new Date(now - overdueWorkflowMs) } },
      ],
    },
    { limit: 500, orderBy: { nextCheckAt: 'asc' } },
  );
}

/** Starts the workflow of each; running ones are unaffected. */
export async function restartDomains(em: EntityManager, clock: Clock, domains: readonly Domain[]): Promise<void> {
  await em.transactional(async (tx) => {
    for (const domain of domains) startOnboarding(tx, clock, domain);
  });
}

const servedNow = { removedAt: null, status: { $in: servedStatuses } } as const;

/** The site that is served on this host name. */
export async function siteOnDomain(em: EntityManager, name: string): Promise<Site | null> {
  const served = { ...servedNow, name, site: { $ne: null } };
  return (await em.findOne(Domain, served, { populate: ['site'] }))?.site ?? null;
}

/** Names on which the site is served besides its own address, and when each certificate expires. */
export async function domainsOfSite(
  em: EntityManager,
  siteId: string,
): Promise<{ name: string; certifiedUntil: Date | null }[]> {
  const found = await em.find(Domain, { ...servedNow, site: siteId });
  const certificates = await em.find(
    Certificate,
    { domainId: { $in: found.map(({ id }) => id) } },
    { fields: ['domainId', 'notAfter'] },
  );
  const ends = new Map(certificates.map(({ domainId, notAfter }) => [domainId, notAfter ?? null]));
  return found.map(({ id, name }) => ({ name, certifiedUntil: ends.get(id) ?? null }));
}
