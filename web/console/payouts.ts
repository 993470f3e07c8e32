/** Payout accounts, which receive visitors’ payments, and offers of them. */
import { html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type PayoutsShown, payoutSections } from '#web/pages/payouts.ts';
import { accountPage, type Frame } from './frame.ts';

export function payoutsPage(frame: Frame, payouts: PayoutsShown): WrittenPage {
  const isEmpty = payouts.offers.length === 0 && payouts.accounts.length === 0;
  const main = html`<h1>Payouts</h1>
<p class="lead">A payout account receives the payments of visitors.</p>
${isEmpty ? html`<p class="panel empty">There is no payout account yet. Your agent can add one.</p>` : payoutSections(payouts, frame)}`;
  return accountPage(frame, 'payouts', { title: 'Payouts', main });
}
