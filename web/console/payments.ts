/** Payments of a site: the list, one payment, and a new link. */
import { written } from '#rules/currencies.ts';
import { hourMs } from '#rules/time.ts';
import { copyable } from '#web/copyable.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { exact } from '#web/times.ts';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { ago, button, choices, hiddenFields, olderLink } from './parts.ts';
import { sitePath } from './tabs.ts';

/** A payment, as the API answers it. Amounts are in the minor unit. */
export type PaymentRead = {
  id: string;
  amount: number;
  currency: string;
  reference: string | null;
  description: string | null;
  booking_id: string | null;
  status: 'open' | 'paid' | 'refunding' | 'refunded' | 'expired';
  pay_url: string;
  expires_at: string;
  paid_at: string | null;
  refunded_amount: number;
  refunded_at: string | null;
  created_at: string;
};
export type PaymentShown = PaymentRead & {
  /** What is in progress at the payment provider. */
  refunding_amount: number;
  closing: boolean;
  /** What can still be refunded. */
  refundable_amount: number;
  /** Whether the last refund was given up. */
  refund_failed: boolean;
  /** Oldest first; `at` is when each ended. */
  refunds: readonly { amount: number; at: Date | null; status: 'refunding' | 'refunded' | 'failed' }[];
  refund_mail: RefundMail | null;
  /** The name of the visitor whose booking it is for; null if it is not known. */
  payer: string | null;
};
/** The e-mail to the payer about the newest refund. `at`: when it is sent, if it has to wait. */
export type RefundMail = { status: 'queued' | 'sent' | 'failed' | 'none'; at: Date | null };

const statusWords = {
  open: 'Not paid yet',
  paid: 'Paid',
  refunding: 'Refund in progress',
  refunded: 'Refunded',
  expired: 'Link closed',
} as const satisfies Record<PaymentRead['status'], string>;

/** Its status, and the parts of a paid one that are refunded or being refunded. */
export function stateOf(payment: PaymentShown): string {
  const { status, refunded_amount: refunded, refunding_amount: refunding, currency } = payment;
  if (status === 'open' && payment.closing) return 'Link being closed';
  if (status !== 'paid') return statusWords[status];
  const sum = (amount: number) => written({ amount, currency });
  const left = payment.amount - refunded - refunding;
  return [
    statusWords.paid,
    ...(refunded > 0 ? [`${sum(refunded)} refunded`] : []),
    ...(refunding > 0 ? [`refund of ${sum(refunding)} in progress`] : []),
    ...(left > 0 && left < payment.amount ? [`${sum(left)} remain`] : []),
  ].join(', ');
}

/** Whether its status changes soon, without anybody's doing. */
export const isChanging = ({ status, closing, refunding_amount: refunding }: PaymentShown): boolean =>
  status === 'refunding' || (status === 'open' && closing) || (status === 'paid' && refunding > 0);

/** Each refund in one line, for the facts of a payment and of its booking; null if there is none. */
export function refundLines(
  { refunds, currency }: Pick<PaymentShown, 'refunds' | 'currency'>,
  timeOf: (at: Date) => string = exact,
): Html | null {
  if (refunds.length === 0) return null;
  const lines = refunds.map(({ amount, at, status }) => {
    const when = at ? ` on ${timeOf(at)}` : '';
    return html`<span class="line">${written({ amount, currency })} ${refundWords[status]}${when}</span>`;
  });
  return html`<dt>${refunds.length === 1 ? 'Refund' : 'Refunds'}</dt><dd>${lines}</dd>`;
}

const refundWords = {
  refunding: 'is being refunded',
  refunded: 'refunded',
  failed: 'not refunded: this failed',
} as const;

/** What the payer gets or got about the newest refund. */
function refundMailWords({ refund_mail: mail }: PaymentShown): string | null {
  if (mail?.at)
    return `The payer gets an e-mail about the newest refund on ${exact(mail.at)}: we send one person only so many e-mails an hour.`;
  return mail && mailWords[mail.status];
}

