/** Queries and flags of the ledger check: see activities/ledger.ts. */

import { sqlList } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { unsettledAttempts } from '#rules/states.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';
import { explained, findings } from './ledger-findings.ts';
import { LedgerFlag } from './ledger-flag.ts';

export type Finding = { subject: string; payoutAccountId: string | null; why: string };

/** Newer rows may still settle without help. */
const settlingMs = hourMs;

/** Rows that contradict each other or have waited too long: a charge is neither captured nor being refunded. */
export async function findContradictions(em: EntityManager, now: Date): Promise<Finding[]> {
  const before = new Date(now.getTime() - settlingMs);
  return await em.execute<Finding[]>(
    `select p.id as subject, p.payout_account_id as "payoutAccountId", '${findings.noCharge}' as why
       from payment p where p.status = 'paid' and not exists
         (select 1 from payment_attempt a where a.payment_id = p.id and a.charge is not null and a.refund_reason is null)
     union all
     select p.id, p.payout_account_id, '${findings.noSeat}'
       from payment p join booking b on b.payment_id = p.id where p.status = 'paid' and b.status <> 'confirmed'
     union all
     select b.id, p.payout_account_id, '${findings.notPaid}'
       from booking b join payment p on p.id = b.payment_id where b.status = 'confirmed' and p.status in ('open', 'expired')
     union all
     select p.id, p.payout_account_id, '${findings.noRefund}'
       from payment p where p.status in ('refunding', 'refunded') and not exists
         (select 1 from payment_attempt a where a.payment_id = p.id and a.refund_reason in ('asked', 'cancelled', 'late'))
     union all
     select a.id, p.payout_account_id, '${findings.waits}: ' || coalesce(a.refund_fault, 'not answered')
       from payment_attempt a join payment p on p.id = a.payment_id
       where a.refund_reason is not null and a.refunded_at is null and a.refund_began_at < ?
     union all
     select a.id, p.payout_account_id, '${findings.unasked}'
       from payment_attempt a join payment p on p.id = a.payment_id where a.status = 'unasked'
     union all
     select r.id, p.payout_account_id, '${findings.waits}: ' || coalesce(r.fault, 'not answered')
       from payment_refund r join payment_attempt a on a.id = r.attempt_id join payment p on p.id = a.payment_id
       where r.refunded_at is null and r.failed_at is null and r.began_at < ?
     union all
     select p.id, p.payout_account_id, '${findings.sums}' from payment p
       where (p.refunded_amount > 0 or p.refunding_amount > 0) and p.status = 'paid' and (p.refunded_amount, p.refunding_amount) <>
         (select coalesce(sum(r.amount) filter (where r.refunded_at is not null), 0),
                 coalesce(sum(r.amount) filter (where r.refunded_at is null and r.failed_at is null), 0)
            from payment_refund r join payment_attempt a on a.id = r.attempt_id where a.payment_id = p.id)`,
    [before, before],
  );
}

/** Checkout sessions and refunds that their workflow should have settled by now. */
type Overdue = { attempts: string[]; refunds: { id: string; part: string | null }[] };
export async function findOverdue(em: EntityManager, now: Date): Promise<Overdue> {
  const before = new Date(now.getTime() - settlingMs);
  const attempts = await em.execute<{ id: string }[]>(
    `select id from payment_attempt where status = 'unasked' or (status in ${sqlList(unsettledAttempts)} and ends_at < ?) order by ends_at desc limit 1000`,
    [before],
  );
  const refunds = await em.execute<Overdue['refunds']>(
    `select id, part from (
       select id, null as part, refund_began_at as began_at from payment_attempt
         where refund_reason is not null and refunded_at is null and refund_began_at < ?
       union all select attempt_id, id, began_at from payment_refund
         where refunded_at is null and failed_at is null and began_at < ?
     ) as overdue order by began_at desc limit 1000`,
    [before, before],
  );
  return { attempts: attempts.map(({ id }) => id), refunds };
}

