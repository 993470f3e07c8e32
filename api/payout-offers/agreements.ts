/** Agreements between sites and payout accounts: created by an owner of both, ended by either side. */

import { type Actor, loadSite, requireActive, requireOwner, requireScope } from '#api/access.ts';
import { findPayoutAccount, requireSettledPayouts } from '#api/payouts/rules.ts';
import type { EntityManager } from '#db/orm.ts';
import { agreementOf } from '#db/payouts/credentials.ts';
import { endAgreements, lockParties, startAgreement, withdrawOffers } from '#db/payouts/offer-transitions.ts';
import { expireOpenPayments } from '#db/payouts/open-payments.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { requireThere } from './creation.ts';
import { recordBetween } from './recording.ts';
import { type WholeAgreement, whole } from './schemas.ts';

/** The active agreement, for the owner of the site. Throws `owner_only`, `no_payout_account`. */
export async function readAgreement(em: EntityManager, actor: Actor, siteId: string): Promise<WholeAgreement> {
  const site = await loadSite(em, actor, siteId);
  requireOwner(site, actor, 'see its payout account');
  const agreement = await agreementOf(em, site);
  if (!agreement) throw takesNoMoney(site);
  return await em.populate(agreement, whole.populate);
}

/**
 * Connects the site to a payout account of the same owner; open offers of the site are withdrawn. Idempotent. Throws
 * `owner_only`, `site_archived`, `invalid_payout_account`, `payout_account_gone`, `address_change_pending`.
 */
export async function attach(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { siteId, payoutAccountId }: { siteId: string; payoutAccountId: string },
): Promise<WholeAgreement> {
  const named = await loadSite(em, actor, siteId);
  requireOwner(named, actor, 'choose its payout account');
  requireActive(named);
  const own = await findPayoutAccount(em, actor, payoutAccountId);
  if (!own) throw notYourOwn();
  await requireSettledPayouts(em, deps, actor);
  const { clock } = deps;
  return await em.transactional(async (tx) => {
    const { payoutAccount, site } = await lockParties(tx, { payoutAccountId: own.id, siteId: named.id });
    requireThere(payoutAccount);
    requireActive(site);
    const agreement = await agreementOf(tx, site);
    if (agreement) return await tx.populate(requireSame(agreement, payoutAccount), whole.populate);
    await withdrawOffers(tx, clock, { site: site.id });
    const begun = startAgreement(tx, { payoutAccount, site, offer: null, now: clock.now() });
    recordBetween(tx, clock, actor, 'payout_agreement.started', { id: begun.id, site, payoutAccount });
    await tx.flush();
    return await tx.populate(begun, whole.populate);
  });
}

/**
 * Ends the agreement, for the owner of the site or of the payout account, who need not have access to the site. Open
 * payments expire. Throws `address_change_pending`, `no_payout_account`, `owner_only`, `site_archived` to people of the
 * site, `not_found` to all others.
 */
export async function endAgreement(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
): Promise<WholeAgreement> {
  const { clock } = deps;
  const site = isId('site', siteId) ? await em.findOne(Site, { id: siteId }) : null;
  const agreement = site && (await agreementOf(em, site));
  const payoutOwner = agreement?.payoutAccount.account.id === actor.accountId;
  const siteOwner = site?.account.id === actor.accountId;
  if (site && siteOwner) requireScope(actor, { sites: [site.id] });
  if (!agreement || (!payoutOwner && !siteOwner)) throw await refusal(em, actor, siteId);
  if (site && !payoutOwner) requireActive(site);
  await requireSettledPayouts(em, deps, actor);
  const by = siteOwner ? 'site' : 'payout_account';
  const { id, payoutAccount } = agreement;
  await em.transactional(async (tx) => {
    if ((await endAgreements(tx, { id }, { by, now: clock.now() })) === 0) return;
    recordBetween(tx, clock, actor, 'payout_agreement.ended', { id, site: site as Site, payoutAccount });
  });
  await expireOpenPayments(em, clock, { payoutAccount: agreement.payoutAccount.id, site: agreement.site.id });
  return await em.findOneOrFail(PayoutAgreement, { id: agreement.id }, { ...whole, refresh: true });
}

/** The error for callers who cannot end the agreement, or if there is none. */
async function refusal(em: EntityManager, actor: Actor, siteId: string): Promise<AppError> {
  const site = await loadSite(em, actor, siteId);
  requireOwner(site, actor, 'detach its payout account');
  return takesNoMoney(site);
}

function requireSame(agreement: Awaited<ReturnType<typeof agreementOf>> & object, account: PayoutAccount) {
  if (agreement.payoutAccount.id === account.id) return agreement;
  throw errors.invalid_payout_account('The site already uses another payout account.', {
    nextAction: `Detach that payout account first with ${call('payout_agreement.end', { id: agreement.site })}.`,
  });
}

function notYourOwn(): AppError {
  return errors.invalid_payout_account('This account has no payout account with this id.', {
    nextAction: `Call ${call('payout.list')} to list your own payout accounts. To use one that belongs to a different account, create an offer with ${call('payout_offer.open_from_site')}.`,
  });
}

function takesNoMoney(site: Site): AppError {
  return errors.no_payout_account(
    `The site ${site.name} cannot accept payments yet because it has no payout account.`,
    {
      nextAction: `Attach a payout account with ${call('payout_agreement.attach', { id: site })}.`,
    },
  );
}
