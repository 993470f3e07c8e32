/** Payout offers and accounts on the account's page of payouts, and how offers are answered there. */

import type { Person } from '#api/access.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { action, askedAction, showRefusal } from '#api/console/actions.ts';
import { type Console, frameOf } from '#api/console/frame.ts';
import { payoutsOf } from '#api/payouts/account-view.ts';
import type { EntityManager } from '#db/orm.ts';
import { openOffersFor } from '#db/payouts/offer-transitions.ts';
import { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import { PayoutOffer } from '#db/payouts/payout-offer.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { offerDeclinePage } from '#web/console/payouts.ts';
import type { PayoutsShown } from '#web/pages/payouts.ts';
import { whole } from './schemas.ts';

export function payoutOfferPages(console: Console): void {
  const { deps } = console;
  action(console, {
    path: '/account/payout-offers/:id/accept',
    operation: 'payout_offer.accept',
    input: ({ params: { id } }) => ({ id }),
    done: () => ({ to: '/account/payouts', notice: 'Accepted. Visitors’ payments now go there.' }),
    show: showRefusal,
  });

  askedAction(console, {
    page: 'payout_offer_decline',
    path: '/account/payout-offers/:id/decline',
    operation: 'payout_offer.end',
    async ask(request, reply, refused) {
      const { offers } = await payoutsShown(request.em, deps, request.actor);
      const offer = offers.find(({ id }) => id === request.params.id);
      if (!offer) throw errors.not_found('This offer is not open any more.');
      return offerDeclinePage(frameOf(request, reply, deps, refused), offer);
    },
    input: ({ params: { id } }) => ({ id }),
    done: () => ({ to: '/account/payouts', notice: 'Declined.' }),
  });
}

export async function payoutsShown(em: EntityManager, deps: Deps, { accountId }: Person): Promise<PayoutsShown> {
  if (!capabilitiesOf(deps.config).payouts) return { offers: [], accounts: [] };
  const { accounts } = await payoutsOf(em, deps, accountId);
  const newestFirst = { ...whole, orderBy: { id: 'desc' } } as const;
  const offers = await em.find(PayoutOffer, openOffersFor(accountId, deps.clock.now()), newestFirst);
  const ids = accounts.map(({ id }) => id);
  const active = await em.find(PayoutAgreement, { payoutAccount: { $in: ids }, endedAt: null }, { populate: ['site'] });
  return {
    offers: offers.map(({ id, site, payoutAccount, openedBy, expiresAt }) => ({
      id,
      hostname: siteHostname(deps.config, site.name),
      accountName: payoutAccount.name,
      yours: openedBy === 'site' ? 'payout_account' : 'site',
      expiresAt,
    })),
    accounts: accounts.map(({ id, name, keyLastFour, status, currency, waitingFor }) => ({
      id,
      name,
      keyLastFour: keyLastFour ?? null,
      ready: status === 'ready',
      currency: currency ?? null,
      waitingFor,
      hostnames: active
        .filter(({ payoutAccount }) => payoutAccount.id === id)
        .map(({ site }) => siteHostname(deps.config, site.name)),
    })),
  };
}
