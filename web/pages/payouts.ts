/** What the owner's page says of money: offers that wait for an answer, and the accounts that it lands in. */

import { type Html, html } from '#web/html.ts';
import { relative } from '#web/times.ts';
import type { Form } from './form.ts';

export type PayoutOfferShown = {
  id: string;
  hostname: string;
  accountName: string;
  /** Whose money it is: the site, or the account, that is the reader's. */
  yours: 'site' | 'payout_account';
  expiresAt: Date;
};
export type PayoutAccountShown = {
  name: string;
  keyLastFour: string | null;
  ready: boolean;
  currency: string | null;
  waitingFor: string[];
  hostnames: string[];
};
export type PayoutsShown = { offers: PayoutOfferShown[]; accounts: PayoutAccountShown[] };

/** Nothing where there is nothing to say. */
export function payoutSections({ offers, accounts }: PayoutsShown, { form, now }: { form: Form; now: Date }): Html {
  return html`${offers.length > 0 ? offerList(offers, form, now) : null}
${accounts.length > 0 ? accountList(accounts) : null}`;
}

function offerList(offers: PayoutOfferShown[], form: Form, now: Date): Html {
  return html`<section>
<h2>Offers about money</h2>
<ul class="rows">${offers.map(
    (offer) => html`<li>
<div><strong>${offer.hostname}</strong><small>${question(offer)} Ends ${relative(offer.expiresAt, now)}.</small></div>
${form({ action: `/account/payout-offers/${offer.id}/decline`, inline: true }, html`<button class="quiet small">Decline</button>`)}
${form({ action: `/account/payout-offers/${offer.id}/accept`, inline: true }, html`<button class="small">Accept</button>`)}
</li>`,
  )}</ul>
</section>`;
}

function question({ accountName, yours }: PayoutOfferShown): Html {
  if (yours === 'payout_account') {
    return html`Its owner asks that what visitors pay there lands in your account “${accountName}”.`;
  }
  return html`Somebody else offers their account “${accountName}”: what visitors pay on your site would go to them. Accept only if you know who it is.`;
}

function accountList(accounts: PayoutAccountShown[]): Html {
  return html`<section>
<h2>Where money lands</h2>
<ul class="rows">${accounts.map(
    (account) => html`<li>
<div><strong>${account.name}</strong><small>${stateOf(account)}${account.keyLastFour ? ` · key …${account.keyLastFour}` : ''}</small></div>
<small>${account.hostnames.length > 0 ? account.hostnames.join(', ') : 'no site yet'}</small>
</li>`,
  )}</ul>
</section>`;
}

function stateOf({ ready, currency, waitingFor }: PayoutAccountShown): string {
  if (ready) return currency ? `takes money in ${currency}` : 'waits for a currency';
  return waitingFor.length > 0 ? `waits for: ${waitingFor.join('; ')}` : 'takes no money yet';
}
