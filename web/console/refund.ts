/** The refund of a payment: its amount, and the question before it. */
import { typedAmount, written } from '#rules/currencies.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { exact } from '#web/times.ts';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { type PaymentShown, paymentPage, refundLines, sumOf, whatFor } from './payments.ts';
import { sitePath } from './tabs.ts';

/** Asks for the amount, and then before it acts. `amount`: what was typed. The payment itself where nothing is left to refund. */
export function refundPage(frame: SiteFrame, payment: PaymentShown, amount: number | null): WrittenPage {
  const { refundable_amount: left } = payment;
  if (left === 0) return paymentPage(frame, payment);
  return amount !== null && amount > 0 && amount <= left
    ? refundQuestion(frame, payment, amount)
    : refundForm(frame, payment);
}

const refundPath = ({ site }: SiteFrame, { id }: PaymentShown) => `${sitePath(site.id, 'payments')}/${id}/refund`;

function refundForm(frame: SiteFrame, payment: PaymentShown): WrittenPage {
  const { currency, refundable_amount: left } = payment;
  const all = written({ amount: left, currency });
  const path = refundPath(frame, payment);
  const field = fieldsOf(frame, path);
  const amount = field({
    name: 'amount',
    label: `Amount to refund, in ${currency}`,
    hint: `At most ${all}. Nothing is refunded yet: you confirm it on the next page.`,
    required: true,
    max: 20,
  });
  const main = html`<h1>Refund a payment</h1>
<div class="panel">${refundFacts(payment)}${payment.booking_id ? html`<p class="hint">${bookingStays(frame, payment.booking_id)}</p>` : null}</div>
<form class="panel" method="get" action="${path}">${amount}<button>Continue</button></form>
<div class="actions"><a class="button quiet small" href="${path}?amount=${encodeURIComponent(typedAmount({ amount: left, currency }))}">Refund all ${all}</a></div>`;
  return sitePage(frame, 'payments', { title: 'Refund a payment', main });
}

function refundQuestion(frame: SiteFrame, payment: PaymentShown, amount: number): WrittenPage {
  const { currency, refundable_amount: left, booking_id: bookingId } = payment;
  const path = refundPath(frame, payment);
  const [sum, rest] = [written({ amount, currency }), written({ amount: left - amount, currency })];
  return siteQuestion(frame, 'payments', {
    title: `Refund ${sum}?`,
    facts: refundFacts(payment),
    text: html`${amount === left ? 'This is all that is left.' : `${rest} remain with you.`} The money goes back the way it was paid, within 5 to 10 days. The payer gets an e-mail once the refund is complete, if the payment provider has their address.${bookingId ? bookingStays(frame, bookingId) : null}`,
    action: path,
    hidden: { amount: typedAmount({ amount, currency }) },
    button: `Refund ${sum}`,
    back: path,
  });
}

function refundFacts(payment: PaymentShown): Html {
  const { currency, refundable_amount: left, paid_at: paidAt } = payment;
  return html`<dl class="facts"><dt>Payment</dt><dd>${whatFor(payment)}</dd>
<dt>Payer</dt><dd>${payment.payer ?? 'Not given'}</dd>
<dt>Paid</dt><dd>${sumOf(payment)}${paidAt ? ` on ${exact(new Date(paidAt))}` : null}</dd>
${refundLines(payment) ?? html`<dt>Refunds</dt><dd>None so far</dd>`}
<dt>Left to refund</dt><dd><strong>${written({ amount: left, currency })}</strong></dd></dl>`;
}

const bookingStays = ({ site }: SiteFrame, id: string): Html =>
  html` The booking stays valid and keeps its time. To free the time, <a href="${sitePath(site.id, 'bookings')}/${id}/cancel">cancel the booking</a> instead, which also refunds all that is left.`;
