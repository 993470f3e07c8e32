/** Domains of an account: adding, checking and removing them. */

import { randomBytes } from 'node:crypto';
import { type Person, requireScope, requireSiteNotBlocked } from '#api/access.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { Domain } from '#db/domains/domain.ts';
import { isNameBlocked, isOwnedByAnother } from '#db/domains/ownership.ts';
import {
  lockDomainWithSite,
  lockName,
  recordObservation,
  removeDomain,
  startOnboarding,
} from '#db/domains/transitions.ts';
import { syncZone } from '#db/domains/zones.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { observeDns } from '#providers/dns/observation.ts';
import { call } from '#rules/calls/calls.ts';
import { evaluate, expectedRecords } from '#rules/dns/evaluation.ts';
import { isWithin, type Name, readName } from '#rules/dns/names.ts';
import type { DomainMode } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId, newPublicId } from '#runtime/ids.ts';

/** The condition of a query for the account's domains; where the token is limited to some sites, for those of the sites. */
export function reachableDomains({ accountId, scope: { sites } }: Person) {
  return { account: accountId, removedAt: null, ...(sites === 'all' ? {} : { site: { $in: sites } }) };
}

/** The domain, if it belongs to the account. Throws `not_found`, `out_of_scope`. */
export async function loadDomain(em: EntityManager, person: Person, id: string): Promise<Domain> {
  const owned = { id, account: person.accountId, removedAt: null };
  const found = isId('dom', id) ? await em.findOne(Domain, owned) : null;
  if (found) {
    requireScope(person, { sites: found.site ? [found.site.id] : 'all' });
    return found;
  }
  throw errors.not_found('This account has no domain with this id.', {
    nextAction: `Call ${call('domain.list')} to list the account’s domains.`,
  });
}

/**
 * Adds a domain. One that the account already added in this mode is returned as it is. Throws `invalid_mode`,
 * `invalid_domain`, `domain_unavailable`, `domain_taken`, `cname_unavailable`, `check_unavailable`, `plan_limit`.
 */
export async function addDomain(
  em: EntityManager,
  deps: Deps,
  person: Person,
  input: { id: string; domain: string; mode: string },
): Promise<Domain> {
  const { clock, config } = deps;
  const { accountId } = person;
  const mode = readMode(config, input.mode);
  const name = readFreeName(config, input.domain);
  if (mode === 'cname') await requireTarget(deps);
  return await em.transactional(async (tx) => {
    await lockName(tx, name.registrable);
    const own = await tx.findOne(Domain, { account: accountId, name: name.name, removedAt: null });
    if (own) return requireSame(own, mode);
    await requireNotHeld(tx, clock.now(), accountId, name);
    await requireNameNotBlocked(tx, accountId, name);
    await requireRoom(tx, deps, accountId);
    const now = clock.now();
    const domain = tx.create(Domain, {
      ...name,
      id: input.id,
      account: accountId,
      mode,
      status: 'pending',
      statusSince: now,
      proof: `frontage-verify=${randomBytes(20).toString('hex')}`,
      pair: newPublicId(),
      nextCheckAt: now,
      createdAt: now,
    });
    await tx.flush();
    startOnboarding(tx, clock, domain);
    recordAct(tx, clock, person, 'domain.added', { subject: domain, detail: { mode } });
    return domain;
  });
}

function readMode({ domains }: Config, mode: string): DomainMode {
  const served = domains.modes.find((one) => one === mode);
  if (served) return served;
  throw errors.invalid_mode('This platform does not support this domain mode.', {
    nextAction: `Use one of these modes, which ${call('account.read')} also returns in domain_onboarding: ${domains.modes.join(', ')}.`,
  });
}

function readFreeName(config: Config, text: string): Name {
  const { domains, baseDomain, baseUrl } = config;
  const name = readName(text, domains.endings);
  if ('fault' in name) {
    const error = name.fault === 'suffix' ? errors.domain_unavailable : errors.invalid_domain;
    throw error(`This domain cannot be added: ${name.why}.`, {
      nextAction: 'Send a name such as example.com or shop.example.com.',
    });
  }
  const ours = [baseDomain, new URL(baseUrl).hostname, domains.nameServers, domains.cnameTarget, ...domains.reserved];
  if (ours.some((one) => isWithin(name.name, one) || isWithin(one, name.name))) {
    throw errors.domain_unavailable(`${name.name} belongs to the platform or is reserved.`, {
      nextAction: 'Add a domain that the owner has registered.',
    });
  }
  return name;
}

/** The target of a CNAME has to exist first. */
async function requireTarget({ config, dns }: Deps): Promise<void> {
  const { cnameTarget } = config.domains;
  const answers = await Promise.all([dns.ask(cnameTarget, 'A'), dns.ask(cnameTarget, 'AAAA')]);
  if (answers.some((answer) => 'found' in answer)) return;
  if (answers.some((answer) => 'unknown' in answer)) throw unasked();
  throw errors.cname_unavailable('This platform’s CNAME target does not exist in the DNS yet.', {
    nextAction: 'Tell the operator, or add the domain in another mode from domain_onboarding.',
  });
}

