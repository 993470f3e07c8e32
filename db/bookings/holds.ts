/** Seats held for who has yet to pay, from their start to their end: what `holdBooking`, an archived site and the sweep do. */

import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { endPayment } from '#db/payments/transitions.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { bookingStatusAt } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { Booking } from './booking.ts';
import { expireDueHolds, lockCalendars, reachKept, tellHold } from './seats.ts';

/** The payment's workflow tells when a page is closed; without it the hold is looked at so often. */
const closingMs = 60_000;
const lateMs = 3600_000;
/** Money of which nobody could ask is looked for so long; after that its visitor cannot be told any more, and it goes back. */
const reachKeptMs = 8 * 24 * 3600_000;

/** Starts the workflow that sees the hold to its end, when the transaction commits. */
export function startHold(tx: EntityManager, clock: Clock, { id, site }: { id: string; site: string }): void {
  startWorkflow(tx, clock, 'holdBooking', { bookingId: id }, { summary: 'A seat held until it is paid for', site });
}

/** Writes down that a hold has run out, if it has. Answers what it is, and for how long it stays so at most. */
export async function settleHold(em: EntityManager, now: Date, id: string): Promise<Settled> {
  await expireDueHolds(em, now, { id });
  const booking = await em.findOne(Booking, { id });
  if (!booking) return settledAt(now, undefined);
  const status = bookingStatusAt(booking, now);
  if (status !== 'held' || !booking.holdExpiresAt) return settledAt(now, { status, endsAt: undefined });
  const isOver = booking.holdExpiresAt <= now;
  return settledAt(now, { status, endsAt: isOver ? new Date(now.getTime() + closingMs) : booking.holdExpiresAt });
}

/** Ends every hold of an archived site now: it takes no bookings any more. What is paid from now on goes back. The site is locked. */
export async function endHolds(tx: EntityManager, clock: Clock, site: string): Promise<void> {
  await endThem(tx, clock, { site }, 'false');
}

type Of = { site: string } | { account: string };

/**
 * Ends, with a block and in its transaction, what is held and what is open to be paid: on the site; or on all sites of the account, and into its
 * payout accounts on others'. The sites are locked, so that nothing is held or opened there meanwhile. Call it last.
 */
export async function endMoneyOf(tx: EntityManager, clock: Clock, of: Of): Promise<void> {
  await endThem(
    tx,
    clock,
    of,
    `status = 'open' and (site_id in (select id from its_sites)
       or payout_account_id in (select id from payout_account where account_id = (select account from of_whom)))`,
  );
}

/**
 * Calendars, then payments, as everybody who settles money locks them; and all payments at once in the order of their ids, or two blocks whose
 * accounts pay into each other would wait for each other. `andThese` is SQL for payments that no booking is held for.
 */
async function endThem(tx: EntityManager, clock: Clock, of: Of, andThese: string): Promise<void> {
  await tx.flush();
  const { site = null, account = null } = { ...of } as { site?: string; account?: string };
  const sites = `with of_whom as (select ?::text as site, ?::text as account),
    its_sites as (select site.id from site, of_whom where site.id = of_whom.site or site.account_id = of_whom.account)`;
  const isHeld = `status = 'held' and site_id in (select id from its_sites)`;
  const values = [site, account];
  const calendars = `${sites} select distinct calendar_id as id from booking where ${isHeld}`;
  await lockCalendars(tx, idsOf(await tx.execute(calendars, values)));
  const paid = `select payment_id from booking where ${isHeld}`;
  const payments = `${sites} select id from payment where id in (${paid}) or (${andThese}) order by id for update of payment`;
  const locked = idsOf(await tx.execute(payments, values));
  const held = `${sites} update booking set status = 'expired', visitor_sealed = ${reachKept}, hold_expires_at = least(hold_expires_at, ?)
     where ${isHeld} returning id`;
  for (const id of idsOf(await tx.execute(held, [...values, clock.now()]))) tellHold(tx, clock, id);
  for (const payment of await tx.find(Payment, { id: { $in: locked } }, { refresh: true }))
    endPayment(tx, clock, payment);
}

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

/**
 * Writes down holds that ran out an hour ago and whose workflow never did, and forgets visitors whose money nobody could ask about for days: no
 * address is kept. Answers how many.
 */
export async function sweepHolds(em: EntityManager, now: Date): Promise<number> {
  const before = (ms: number) => new Date(now.getTime() - ms);
  const expired = await expireDueHolds(em, before(lateMs), {});
  const forgotten = await em.nativeUpdate(
    Booking,
    { status: { $ne: 'held' }, visitorSealed: { $ne: null }, holdExpiresAt: { $lt: before(reachKeptMs) } },
    { visitorSealed: null },
  );
  return expired + forgotten;
}