const mailWords = {
  queued: 'The payer is getting an e-mail about the newest refund.',
  sent: 'The payer got an e-mail about the newest refund.',
  failed: 'The e-mail to the payer about the newest refund could not be delivered. Please tell them yourself.',
  none: 'The payer got no e-mail about the newest refund, because we have no address for them. Please tell them yourself.',
} as const satisfies Record<RefundMail['status'], string>;

export const sumOf = (payment: PaymentShown): string => written(payment);
const payerOf = ({ payer }: PaymentShown): string => payer ?? 'Payer not given';
export const whatFor = ({ description, reference }: PaymentShown): string => description ?? reference ?? 'Payment';

export type PaymentsView = {
  payments: readonly PaymentShown[];
  status: PaymentShown['status'] | null;
  cursor: string | null;
  /** Why no payment can be requested; null if it can. */
  obstacle: string | null;
  /** The owner's accounts that could receive the payments of this site. */
  accounts: readonly { id: string; name: string }[];
};

export function paymentsPage(
  frame: SiteFrame,
  { payments, status, cursor, obstacle, accounts }: PaymentsView,
): WrittenPage {
  const base = sitePath(frame.site.id, 'payments');
  const link = (one: string | null) => (one === null ? base : `${base}?status=${one}`);
  const filters = [null, ...(Object.keys(statusWords) as PaymentShown['status'][])].map((one) => ({
    href: link(one),
    words: one === null ? 'All' : statusWords[one],
    current: one === status,
  }));
  const rows = payments.map(
    (payment) => html`<li>
<div><strong><a href="${base}/${payment.id}">${whatFor(payment)}</a></strong>
<small>${payerOf(payment)} · ${stateOf(payment)} · ${ago(payment.paid_at ?? payment.created_at, frame.now)}${payment.description && payment.reference ? html` · ${payment.reference}` : null}</small></div>
<span class="sum">${sumOf(payment)}</span>
</li>`,
  );
  const main = html`<div class="bar"><h1>Payments</h1>${obstacle ? null : html`<div class="actions"><a class="button small" href="${base}/new">New payment link</a></div>`}</div>
${obstacle ? html`<div class="panel"><p>${obstacle}</p>${accountChoice(frame, accounts)}</div>` : null}
${payments.length === 0 && status === null ? null : choices('Status', filters)}
${rows.length === 0 ? html`<p class="panel empty">${status === null ? `No payments yet.${obstacle ? '' : ' Send somebody a payment link, or let visitors pay for bookings.'}` : 'No payments with this status.'}</p>` : html`<ul class="rows">${rows}</ul>`}
${olderLink(link(status), cursor)}`;
  return sitePage(frame, 'payments', { title: 'Payments', main });
}

function accountChoice({ form, site }: SiteFrame, accounts: PaymentsView['accounts']): Html | null {
  if (site.role !== 'owner') return null;
  if (accounts.length === 0) return html`<p><a href="/account/payouts">Your payout accounts</a></p>`;
  const action = `${sitePath(site.id, 'payments')}/payout-account`;
  return html`<div class="actions">${accounts.map(({ id, name }) => button(form, action, `Use ${name}`, { hidden: { account: id } }))}</div>`;
}

