/** Payout offers and accounts on the account page, and its buttons. */

import type { Person } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { accountButton } from '#api/console/notices.ts';
import { payoutsOf } from '#api/payouts/account-view.ts';
import { pageOptions } from '#api/plugins/browser.ts';
import type { EntityManager } from '#db/orm.ts';
import { openOffersFor } from '#db/payouts/offer-transitions.ts';
import { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import { PayoutOffer } from '#db/payouts/payout-offer.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { PayoutsShown } from '#web/pages/payouts.ts';
import { whole } from './schemas.ts';
import { acceptOffer, endOffer } from './transitions.ts';

export function payoutOfferPages(app: Api, deps: Deps): void {
  accountButton(app, deps, {
    path: '/account/payout-offers/:id/accept',
    options: pageOptions('payout_offer.accept_on_page', 'payouts'),
    act: ({ em, actor, params }) => acceptOffer(em, deps, actor, params.id),
    to: '/account/payouts',
    notice: 'Accepted. Visitors’ payments now go there.',
  });

  accountButton(app, deps, {
    path: '/account/payout-offers/:id/decline',
    options: pageOptions('payout_offer.decline_on_page', 'payouts'),
    act: ({ em, actor, params }) => endOffer(em, deps, actor, params.id),
    to: '/account/payouts',
    notice: 'Declined.',
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
