/** Mails about a booking that the site's people or the visitor moved. */
import { queueFollowUp, queueNotice } from '#db/mail/limits.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, settleMail, withText } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { isoLocal } from '#rules/bookings/time-zones.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import type { WholeBooking } from './booking.ts';
import { addressOf, bookableOf, factsOf, ownerPageOf, toVisitor, zoneOf } from './mails.ts';
import { readContact, reminderOf } from './prepared-mails.ts';
import { type Addressee, withdrawReminder, zoneIn } from './reminders.ts';

const failure = 'the booking was moved before the e-mail was sent';

type Deps = { clock: Clock; config: Config };
type Moved = {
  booking: WholeBooking;
  site: Site;
  before: { startsAt: Date; timeZone: string };
  by: 'visitor' | 'site';
};

/**
 * Queues a mail to the site's address for booking notices, and one to the visitor who asked for it, or whose confirmation
 * or reminder is still queued, which is then never sent.
 */
export async function queueMoveMails(tx: EntityManager, deps: Deps, moved: Moved): Promise<void> {
  const { booking, site, before, by } = moved;
  if (!deps.config.mail || booking.kind === 'block') return;
  const visitor = await visitorToNotify(tx, deps, moved);
  const data = {
    ...(await factsOf(tx, booking, site, deps.config)),
    before: { start: isoLocal(before.timeZone, before.startsAt.getTime()), timeZone: before.timeZone },
    by,
  };
  await withdrawNotice(tx, deps.clock, booking);
  booking.notice = await queueNotice(tx, deps, {
    kind: 'booking-moved',
    to: await addressOf(tx, site, await bookableOf(tx, site)),
    data: {
      ...data,
      to: 'site',
      visitorName: booking.visitorName,
      isVisitorNotified: visitor !== null,
      wasNoticed: !booking.createdById && booking.status === 'confirmed',
      account: ownerPageOf(deps.config, booking),
    },
    site,
  });
  if (!visitor) return;
  const { to, ...more } = visitor;
  booking.mail = await queueFollowUp(tx, deps, booking.id, {
    kind: 'booking-moved',
    ...(await toVisitor(tx, site, to)),
    data: { ...data, ...more, to: 'visitor' },
    site,
  });
}

/** The notice of an earlier move of the booking, if it is still queued, is never sent. */
async function withdrawNotice(tx: EntityManager, clock: Clock, { notice }: WholeBooking): Promise<void> {
  const earlier =
    notice && (await tx.findOne(Mail, { id: notice.id, kind: 'booking-moved', status: 'queued' }, { refresh: true }));
  if (earlier) await settleMail(tx, clock, earlier.id, { status: 'failed', failure: 'a later move replaced it' });
}

/** The visitor, if they are to be notified. Their reminder is due at another time now. */
async function visitorToNotify(tx: EntityManager, deps: Deps, { booking, site }: Moved): Promise<Addressee | null> {
  const known = await readContact(tx, deps.config, booking);
  if (known?.remind && !booking.visitorSealed) booking.remindAt = reminderOf(booking, deps.clock.now());
  const unreminded = await withdrawReminder(tx, deps, booking.id, failure);
  const unsent = (booking.mail && (await withdrawConfirmation(tx, deps, booking.mail.id))) ?? unreminded;
  if (!known?.notifyChanges) return unsent;
  const cancelUrl = `${deps.config.baseUrl}/b/${site.publicId}/cancel/${known.cancelSecret}`;
  return { to: known.email, cancelUrl, ...zoneOf(known) };
}

/** The recipient of a confirmation, or of the mail about an earlier move, that is still queued: it is then never sent. */
async function withdrawConfirmation(tx: EntityManager, { clock, config }: Deps, id: string): Promise<Addressee | null> {
  const kinds = ['booking-confirmed', 'booking-moved'] as const;
  const mail = await tx.findOne(Mail, { id, status: 'queued', kind: { $in: [...kinds] } }, withText);
  if (!mail?.sealed) return null;
  const { to, data } = decryptLetter({ id, sealed: mail.sealed }, config.encryptionKeys);
  if (!(await settleMail(tx, clock, id, { status: 'failed', failure }))) return null;
  return { to, cancelUrl: (data as Addressee).cancelUrl, ...zoneIn(data) };
}
