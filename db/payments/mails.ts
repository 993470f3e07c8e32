/** E-mails about payments. A payer's address is read from the provider when it is needed, and stored only in the mail. */
import { Bookable } from '#db/bookings/bookable.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import { queueFollowUp, queueNotice } from '#db/mail/limits.ts';
import { Mail } from '#db/mail/mail.ts';
import type { EntityManager } from '#db/orm.ts';
import { isOpen } from '#db/sites/blocks.ts';
import { replyAddress } from '#db/sites/notify-address.ts';
import { Site } from '#db/sites/site.ts';
import { isLinked } from '#rules/addresses-in-text.ts';
import { written } from '#rules/currencies.ts';
import { mailTitleOf } from '#rules/mail-titles.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import type { PaymentFacts } from '#web/mails/payments.ts';
import { paymentNotice } from './notices.ts';
import type { Payment } from './payment.ts';
import { bookingsOf, descriptionOf } from './subject.ts';

export type MailDeps = { clock: Clock; config: Config };

/** To the site's address for notices, and a receipt to the payer. A booking has e-mails of its own. */
export async function queuePaidMails(
  tx: EntityManager,
  deps: MailDeps,
  payment: Payment,
  email: string | null,
): Promise<void> {
  if (!deps.config.mail) return;
  const { site, facts, notice } = await aboutOf(tx, deps, payment);
  const replyTo = email === null ? {} : { replyTo: email };
  const data = { ...facts, paid: written(payment) };
  if (notice) {
    const { to, ...links } = notice;
    const received = { ...data, reference: payment.reference ?? null, payer: email, ...links };
    await queueNotice(tx, deps, { kind: 'payment-received', to, ...replyTo, data: received, site });
  }
  if (email === null) return;
  await queueFollowUp(tx, deps, payment.id, { kind: 'payment-receipt', to: email, data: forPayer(data), site });
}

/** To the payer, if the address is known. `isCancelled`: because the paid booking was cancelled. */
export async function queueRefundMail(
  tx: EntityManager,
  deps: MailDeps,
  payment: Payment,
  { email, amount, isCancelled = false }: { email: string | null; amount: number; isCancelled?: boolean },
): Promise<void> {
  if (!deps.config.mail || email === null) return;
  const { site, facts, replyTo, booking } = await aboutOf(tx, deps, payment);
  const now = deps.clock.now();
  const { currency } = payment;
  const before = payment.refundedAmount - amount;
  const data = {
    ...facts,
    ...replyTo,
    paid: written(payment),
    refunded: written({ amount, currency }),
    refundedAt: now.toISOString(),
    isCancelled,
    isBookingValid: !isCancelled && booking?.status === 'confirmed' && booking.endsAt > now,
    refundedBefore: before > 0 ? written({ amount: before, currency }) : null,
  };
  const mail = { kind: 'payment-refunded', to: email, ...replyTo, data: forPayer(data), site } as const;
  await queueFollowUp(tx, deps, payment.id, mail);
}

/** The e-mail to the payer about the refund that completed the payment's refunds. Null if there is none, or not yet. */
export async function refundMailOf(em: EntityManager, { id, refundedAt }: Payment): Promise<Mail | null> {
  if (!refundedAt) return null;
  // A mail about a payment stores the payment's id where one about a booking stores the booking's.
  const ofPayment = { bookingId: id, kind: 'payment-refunded', createdAt: { $gte: refundedAt } } as const;
  const [mail] = await em.find(Mail, ofPayment, { orderBy: { id: 'desc' }, limit: 1, refresh: true });
  return mail ?? null;
}

/** Tells the site's people, in their inbox and by e-mail, that a refund was given up. */
export async function queueRefundFailed(
  tx: EntityManager,
  deps: MailDeps,
  payment: Payment,
  amount: number,
): Promise<void> {
  await notifyInbox(tx, payment.site.id);
  if (!deps.config.mail) return;
  const { site, facts, notice } = await aboutOf(tx, deps, payment);
  if (!notice) return;
  const { to, ...links } = notice;
  const { currency, reference = null } = payment;
  const data = { ...facts, paid: written(payment), owed: written({ amount, currency }), reference, ...links };
  await queueNotice(tx, deps, { kind: 'refund-failed', to, data, site });
}

/** Anybody's address can be typed at checkout: the mail has no description that may become a link, such as a service's name. */
function forPayer<Facts extends { description: string | null }>(facts: Facts): Facts {
  return {
    ...facts,
    description: facts.description !== null && isLinked(facts.description) ? null : facts.description,
  };
}

async function aboutOf(tx: EntityManager, { config }: MailDeps, payment: Payment) {
  const site = await tx.findOneOrFail(Site, { id: payment.site.id });
  const bookable = await tx.findOne(Bookable, { site: site.id });
  const booking = (await bookingsOf(tx, [payment.id])).get(payment.id);
  const url = await canonicalUrl(tx, config, site);
  const facts: Omit<PaymentFacts, 'paid'> = {
    id: payment.id,
    ...url,
    ...(isOpen(site) ? {} : { isClosed: true }),
    title: mailTitleOf(site.title, url.hostname),
    description: descriptionOf(payment, booking),
    paidAt: (payment.paidAt ?? payment.createdAt).toISOString(),
    ...(booking ? { timeZone: booking.calendar.timeZone } : {}),
  };
  const reply = booking && (await replyAddress(tx, site, bookable?.replyToId));
  return {
    site,
    facts,
    booking,
    /** Of mails to the visitor who paid for a booking. */
    replyTo: reply ? { replyTo: reply } : {},
    notice: await paymentNotice(tx, config, site, {
      collaboratorId: bookable?.notifyCollaboratorId,
      path: `/account/sites/${site.id}/payments/${payment.id}`,
    }),
  };
}
