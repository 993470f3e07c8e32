/**
 * Seats held for visitors who have yet to pay, until the hold ends: for `holdBooking`, archived and blocked sites, and
 * the sweep.
 */

import { textArray } from '#db/arrays.ts';
import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { expireNow } from '#db/payments/transitions.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { bookingStatusAt } from '#rules/states.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { Booking } from './booking.ts';
import { expireDueHolds, expireEachDueHold, lockCalendars, signalHoldBooking } from './seats.ts';
import { retainedContact } from './visitor-contact.ts';

/**
 * The payment's workflow signals when a checkout session is closed; the hold is polled this often in case the signal is
 * lost.
 */
const closingMs = minuteMs;
const lateMs = hourMs;
/**
 * How long an unknown charge may still arrive. Later the visitor's address is deleted, and a charge is refunded without
 * a mail.
 */
const contactRetentionMs = 8 * dayMs;

/** Starts the workflow that watches the hold until it ends, when the transaction commits. */
export function startHold(tx: EntityManager, clock: Clock, { id, site }: { id: string; site: string }): void {
  startWorkflow(tx, clock, 'holdBooking', { bookingId: id }, { summary: 'Hold a seat until it is paid for', site });
}

/** Marks a hold as expired if it is overdue. Returns its status, and for how long at most that lasts. */
export async function settleHold(em: EntityManager, now: Date, id: string): Promise<Settled> {
  await expireDueHolds(em, now, { id });
  const booking = await em.findOne(Booking, { id });
  if (!booking) return settledAt(now, undefined);
  const status = bookingStatusAt(booking, now);
  if (status !== 'held' || !booking.holdExpiresAt) return settledAt(now, { status, endsAt: undefined });
  const isOver = booking.holdExpiresAt <= now;
  return settledAt(now, { status, endsAt: isOver ? new Date(now.getTime() + closingMs) : booking.holdExpiresAt });
}

/**
 * The two functions below lock calendars first and then payments, like all code that settles payments. They lock all
 * payments in one statement, in the order of their ids: otherwise blocks of two accounts that pay into each other would
 * deadlock. The sites are locked, so they get no new holds or payments meanwhile.
 */

/** Expires every hold of an archived site, and the payments for them. What is charged later is refunded. */
export async function expireHolds(tx: EntityManager, clock: Clock, siteId: string): Promise<void> {
  await tx.flush();
  await lockHeldCalendars(tx, [siteId]);
  const payments = await tx.execute<Row[]>(
    `select id from payment where id in (select payment_id from booking where status = 'held' and site_id = ?)
     order by id for update`,
    [siteId],
  );
  await expireLockedHolds(tx, clock, [siteId]);
  await expireLockedPayments(tx, clock, payments);
}

/**
 * Expires, in the transaction of a block, every hold and open payment: of the site; or of all sites of the account, and
 * of other sites' payments into its payout accounts. Only `cancelUnfinished` may follow it.
 */
export async function expireHoldsAndPayments(
  tx: EntityManager,
  clock: Clock,
  of: { site: string } | { account: string },
): Promise<void> {
  await tx.flush();
  const account = 'account' in of ? of.account : null;
  const sites = 'site' in of ? [of.site] : await siteIdsOf(tx, of.account);
  await lockHeldCalendars(tx, sites);
  const payments = await tx.execute<Row[]>(
    `select id from payment
     where id in (select payment_id from booking where status = 'held' and site_id = any(?::text[]))
       or (status = 'open' and (site_id = any(?::text[])
         or payout_account_id in (select id from payout_account where account_id = ?)))
     order by id for update`,
    [textArray(sites), textArray(sites), account],
  );
  await expireLockedHolds(tx, clock, sites);
  await expireLockedPayments(tx, clock, payments);
}

type Row = { id: string };
const idsOf = (rows: Row[]) => rows.map(({ id }) => id);

async function siteIdsOf(tx: EntityManager, accountId: string): Promise<string[]> {
  return idsOf(await tx.execute<Row[]>('select id from site where account_id = ?', [accountId]));
}

async function lockHeldCalendars(tx: EntityManager, siteIds: string[]): Promise<void> {
  const calendars = await tx.execute<Row[]>(
    `select distinct calendar_id as id from booking where status = 'held' and site_id = any(?::text[])`,
    [textArray(siteIds)],
  );
  await lockCalendars(tx, idsOf(calendars));
}

async function expireLockedHolds(tx: EntityManager, clock: Clock, siteIds: string[]): Promise<void> {
  const expired = await tx.execute<Row[]>(
    `update booking set status = 'expired', visitor_sealed = ${retainedContact}, hold_expires_at = least(hold_expires_at, ?)
     where status = 'held' and site_id = any(?::text[]) returning id`,
    [clock.now(), textArray(siteIds)],
  );
  for (const { id } of expired) signalHoldBooking(tx, clock, id);
}

async function expireLockedPayments(tx: EntityManager, clock: Clock, locked: Row[]): Promise<void> {
  const payments = await tx.find(Payment, { id: { $in: idsOf(locked) } }, { refresh: true });
  for (const payment of payments) expireNow(tx, clock, payment);
}

/**
 * Expires holds that ran out an hour ago and whose workflow did not, and deletes contacts of visitors whose payment has
 * stayed unknown for days. Returns how many rows changed.
 */
export async function sweepHolds(em: EntityManager, now: Date): Promise<number> {
  const before = (ms: number) => new Date(now.getTime() - ms);
  const expired = await expireEachDueHold(em, before(lateMs));
  const forgotten = await em.nativeUpdate(
    Booking,
    { status: { $ne: 'held' }, visitorSealed: { $ne: null }, holdExpiresAt: { $lt: before(contactRetentionMs) } },
    { visitorSealed: null },
  );
  return expired + forgotten;
}