function unasked() {
  return errors.check_unavailable('The DNS check failed temporarily. Nothing has changed.', {
    nextAction: 'Send the same request again in a minute.',
    retryAfterSeconds: 60,
  });
}

function requireSame(own: Domain, mode: DomainMode): Domain {
  if (own.mode === mode) return own;
  throw errors.domain_taken(`This account has already added ${own.name}, in ${own.mode} mode.`, {
    nextAction: `Call ${call('domain.read', { id: own.id })} to continue its setup, or remove it first with ${call('domain.remove', { id: own.id })}.`,
  });
}

async function requireNotHeld(
  tx: EntityManager,
  now: Date,
  accountId: string,
  { name, registrable }: Name,
): Promise<void> {
  if (!(await isOwnedByAnother(tx, now, { name, registrable, accountId }))) return;
  throw errors.domain_taken(`Another account on this platform has already added ${name} or a parent domain.`, {
    nextAction: 'If both accounts have the same owner, remove the domain from the other account.',
  });
}

async function requireNameNotBlocked(tx: EntityManager, accountId: string, name: Name): Promise<void> {
  if (!(await isNameBlocked(tx, { ...name, accountId }))) return;
  throw errors.domain_unavailable(`${name.name} has been blocked by the operator.`, {
    nextAction: 'Contact the operator.',
  });
}

async function requireRoom(tx: EntityManager, deps: Pick<Deps, 'clock' | 'config'>, accountId: string): Promise<void> {
  await countWithinLimit(tx, deps, {
    limit: 'domains',
    accountId,
    count: () => tx.count(Domain, { account: accountId, removedAt: null }),
    what: 'domains',
    nextAction: `Remove a domain with ${call('domain.remove')}.`,
  });
}

/** Removes the domain and detaches its site. Returns its last state. Throws `site_archived` where its site is blocked. */
export async function removeOwnDomain(em: EntityManager, deps: Deps, actor: Person, id: string): Promise<Domain> {
  await loadDomain(em, actor, id);
  return await em.transactional(async (tx) => {
    const domain = await lockDomainWithSite(tx, id);
    if (domain.removedAt) return domain;
    await requireMayLeave(tx, domain);
    recordAct(tx, deps.clock, actor, 'domain.removed', { site: domain.site ?? undefined, subject: domain });
    await removeDomain(tx, deps.clock, domain);
    return domain;
  });
}

/** A blocked site keeps all its addresses, so that none becomes free for others. The domain's row and its site's are locked. */
export async function requireMayLeave(tx: EntityManager, { site, name }: Domain): Promise<void> {
  if (!site) return;
  requireSiteNotBlocked(await tx.findOneOrFail(Site, { id: site.id }, { refresh: true }), `be detached from ${name}`);
}

const checkEveryMs = 5_000;

/** Checks now. Throws `rate_limited` within 5 s of the last check, and `check_unavailable` where the DNS could not be queried. */
export async function checkNow(em: EntityManager, deps: Deps, actor: Person, id: string): Promise<Domain> {
  const found = await loadDomain(em, actor, id);
  const { clock, config, dns } = deps;
  await requireRested(em, clock.now(), found);
  if (found.status === 'Blocked') return found;
  const wanted = expectedRecords(found, config.domains);
  const sight = await observeDns(dns, found);
  const { isProved, isHere, isAbsent } = evaluate(wanted, sight);
  const needed = found.status === 'active' || found.status === 'Moved' ? [isHere] : [isProved, isHere];
  if (isAbsent !== true && needed.includes(undefined) && !needed.includes(false)) throw unasked();
  const kept = await recordObservation(deps.em(), deps, id, { sight, wanted, asked: true });
  if (!kept) return await loadDomain(em.fork(), actor, id);
  if (kept.mode === 'nameservers') await syncZoneNow(deps, kept.name);
  return kept;
}

/** The workflow also writes the zone, with retries. Here the caller sees the result at once. */
async function syncZoneNow(deps: Deps, name: string): Promise<void> {
  await syncZone(deps.em(), deps, name).catch((err) =>
    deps.log.warn({ err, name }, 'could not write a DNS zone; its workflow will retry'),
  );
}

async function requireRested(em: EntityManager, now: Date, { id, name }: Domain): Promise<void> {
  const rested = new Date(now.getTime() - checkEveryMs);
  const where = { id, $or: [{ askedAt: null }, { askedAt: { $lte: rested } }] };
  if ((await em.nativeUpdate(Domain, where, { askedAt: now })) === 1) return;
  throw errors.rate_limited(`${name} has just been checked.`, {
    nextAction: 'Send the same request again in 5 seconds.',
    retryAfterSeconds: checkEveryMs / 1000,
  });
}
