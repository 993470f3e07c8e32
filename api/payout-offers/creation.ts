/** Creation of offers, by the owner of a site or of a payout account. */

import { type Actor, loadSite, requireActive, requireOwner } from '#api/access.ts';
import { loadPayoutAccount, requireSettledPayouts } from '#api/payouts/rules.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { siteServedOn } from '#db/domains/hostnames.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockParties, openOffersBy, startOffer, withdrawOffers } from '#db/payouts/offer-transitions.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutAccount as PayoutAccounts } from '#db/payouts/payout-account.ts';
import { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import { PayoutOffer } from '#db/payouts/payout-offer.ts';
import { isChangeable } from '#db/sites/blocks.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { PayoutParty } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { recordBetween } from './recording.ts';
import { type WholeOffer, whole } from './schemas.ts';

const offerLastsMs = 14 * dayMs;

/**
 * The owner of a site proposes another account's payout account. An open offer from the owner of a payout account is withdrawn. Throws
 * `owner_only`, `site_archived`, `invalid_payout_account`, `invalid_payout_offer`, `plan_limit`.
 */
export async function offerFromSite(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  input: { id: string; siteId: string; payoutAccountId: string },
): Promise<WholeOffer> {
  const site = await loadSite(em, actor, input.siteId);
  requireOwner(site, actor, 'choose its payout account');
  requireActive(site);
  const id = input.payoutAccountId;
  const account = isId('pout', id) ? await em.findOne(PayoutAccounts, { id, status: { $ne: 'gone' } }) : null;
  if (!account) throw noSuchAccount();
  if (account.account.id === actor.accountId) {
    throw errors.invalid_payout_offer('You own this payout account, so no offer is needed.', {
      nextAction: `Attach the payout account with ${call('payout_agreement.attach', { id: site })}.`,
    });
  }
  return await open(em, deps, actor, { id: input.id, openedBy: 'site', account, site });
}

/**
 * The owner of a payout account proposes it to a site, given by a hostname. The response reveals only whether the site
 * accepts an offer. Throws `payout_account_gone`, `site_archived`, `invalid_payout_offer`, `plan_limit`.
 */
export async function offerFromAccount(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  input: { id: string; payoutAccountId: string; hostname: string },
): Promise<WholeOffer> {
  const account = await loadPayoutAccount(em, actor, input.payoutAccountId);
  requireThere(account);
  const site = await siteServedOn(em, deps.config, input.hostname);
  if (!site) {
    throw errors.invalid_payout_offer('This platform does not serve a site on this hostname.', {
      nextAction: 'Open the site in a browser and send the hostname from the address bar.',
    });
  }
  if (site.account.id === actor.accountId) {
    throw errors.invalid_payout_offer('You own this site, so no offer is needed.', {
      nextAction: `Attach the payout account with ${call('payout_agreement.attach', { id: site })}.`,
    });
  }
  return await open(em, deps, actor, { id: input.id, openedBy: 'payout_account', account, site });
}

type Opening = { id: string; openedBy: PayoutParty; account: PayoutAccount; site: Site };

async function open(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, openedBy, account, site: named }: Opening,
): Promise<WholeOffer> {
  const { clock } = deps;
  await requireSettledPayouts(em, deps, actor);
  return await em.transactional(async (tx) => {
    await lockPartiesForOffer(tx, { account, site: named });
    await countWithinLimit(tx, deps, {
      limit: 'open_payout_offers',
      accountId: actor.accountId,
      count: () => tx.count(PayoutOffer, openOffersBy(actor.accountId, clock.now())),
      what: 'unanswered payout offers',
      nextAction: `Withdraw an open offer with ${call('payout_offer.end')}, or wait for an answer.`,
    });
    const now = clock.now();
    await makeRoom(tx, clock, actor, { openedBy, site: named });
    const [expiresAt, createdAt] = [new Date(now.getTime() + offerLastsMs), now];
    const offer = tx.create(PayoutOffer, {
      id,
      site: named,
      payoutAccount: account,
      openedBy,
      status: 'open',
      createdAt,
      expiresAt,
    });
    recordBetween(tx, clock, actor, 'payout_offer.created', { id, site: named, payoutAccount: account });
    startOffer(tx, clock, { id, site: named.id });
    await tx.flush();
    return await tx.populate(offer, whole.populate);
  });
}

