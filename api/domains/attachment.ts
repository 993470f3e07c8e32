/** Attaching a site to a domain, and detaching it. */

import { loadSite, lockChangeable, type Person } from '#api/access.ts';
import { Domain } from '#db/domains/domain.ts';
import { detachDomain, lockDomainWithSite, signalOnboardDomain } from '#db/domains/transitions.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { loadDomain, requireMayLeave } from './rules.ts';

/**
 * Serves the site on the domain. Throws `not_found`, `domain_not_the_owners`, `site_archived`, `domain_not_active`, `attach_blocked`.
 */
export async function attach(
  em: EntityManager,
  deps: Deps,
  actor: Person,
  { id, siteId, primary }: { id: string; siteId: string; primary: boolean },
): Promise<Domain> {
  const { name } = await loadDomain(em, actor, id);
  const site = await loadSite(em, actor, siteId);
  if (site.account.id !== actor.accountId) {
    throw errors.domain_not_the_owners(
      `${name} belongs to this account, but ${site.name} belongs to another account.`,
      {
        nextAction: `The owner of ${site.name} can add the domain to their own account after it is removed from this one.`,
      },
    );
  }
  return await em.transactional(async (tx) => {
    const domain = await lockDomainWithSite(tx, id, siteId);
    requireUsable(domain);
    const locked = await lockChangeable(tx, siteId);
    const isNew = !domain.site;
    const wasPrimary = domain.isPrimary;
    if (isNew) Object.assign(domain, { site: locked, attachedAt: deps.clock.now() });
    await placeFirst(tx, domain, locked, primary);
    if (isNew) signalOnboardDomain(tx, deps.clock, id, 'attach');
    const detail = { primary: domain.isPrimary };
    if (isNew || domain.isPrimary !== wasPrimary)
      recordAct(tx, deps.clock, actor, 'domain.attached', { site: locked, subject: domain, detail });
    return domain;

    function requireUsable({ status, site: other, removedAt }: Domain): void {
      if (removedAt) throw errors.not_found('The domain has just been removed.');
      if (status === 'Blocked') throw blocked(domain);
      if (status !== 'active') throw notActive(domain);
      if (other && other.id !== siteId) throw elsewhere(domain, other.id);
    }
  });
}

function blocked({ name }: Domain) {
  return errors.attach_blocked(`${name} has been blocked by the operator.`, {
    nextAction: 'Contact the operator.',
  });
}

function notActive({ id, name, status }: Domain) {
  return errors.domain_not_active(`${name} has the status ${status}: its DNS does not point here yet.`, {
    nextAction: `Call ${call('domain.read', { id })} and follow its next_action.`,
  });
}

function elsewhere({ id, name }: Domain, siteId: string) {
  return errors.attach_blocked(`${name} already serves another site, ${siteId}.`, {
    nextAction: `Detach that site first with ${call('domain.detach', { id })}.`,
  });
}

/** The first domain of a site is its primary one until another replaces it. */
async function placeFirst(tx: EntityManager, domain: Domain, site: Site, primary: boolean): Promise<void> {
  await tx.flush();
  const present = await tx.findOne(Domain, { site: site.id, isPrimary: true });
  if (present?.id === domain.id || (present && !primary)) return;
  if (present) {
    present.isPrimary = false;
    await tx.flush();
  }
  domain.isPrimary = true;
  await tx.flush();
}

/** Detaches the site; idempotent. Throws `site_archived` where the site is blocked. */
export async function detach(em: EntityManager, deps: Deps, actor: Person, id: string): Promise<Domain> {
  await loadDomain(em, actor, id);
  return await em.transactional(async (tx) => {
    const domain = await lockDomainWithSite(tx, id);
    if (domain.removedAt) throw errors.not_found('The domain has just been removed.');
    if (!domain.site) return domain;
    await requireMayLeave(tx, domain);
    recordAct(tx, deps.clock, actor, 'domain.detached', { site: domain.site, subject: domain });
    await detachDomain(tx, deps.clock, domain);
    signalOnboardDomain(tx, deps.clock, id, 'detach');
    return domain;
  });
}
