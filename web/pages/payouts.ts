/** Payouts on the account page: open offers, and the payout accounts. */
import { type Html, html } from '#web/html.ts';
import { relative } from '#web/times.ts';
import type { Form } from './form.ts';

export type PayoutOfferShown = {
  id: string;
  hostname: string;
  accountName: string;
  /** What the reader owns: the site or the payout account. */
  yours: 'site' | 'payout_account';
  expiresAt: Date;
};
export type PayoutAccountShown = {
  id: string;
  name: string;
  keyLastFour: string | null;
  ready: boolean;
  currency: string | null;
  waitingFor: string[];
  hostnames: string[];
};
export type PayoutsShown = { offers: PayoutOfferShown[]; accounts: PayoutAccountShown[] };

/** Empty if there are no offers and no accounts. */
export function payoutSections({ offers, accounts }: PayoutsShown, { form, now }: { form: Form; now: Date }): Html {
  return html`${offers.length > 0 ? offerList(offers, form, now) : null}
${accounts.length > 0 ? accountList(accounts) : null}`;
}

function offerList(offers: PayoutOfferShown[], form: Form, now: Date): Html {
  return html`<section>
<h2>Payout offers</h2>
<ul class="rows">${offers.map(
    (offer) => html`<li>
<div><strong>${offer.hostname}</strong><small>${question(offer)} The offer expires ${relative(offer.expiresAt, now)}.</small></div>
<a class="button quiet small" href="/account/payout-offers/${offer.id}/decline">Decline</a>
${form({ action: `/account/payout-offers/${offer.id}/accept`, inline: true }, html`<button class="small">Accept</button>`)}
</li>`,
  )}</ul>
</section>`;
}

function question({ accountName, yours }: PayoutOfferShown): Html {
  if (yours === 'payout_account') {
    return html`The site’s owner would like visitors’ payments to go to your payout account “${accountName}”.`;
  }
  return html`Someone else has offered their payout account “${accountName}”: they would receive the payments that visitors make on your site. Accept only if you know them.`;
}

function accountList(accounts: PayoutAccountShown[]): Html {
  return html`<section>
<h2>Payout accounts</h2>
<ul class="rows">${accounts.map(
    (account) => html`<li>
<div><strong><a href="/account/payouts/${account.id}">${account.name}</a></strong><small>${stateOf(account)}${account.keyLastFour ? ` · key …${account.keyLastFour}` : ''}</small></div>
<small>${account.hostnames.length > 0 ? account.hostnames.join(', ') : 'no sites yet'}</small>
</li>`,
  )}</ul>
</section>`;
}

function stateOf({ ready, currency, waitingFor }: PayoutAccountShown): string {
  if (ready) return readyWords(currency);
  return waitingFor.length > 0 ? `Waiting for: ${waitingFor.join('; ')}` : 'Not ready yet';
}

/** Of an account that can receive payments. */
export const readyWords = (currency: string | null): string =>
  currency
    ? `Ready to receive ${currency}`
    : 'Almost ready: the payment provider has yet to say in which currency it pays';
