/** Payout accounts, which receive visitors’ payments, and offers of them. */
import { html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type PayoutOfferShown, type PayoutsShown, payoutSections } from '#web/pages/payouts.ts';
import { accountPage, accountQuestion, type Frame } from './frame.ts';

/** `canAdd`: whether this service can add one. */
export function payoutsPage(frame: Frame, payouts: PayoutsShown, canAdd: boolean): WrittenPage {
  const isEmpty = payouts.offers.length === 0 && payouts.accounts.length === 0;
  const main = html`<div class="bar"><h1>Payouts</h1>${canAdd ? html`<div class="actions"><a class="button small" href="/account/payouts/new">Add a payout account</a></div>` : null}</div>
<p class="lead">A payout account receives your visitors’ payments.</p>
${isEmpty ? html`<p class="panel empty">${canAdd ? 'You have no payout account yet.' : 'Payments are not enabled on this service.'}</p>` : payoutSections(payouts, frame)}`;
  return accountPage(frame, 'payouts', { title: 'Payouts', main });
}

export function offerDeclinePage(frame: Frame, { id, hostname, accountName }: PayoutOfferShown): WrittenPage {
  const asked = {
    title: 'Decline this offer?',
    text: `Visitors’ payments on ${hostname} will not go to “${accountName}”. Only a new offer can change that.`,
    action: `/account/payout-offers/${id}/decline`,
    button: 'Decline the offer',
    back: '/account/payouts',
  };
  return accountQuestion(frame, 'payouts', asked);
}