/** Checks what may have changed while this waited for both locks. */
async function lockPartiesForOffer(tx: EntityManager, { account, site }: { account: PayoutAccount; site: Site }) {
  const locked = await lockParties(tx, { payoutAccountId: account.id, siteId: site.id });
  requireThere(locked.payoutAccount);
  requireServing(locked.site);
}

/** The site's own offer replaces one from a payout account; otherwise open offers and agreements stay. */
async function makeRoom(
  tx: EntityManager,
  clock: Deps['clock'],
  actor: Actor,
  { openedBy, site }: { openedBy: PayoutParty; site: Site },
): Promise<void> {
  const withAccount = { populate: ['payoutAccount'] } as const;
  const agreement = await tx.findOne(PayoutAgreement, { site: site.id, endedAt: null }, withAccount);
  const open = { site: site.id, status: 'open' as const, expiresAt: { $gt: clock.now() } };
  const waiting = await tx.findOne(PayoutOffer, open, withAccount);
  if (openedBy === 'payout_account' && (agreement || waiting)) throw noRoom(actor, { agreement, waiting });
  if (agreement) {
    throw errors.invalid_payout_offer('The site already has a payout account.', {
      nextAction: `Detach that payout account first with ${call('payout_agreement.end', { id: site })}.`,
    });
  }
  if (waiting?.openedBy === 'site') {
    throw errors.invalid_payout_offer('The site already has an open payout offer.', {
      nextAction: `Withdraw that offer first with ${call('payout_offer.end', { id: waiting.id })}.`,
    });
  }
  await withdrawOffers(tx, clock, { site: site.id });
}

/** Relations between the site and others are not revealed. */
function noRoom(
  { accountId }: Actor,
  { agreement, waiting }: { agreement: PayoutAgreement | null; waiting: PayoutOffer | null },
) {
  const isMine = (one: PayoutAgreement | PayoutOffer | null) => one?.payoutAccount.account.id === accountId;
  if (agreement && isMine(agreement)) {
    return errors.invalid_payout_offer('This site already uses one of your payout accounts.', {
      nextAction: `Call ${call('payout.sites', { id: agreement.payoutAccount.id })} to list the sites that use it.`,
    });
  }
  if (!agreement && waiting && isMine(waiting)) {
    return errors.invalid_payout_offer('An offer between this site and one of your payout accounts is already open.', {
      nextAction: `Call ${call('payout_offer.read', { id: waiting.id })} to see which party has to answer it.`,
    });
  }
  return errors.invalid_payout_offer('This site cannot accept payout offers at the moment.', {
    nextAction: `Ask the site’s owner to create an offer with ${call('payout_offer.open_from_site')} and the id of this payout account.`,
  });
}

export function requireThere({ status, name }: Pick<PayoutAccount, 'status' | 'name'>): void {
  if (status === 'gone') throw errors.payout_account_gone(`The payout account “${name}” was removed.`);
}

/** Worded for callers without access to the site. */
export function requireServing(site: Pick<Site, 'name' | 'status' | 'ownerBlockedAt'>): void {
  if (isChangeable(site)) return;
  const why = site.status === 'archived' ? 'is archived' : 'has been blocked by the operator';
  throw errors.site_archived(`The site ${site.name} ${why}, so it cannot accept payments.`);
}

function noSuchAccount() {
  return errors.invalid_payout_account('There is no payout account with this id.', {
    nextAction: `Ask the owner of the payout account for its id, which they can find with ${call('payout.list')}.`,
  });
}