/** Payout accounts with a checkout session created since then. */
export async function chargedSince(em: EntityManager, since: Date): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select distinct p.payout_account_id as id from payment_attempt a join payment p on p.id = a.payment_id where a.opened_at > ?`,
    [since],
  );
  return rows.map(({ id }) => id);
}

/**
 * Flags of charges that exist only at the provider. Flags of our own rows have the id of a payment, a checkout session,
 * a partial refund or a booking.
 */
export async function flaggedCharges(em: EntityManager): Promise<LedgerFlag[]> {
  return (await em.find(LedgerFlag, {})).filter(({ subject }) => !isOurs(subject));
}
const isOurs = (subject: string) => /^(pay|page|book|ref)_/.test(subject);

/**
 * Stores what was found and deletes flags whose cause is gone. Flags of charges are deleted only if the charge was
 * checked. Returns the new findings and the number of unsettled flags.
 */
export async function recordFlags(
  em: EntityManager,
  now: Date,
  { findings: current, checked }: { findings: readonly Finding[]; checked: ReadonlySet<string> },
): Promise<{ news: Finding[]; open: number }> {
  return await em.transactional(async (tx) => {
    const before = new Map((await tx.find(LedgerFlag, {})).map((flag) => [flag.subject, flag]));
    const each = new Map(current.map((one) => [one.subject, one]));
    const news: Finding[] = [];
    for (const one of each.values()) {
      const known = before.get(one.subject);
      const flag = { ...one, foundAt: now, seenAt: now };
      // Another check may run concurrently.
      if (!known) await tx.upsert(LedgerFlag, flag, { onConflictExcludeFields: ['foundAt'] });
      else tx.assign(known, { seenAt: now, ...(known.why === one.why ? {} : { ...one, ...unsettled }) });
      if (!known) news.push(one);
    }
    for (const [subject, flag] of before) {
      if (!each.has(subject) && (isOurs(subject) || checked.has(subject))) tx.remove(flag);
    }
    await tx.flush();
    return { news, open: await tx.count(LedgerFlag, { settledAt: null }) };
  });
}
/** A flag with another cause is unsettled again. */
const unsettled = { settledAt: null, settledBecause: null };

/**
 * Flags for the operator, oldest first, with their meaning and remedy. With `after`, only those behind that subject;
 * throws `not_found` if that flag no longer exists.
 */
export async function listFlags(
  em: EntityManager,
  { settled, after, limit }: { settled: boolean; after?: string | undefined; limit?: number },
) {
  const flags = await em.find(
    LedgerFlag,
    { ...(settled ? {} : { settledAt: null }), ...(after === undefined ? {} : await foundAfter(em, after)) },
    { orderBy: { foundAt: 'asc', subject: 'asc' }, ...(limit === undefined ? {} : { limit }) },
  );
  return flags.map((flag) => ({
    subject: flag.subject,
    payout_account_id: flag.payoutAccountId ?? null,
    why: flag.why,
    ...explained(flag.why),
    found_at: flag.foundAt,
    seen_at: flag.seenAt,
    ...(flag.settledAt ? { settled_at: flag.settledAt, settled_because: flag.settledBecause } : {}),
  }));
}

async function foundAfter(em: EntityManager, subject: string) {
  const last = await em.findOne(LedgerFlag, { subject });
  if (!last) throw errors.not_found('The problem given in --after no longer exists. List from the start.');
  return { $or: [{ foundAt: { $gt: last.foundAt } }, { foundAt: last.foundAt, subject: { $gt: subject } }] };
}

/** Marks a flag as settled by the operator; it is reported again only with another cause. Throws `not_found`. */
export async function settleFlag(
  em: EntityManager,
  clock: Clock,
  subject: string,
  because: string,
): Promise<LedgerFlag> {
  const flag = await em.findOne(LedgerFlag, { subject });
  if (!flag) throw errors.not_found('There is no recorded problem with this subject.');
  Object.assign(flag, { settledAt: clock.now(), settledBecause: because });
  await em.flush();
  return flag;
}
