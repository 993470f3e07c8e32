/** Mails about bookings. The visitor's address is stored only in them, encrypted, until they are sent. */

import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { FormField } from '#db/forms/form.ts';
import { queueFirstContact, queueFollowUp, queueNotice } from '#db/mail/limits.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, settleMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { notifyAddress } from '#db/sites/notify-address.ts';
import type { Site } from '#db/sites/site.ts';
import { isoLocal } from '#rules/bookings/time-zones.ts';
import { written } from '#rules/currencies.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import type { BookingFacts } from '#web/mails/booking.ts';
import { Bookable } from './bookable.ts';
import type { WholeBooking } from './booking.ts';
import type { VisitorContact } from './visitor-contact.ts';

type Deps = { clock: Clock; config: Config };

/**
 * Queues the mails of a confirmed booking: to the person who is notified on the site, and to the visitor, with a calendar
 * file. A visitor who has paid gets it whatever the limits of first e-mails.
 */
export async function queueBookingMails(
  tx: EntityManager,
  deps: Deps,
  { booking, site, contact }: { booking: WholeBooking; site: Site; contact: VisitorContact },
): Promise<void> {
  if (!deps.config.mail) return;
  const facts = { ...(await factsOf(tx, booking, site, deps.config)), ...(await paidFor(tx, booking)) };
  const bookable = await tx.findOne(Bookable, { site: site.id });
  await queueNotice(tx, deps, {
    kind: 'booking-taken',
    to: await addressOf(tx, site, bookable),
    replyTo: contact.email,
    data: {
      ...facts,
      visitor: { name: booking.visitorName, email: contact.email },
      intake: labelled(booking, bookable),
    },
    site,
  });
  const cancelUrl = `${deps.config.baseUrl}/b/${site.publicId}/cancel/${contact.cancelSecret}`;
  const mail = { kind: 'booking-confirmed', to: contact.email, data: { ...facts, cancelUrl }, site } as const;
  booking.mail = await (booking.paymentId
    ? queueFollowUp(tx, deps, booking.id, mail)
    : queueFirstContact(tx, deps, mail));
}

/**
 * Queues the mail about a cancellation: to the owner if the visitor cancelled; to the visitor if their confirmation is
 * still queued, which is then never sent. Afterwards the visitor's address is no longer stored.
 */
export async function queueCancellationMail(
  tx: EntityManager,
  deps: Deps,
  {
    booking,
    site,
    by,
    moneyBack,
  }: {
    booking: WholeBooking;
    site: Site;
    by: 'visitor' | 'site';
    moneyBack: { sum: string; way: 'automatic' | 'by the owner' } | null;
  },
): Promise<void> {
  const { clock, config } = deps;
  if (!config.mail) return;
  const facts = {
    ...(await factsOf(tx, booking, site, config)),
    moneyBack: moneyBack?.way === 'automatic' ? moneyBack.sum : null,
    moneyOwed: moneyBack?.way === 'by the owner' ? moneyBack.sum : null,
  };
  if (by === 'visitor') {
    const to = await addressOf(tx, site, await tx.findOne(Bookable, { site: site.id }));
    await queueNotice(tx, deps, {
      kind: 'booking-cancelled',
      to,
      data: { ...facts, to: 'site', visitorName: booking.visitorName },
      site,
    });
    return;
  }
  const mail = booking.mail && (await tx.findOne(Mail, { id: booking.mail.id, status: 'queued' }));
  if (!mail?.sealed) return;
  const { to } = decryptLetter({ id: mail.id, sealed: mail.sealed }, config.encryptionKeys);
  const failure = 'the booking was cancelled before the e-mail was sent';
  if (!(await settleMail(tx, clock, mail.id, { status: 'failed', failure }))) return;
  const data = { ...facts, to: 'visitor' as const, visitorName: booking.visitorName };
  booking.mail = await queueFollowUp(tx, deps, booking.id, { kind: 'booking-cancelled', to, data, site });
}

/**
 * Queues the mails about a charge that came too late for its booking and is refunded: to the owner, and to the visitor
 * if their address is stored.
 */
export async function queueReturnMails(
  tx: EntityManager,
  deps: Deps,
  {
    booking,
    site,
    payment,
    email,
  }: { booking: WholeBooking; site: Site; payment: { amount: number; currency: string }; email: string | null },
): Promise<void> {
  if (!deps.config.mail) return;
  const { amount, currency } = payment;
  const data = {
    ...(await factsOf(tx, booking, site, deps.config)),
    visitorName: booking.visitorName,
    amount,
    currency,
  };
  const to = await addressOf(tx, site, await tx.findOne(Bookable, { site: site.id }));
  await queueNotice(tx, deps, { kind: 'money-returned', to, data: { ...data, to: 'site' }, site });
  if (email === null) return;
  booking.mail = await queueFollowUp(tx, deps, booking.id, {
    kind: 'money-returned',
    to: email,
    data: { ...data, to: 'visitor' },
    site,
  });
}

async function paidFor(tx: EntityManager, { paymentId }: WholeBooking): Promise<{ paid?: string }> {
  if (!paymentId) return {};
  return { paid: written(await tx.findOneOrFail(Payment, { id: paymentId })) };
}

const addressOf = (tx: EntityManager, site: Site, bookable: Bookable | null) =>
  notifyAddress(tx, site, bookable?.notifyCollaboratorId);

async function factsOf(tx: EntityManager, booking: WholeBooking, site: Site, config: Config): Promise<BookingFacts> {
  const { calendar } = booking;
  return {
    id: booking.id,
    reference: booking.reference,
    ...(await canonicalUrl(tx, config, site)),
    title: site.title,
    service: booking.serviceName,
    calendar: calendar.name,
    timeZone: calendar.timeZone,
    start: isoLocal(calendar.timeZone, booking.startsAt.getTime()),
    end: isoLocal(calendar.timeZone, booking.endsAt.getTime()),
    seats: booking.seats,
    createdAt: booking.createdAt.toISOString(),
  };
}

/** The visitor's answers with the labels of their questions. */
function labelled({ intake, serviceKey }: WholeBooking, bookable: Bookable | null): (readonly [string, string])[] {
  const fields: FormField[] = bookable?.services.find(({ key }) => key === serviceKey)?.intake ?? [];
  return intake.map(([name, value]) => [
    fields.find((field) => field.name === name)?.label ?? name,
    [value].flat().join(', '),
  ]);
}