export function paymentPage(frame: SiteFrame, payment: PaymentShown): WrittenPage {
  const base = sitePath(frame.site.id, 'payments');
  const { id, status, booking_id: bookingId, reference, pay_url: url, expires_at, paid_at } = payment;
  const isOwner = frame.site.role === 'owner';
  const mailed = refundMailWords(payment);
  const progress = html` data-progress="${base}/${id}/progress"`;
  const main = html`${refundNotice(frame, payment)}<h1>${whatFor(payment)}</h1>
<div class="panel"><dl class="facts">
<dt>Amount</dt><dd><strong>${sumOf(payment)}</strong></dd>
<dt>Payer</dt><dd>${payment.payer ?? 'Not given'}</dd>
<dt>Status</dt><dd${isChanging(payment) ? progress : null}><span data-status>${stateOf(payment)}</span></dd>
${status === 'open' ? html`<dt>Payment link</dt><dd>${copyable(url, 'the payment link')}</dd><dt>Expires</dt><dd>${exact(new Date(expires_at))}</dd>` : null}
${paid_at ? html`<dt>Paid</dt><dd>${exact(new Date(paid_at))}</dd>` : null}
${refundLines(payment)}
${reference ? html`<dt>Your reference</dt><dd>${reference}</dd>` : null}
${bookingId ? html`<dt>Booking</dt><dd><a href="${sitePath(frame.site.id, 'bookings')}/${bookingId}">See the booking</a></dd>` : null}
<dt>Created</dt><dd>${ago(payment.created_at, frame.now)}</dd>
</dl></div>
${mailed === null ? null : html`<p class="hint">${mailed}</p>`}
${payment.refund_failed ? html`<p class="fault">The last refund failed. You can start it again.</p>` : null}
${status === 'open' && !payment.closing ? html`<p class="hint">Send the link to the person who pays.</p><div class="actions"><a class="button quiet small" href="${base}/${id}/close">Cancel the payment request</a></div>` : null}
${payment.refundable_amount > 0 && isOwner ? html`<div class="actions"><a class="button quiet small" href="${base}/${id}/refund">Refund</a></div>` : null}
${status === 'paid' && !isOwner ? html`<p class="hint">Only the owner of the site can refund a payment.</p>` : null}`;
  const refresh = isChanging(payment) ? { modules: ['/account/scripts/progress.js'], refreshSeconds: 5 } : {};
  return sitePage(frame, 'payments', { title: whatFor(payment), main, copies: true, ...refresh });
}

/** The page is loaded again once the refund is made, and then no longer has the notice of the form. */
function refundNotice(
  { now, notice }: SiteFrame,
  { refunds, amount, refunded_amount: refunded, currency }: PaymentShown,
) {
  const last = refunds.at(-1);
  if (notice !== null || last?.status !== 'refunded' || !last.at || now.getTime() - last.at.getTime() > hourMs)
    return null;
  const sum = (part: number) => written({ amount: part, currency });
  const rest = refunded < amount ? ` ${sum(amount - refunded)} remain.` : '';
  return html`<p class="notice" role="status">${sum(last.amount)} is refunded.${rest}</p>`;
}

export function closingPage(frame: SiteFrame, payment: PaymentShown): WrittenPage {
  const path = `${sitePath(frame.site.id, 'payments')}/${payment.id}`;
  const asked = {
    title: 'Cancel this payment request?',
    text: html`The link for “${whatFor(payment)}” will no longer accept the payment of <strong>${sumOf(payment)}</strong>.${payment.booking_id ? ' The booking that is waiting for this payment ends too.' : null} Nobody gets an e-mail: the page of the link says that it is closed.`,
    action: `${path}/close`,
    button: 'Cancel the payment request',
    back: path,
  };
  return siteQuestion(frame, 'payments', asked);
}

/** `currency`: that of the payout account. */
export function newPaymentPage(frame: SiteFrame, currency: string): WrittenPage {
  const action = `${sitePath(frame.site.id, 'payments')}/new`;
  const field = fieldsOf(frame, action);
  const inside = html`${hiddenFields({ currency })}
${field({ name: 'amount', label: `Amount, in ${currency}`, required: true, max: 20, hint: 'For example 25 or 1,250.00. Your agent can request other currencies.' })}
${field({ name: 'description', label: 'What the payment is for', max: 200, hint: 'The payer sees this.' })}
${field({ name: 'reference', label: 'Your reference', max: 500, hint: 'For example an invoice number. The payer does not see it.' })}
<button>Create the link</button>`;
  const main = html`<h1>New payment link</h1>
<p class="lead">You get a link to send to the person who pays: we do not e-mail it. It is valid for 30 days. Once it is paid, the payer gets a receipt by e-mail.</p>
<section class="panel">${frame.form({ action }, inside)}</section>`;
  return sitePage(frame, 'payments', { title: 'New payment link', main });
}
