/**
 * Mails about what becomes of a booking. The site's address for booking notices always gets one; the visitor gets one
 * if they asked for it, or if their confirmation is still unsent.
 */
import { queueFollowUp, queueNotice } from '#db/mail/limits.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, settleMail, withText } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { Booking, type WholeBooking } from './booking.ts';
import { addressOf, bookableOf, factsOf, ownerPageOf, toVisitor, zoneOf } from './mails.ts';
import { destroyPreparedMail, readContact, readPreparedMail } from './prepared-mails.ts';
import { type Addressee, withdrawReminder, zoneIn } from './reminders.ts';
import { lockCalendars } from './seats.ts';
import type { VisitorContact } from './visitor-contact.ts';

const failure = 'the booking was cancelled before the e-mail was sent';

type Deps = { clock: Clock; config: Config };
type Recipient = Pick<VisitorContact, 'email' | 'timeZone'>;

export type Cancellation = {
  booking: WholeBooking;
  site: Site;
  by: 'visitor' | 'site';
  /** `before`: what was refunded earlier; null if nothing was. */
  moneyBack: { sum: string; before: string | null; way: 'automatic' | 'by the owner' } | null;
};

/**
 * Queues the mails about a cancellation, and destroys the visitor's address: afterwards only the queued mail has it.
 * `booking.mail` and `booking.notice` are then these mails, or null where none is sent.
 */
export async function queueCancellationMails(tx: EntityManager, deps: Deps, cancelled: Cancellation): Promise<void> {
  const { booking, site, by, moneyBack } = cancelled;
  const visitor = await visitorToNotify(tx, deps, cancelled);
  await destroyPreparedMail(tx, booking);
  // Visitors' bookings of earlier releases name no notice, but had one. A hold, which alone has a contact, had none.
  const wasNoticed = booking.createdById ? booking.notice !== null && booking.moves === 0 : !booking.visitorSealed;
  Object.assign(booking, { mail: null, notice: null });
  if (!deps.config.mail || booking.kind === 'block') return;
  const data = {
    ...(await factsOf(tx, booking, site, deps.config)),
    moneyBack: moneyBack?.way === 'automatic' ? moneyBack.sum : null,
    moneyOwed: moneyBack?.way === 'by the owner' ? moneyBack.sum : null,
    moneyBefore: moneyBack?.before ?? null,
    visitorName: booking.visitorName,
    by,
    isVisitorNotified: visitor !== null,
    wasNoticed,
  };
  const to = await addressOf(tx, site, await bookableOf(tx, site));
  const notice = { ...data, to: 'site', account: ownerPageOf(deps.config, booking) } as const;
  booking.notice = await queueNotice(tx, deps, { kind: 'booking-cancelled', to, data: notice, site });
  if (!visitor) return;
  const { to: email, ...reply } = await toVisitor(tx, site, visitor.email);
  booking.mail = await queueFollowUp(tx, deps, booking.id, {
    kind: 'booking-cancelled',
    to: email,
    ...reply,
    data: { ...data, ...zoneOf(visitor), ...reply, to: 'visitor' },
    site,
  });
}

/** The visitor, if they are to be notified. A mail to them that is still unsent is then never sent. */
async function visitorToNotify(
  tx: EntityManager,
  { clock, config }: Deps,
  { booking, by }: Cancellation,
): Promise<Recipient | null> {
  const known = await readContact(tx, config, booking);
  const unsent = by === 'site' && booking.mail ? await withdrawMail(tx, { clock, config }, booking.mail.id) : null;
  const unreminded = await withdrawReminder(tx, { clock, config }, booking.id, failure);
  if (known?.notifyChanges) return known;
  return unsent ?? (by === 'site' && unreminded ? recipientOf(unreminded) : null);
}

const recipientOf = ({ to, visitorZone }: Pick<Addressee, 'to' | 'visitorZone'>): Recipient => ({
  email: to,
  ...(visitorZone === undefined ? {} : { timeZone: visitorZone }),
});

/** The recipient of a mail that is still queued, which is then never sent. */
async function withdrawMail(tx: EntityManager, { clock, config }: Deps, id: string): Promise<Recipient | null> {
  const mail = await tx.findOne(Mail, { id, status: 'queued' }, withText);
  if (!mail?.sealed) return null;
  const { to, data } = decryptLetter({ id, sealed: mail.sealed }, config.encryptionKeys);
  const isWithdrawn = await settleMail(tx, clock, id, { status: 'failed', failure });
  return isWithdrawn ? recipientOf({ ...zoneIn(data), to }) : null;
}

/** Rows of one round; the next one continues. */
const roundMax = 500;

/**
 * Queues the reminders that are due. Each is queued once: the transaction that queues it clears the booking's
 * `remind_at`. Returns how many.
 */
export async function queueDueReminders({ em, ...deps }: Deps & { em: () => EntityManager }): Promise<number> {
  if (!deps.config.mail) return 0;
  const due = await em().execute<{ id: string; calendar_id: string }[]>(
    `select id, calendar_id from booking where remind_at <= ? order by remind_at limit ${roundMax}`,
    [deps.clock.now()],
  );
  let queued = 0;
  for (const one of due) if (await em().transactional((tx) => queueReminder(tx, deps, one))) queued += 1;
  return queued;
}

async function queueReminder(
  tx: EntityManager,
  deps: Deps,
  { id, calendar_id: calendarId }: { id: string; calendar_id: string },
): Promise<boolean> {
  await lockCalendars(tx, [calendarId]);
  const booking = await tx.findOneOrFail(Booking, { id }, { populate: ['calendar'], refresh: true });
  const now = deps.clock.now();
  // It may have moved meanwhile.
  if (!booking.remindAt || booking.remindAt > now || booking.calendar.id !== calendarId) return false;
  const contact = await readPreparedMail(tx, deps.config, id);
  if (contact?.notifyChanges) booking.remindAt = null;
  else await destroyPreparedMail(tx, booking);
  if (!contact || booking.status !== 'confirmed' || booking.startsAt <= now) return false;
  const site = await tx.findOneOrFail(Site, booking.site.id);
  const facts = await factsOf(tx, booking, site, deps.config);
  const cancelUrl = `${deps.config.baseUrl}/b/${site.publicId}/cancel/${contact.cancelSecret}`;
  const data = { ...facts, ...zoneOf(contact), cancelUrl };
  const visitor = await toVisitor(tx, site, contact.email);
  const mail = { kind: 'booking-reminder', ...visitor, data, until: booking.startsAt, site } as const;
  const reminder = await queueFollowUp(tx, deps, id, mail);
  // An unsent confirmation stays the booking's mail: a change of the booking withdraws both.
  if (!booking.mail || !(await isQueued(tx, booking.mail))) booking.mail = reminder;
  return true;
}

const isQueued = async (tx: EntityManager, { id }: Pick<Mail, 'id'>): Promise<boolean> =>
  (await tx.count(Mail, { id, status: 'queued' })) > 0;
