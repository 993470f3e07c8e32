/**
 * Mails about bookings. The visitor's address is stored only in them, encrypted, until they are sent, and in the one
 * prepared mail of a booking whose visitor wants to be notified of something.
 */

import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { FormField } from '#db/forms/form.ts';
import { queueFirstContact, queueFollowUp, queueNotice } from '#db/mail/limits.ts';
import type { Mail } from '#db/mail/mail.ts';
import { settleMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { paymentNotice } from '#db/payments/notices.ts';
import { Payment } from '#db/payments/payment.ts';
import { isOpen } from '#db/sites/blocks.ts';
import { notifyAddress, replyAddress } from '#db/sites/notify-address.ts';
import type { Site } from '#db/sites/site.ts';
import { whereaboutsOf } from '#rules/bookings/places.ts';
import { isoLocal } from '#rules/bookings/time-zones.ts';
import { written } from '#rules/currencies.ts';
import { mailTitleOf } from '#rules/mail-titles.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { type OwnerPath, ownerPage } from '#runtime/owner-pages.ts';
import type { BookingFacts } from '#web/mails/booking.ts';
import { Bookable } from './bookable.ts';
import type { WholeBooking } from './booking.ts';
import { prepareMail, reminderOf } from './prepared-mails.ts';
import type { VisitorContact } from './visitor-contact.ts';

type Deps = { clock: Clock; config: Config };
type Confirmed = { booking: WholeBooking; site: Site; contact: VisitorContact };

/**
 * Queues the mails of a confirmed booking: to the person who is notified on the site, and to the visitor, with a calendar
 * file. A visitor who has paid gets it whatever the limits of first e-mails.
 */
export async function queueBookingMails(
  tx: EntityManager,
  deps: Deps,
  { booking, site, contact }: Confirmed,
): Promise<void> {
  if (!deps.config.mail) return;
  const facts = { ...(await factsOf(tx, booking, site, deps.config)), ...(await paidFor(tx, booking)) };
  const bookable = await bookableOf(tx, site);
  booking.mail = await queueConfirmation(tx, deps, { booking, site, contact, facts });
  // A stranger's address that a limit protects gets no later e-mail either.
  const isProtected = booking.mail.status === 'failed';
  if (!isProtected) prepareMail(tx, deps, booking, contact);
  booking.notice = await queueNotice(tx, deps, {
    kind: 'booking-taken',
    to: await addressOf(tx, site, bookable),
    replyTo: contact.email,
    data: {
      ...facts,
      visitor: { name: booking.visitorName, email: contact.email },
      intake: labelled(booking, bookable),
      isVisitorNotified: !isProtected && (contact.notifyChanges ?? false),
      account: ownerPageOf(deps.config, booking),
    },
    site,
  });
}

/** Queues the visitor's confirmation. It has failed already where a limit of first e-mails is reached. */
async function queueConfirmation(
  tx: EntityManager,
  deps: Deps,
  { booking, site, contact, facts }: Confirmed & { facts: BookingFacts & { paid?: string } },
): Promise<Mail> {
  const cancelUrl = `${deps.config.baseUrl}/b/${site.publicId}/cancel/${contact.cancelSecret}`;
  // An unsent pay link is of no use any more.
  const failure = 'the booking was confirmed before the e-mail was sent';
  if (booking.mail) await settleMail(tx, deps.clock, booking.mail.id, { status: 'failed', failure });
  const isReminded = Boolean(contact.remind && reminderOf(booking, deps.clock.now()));
  const wishes = { isNotified: contact.notifyChanges ?? false, isReminded };
  const data = { ...facts, ...wishes, ...zoneOf(contact), cancelUrl };
  const mail = { kind: 'booking-confirmed', ...(await toVisitor(tx, site, contact.email)), data, site } as const;
  return await (booking.paymentId ? queueFollowUp(tx, deps, booking.id, mail) : queueFirstContact(tx, deps, mail));
}

/** Queues the mail with the link at which the visitor of a hold pays, within the limits of first e-mails. */
export async function queueHoldMail(
  tx: EntityManager,
  deps: Deps,
  { booking, site, contact, payUrl }: { booking: WholeBooking; site: Site; contact: VisitorContact; payUrl: string },
): Promise<void> {
  const { price, holdExpiresAt: until } = booking;
  if (!deps.config.mail || !price || !until) return;
  const facts = { ...(await factsOf(tx, booking, site, deps.config)), ...zoneOf(contact) };
  const data = { ...facts, total: written(price), payUrl, holdExpiresAt: until.toISOString() };
  const visitor = await toVisitor(tx, site, contact.email);
  booking.mail = await queueFirstContact(tx, deps, { kind: 'booking-held', ...visitor, data, until, site });
}

type Returned = {
  booking: WholeBooking;
  site: Site;
  payment: { amount: number; currency: string };
  contact: VisitorContact | null;
};

/**
 * Queues the mails about a charge that came too late for its booking and is refunded: to the owner, and to the visitor
 * if their address is stored.
 */
export async function queueReturnMails(
  tx: EntityManager,
  deps: Deps,
  { booking, site, payment, contact }: Returned,
): Promise<void> {
  if (!deps.config.mail) return;
  const { amount, currency } = payment;
  const data = {
    ...(await factsOf(tx, booking, site, deps.config)),
    visitorName: booking.visitorName,
    amount,
    currency,
  };
  const notice = await paymentNotice(tx, deps.config, site, {
    collaboratorId: (await bookableOf(tx, site))?.notifyCollaboratorId,
    path: pathOf(booking),
  });
  if (notice) {
    const { to, ...links } = notice;
    await queueNotice(tx, deps, { kind: 'money-returned', to, data: { ...data, to: 'site', ...links }, site });
  }
  if (!contact) return;
  const { to, ...reply } = await toVisitor(tx, site, contact.email);
  booking.mail = await queueFollowUp(tx, deps, booking.id, {
    kind: 'money-returned',
    to,
    ...reply,
    data: { ...data, ...zoneOf(contact), ...reply, to: 'visitor' },
    site,
  });
}

async function paidFor(tx: EntityManager, { paymentId }: WholeBooking): Promise<{ paid?: string }> {
  if (!paymentId) return {};
  return { paid: written(await tx.findOneOrFail(Payment, { id: paymentId })) };
}

export const bookableOf = (tx: EntityManager, site: Site) => tx.findOne(Bookable, { site: site.id });

/** The recipient of a mail to a visitor, and the address to which they reply if the site has one. */
export async function toVisitor(tx: EntityManager, site: Site, to: string): Promise<{ to: string; replyTo?: string }> {
  const replyTo = await replyAddress(tx, site, (await bookableOf(tx, site))?.replyToId);
  return { to, ...(replyTo === null ? {} : { replyTo }) };
}

/** The address that is notified of the site's bookings. */
export const addressOf = (tx: EntityManager, site: Site, bookable: Bookable | null) =>
  notifyAddress(tx, site, bookable?.notifyCollaboratorId);

/** What mails about the booking say of it. */
export async function factsOf(
  tx: EntityManager,
  booking: WholeBooking,
  site: Site,
  config: Config,
): Promise<BookingFacts> {
  const { calendar } = booking;
  const { place, link } = whereaboutsOf(booking, calendar);
  const url = await canonicalUrl(tx, config, site);
  return {
    id: booking.id,
    reference: booking.reference,
    ...url,
    ...(isOpen(site) ? {} : { isClosed: true }),
    title: mailTitleOf(site.title, url.hostname),
    service: booking.serviceName,
    calendar: calendar.name,
    timeZone: calendar.timeZone,
    start: isoLocal(calendar.timeZone, booking.startsAt.getTime()),
    end: isoLocal(calendar.timeZone, booking.endsAt.getTime()),
    seats: booking.seats,
    ...(place === null ? {} : { place }),
    // Only a confirmed booking may show it.
    ...(link === null || booking.status !== 'confirmed' ? {} : { link }),
    createdAt: booking.createdAt.toISOString(),
    ...(booking.movedAt ? { moves: booking.moves, movedAt: booking.movedAt.toISOString() } : {}),
  };
}

const pathOf = ({ id, site }: WholeBooking): OwnerPath => `/account/sites/${site.id}/bookings/${id}`;

/** The owner's page of the booking; null where owners cannot sign in. */
export const ownerPageOf = (config: Config, booking: WholeBooking) => ownerPage(config, pathOf(booking));

/** The visitor's own time zone, if it is known. */
export function zoneOf({ timeZone }: Pick<VisitorContact, 'timeZone'>): { visitorZone?: string } {
  return timeZone === undefined ? {} : { visitorZone: timeZone };
}

/** The visitor's answers with the labels of their questions. */
function labelled({ intake, serviceKey }: WholeBooking, bookable: Bookable | null): (readonly [string, string])[] {
  const fields: FormField[] = bookable?.services.find(({ key }) => key === serviceKey)?.intake ?? [];
  return intake.map(([name, value]) => [
    fields.find((field) => field.name === name)?.label ?? name,
    [value].flat().join(', '),
  ]);
}
