/** What the ledger check looks at and where it writes what it found: see activities/ledger.ts. */
import { LedgerFlag } from './entities/ledger-flag.ts';
import type { EntityManager } from './orm.ts';

export type Finding = { subject: string; payoutAccountId: string | null; why: string };

/** How long everything gets to happen by itself before the check asks why it has not. */
const settlingMs = 3600_000;

/** Rows that contradict each other or wait for longer than they should: money that is neither kept nor on its way back. */
export async function findContradictions(em: EntityManager, now: Date): Promise<Finding[]> {
  const before = new Date(now.getTime() - settlingMs);
  return await em.execute<Finding[]>(
    `select p.id as subject, p.payout_account_id as "payoutAccountId", 'is paid, and no charge is kept for it' as why
       from payment p where p.status = 'paid' and not exists
         (select 1 from payment_attempt a where a.payment_id = p.id and a.charge is not null and a.refund_reason is null)
     union all
     select p.id, p.payout_account_id, 'is paid, and its booking has no seat: the money is owed to the visitor'
       from payment p join booking b on b.payment_id = p.id where p.status = 'paid' and b.status <> 'confirmed'
     union all
     select b.id, p.payout_account_id, 'has a seat that costs money, and nobody has paid'
       from booking b join payment p on p.id = b.payment_id where b.status = 'confirmed' and p.status in ('open', 'expired')
     union all
     select p.id, p.payout_account_id, 'is to go back, and no charge of it is on its way'
       from payment p where p.status in ('refunding', 'refunded') and not exists
         (select 1 from payment_attempt a where a.payment_id = p.id and a.refund_reason in ('asked', 'cancelled', 'late'))
     union all
     select a.id, p.payout_account_id, 'waits to go back: ' || coalesce(a.refund_fault, 'not answered')
       from payment_attempt a join payment p on p.id = a.payment_id
       where a.refund_reason is not null and a.refunded_at is null and a.refund_began_at < ?
     union all
     select a.id, p.payout_account_id, 'may have been paid, and the provider cannot be asked'
       from payment_attempt a join payment p on p.id = a.payment_id where a.status = 'unasked'`,
    [before],
  );
}

/** Payments and charges whose workflow should have seen to them by now. */
export async function findLeftBehind(em: EntityManager, now: Date): Promise<{ attempts: string[]; refunds: string[] }> {
  const before = new Date(now.getTime() - settlingMs);
  const idsOf = async (sql: string) => (await em.execute<{ id: string }[]>(sql, [before])).map(({ id }) => id);
  return {
    attempts: await idsOf(
      `select id from payment_attempt where status = 'unasked' or (status in ('minting', 'open') and ends_at < ?) limit 1000`,
    ),
    refunds: await idsOf(
      `select id from payment_attempt where refund_reason is not null and refunded_at is null and refund_began_at < ? limit 1000`,
    ),
  };
}

/** Payout accounts on which a page was opened since then. */
export async function chargedSince(em: EntityManager, since: Date): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select distinct p.payout_account_id as id from payment_attempt a join payment p on p.id = a.payment_id where a.opened_at > ?`,
    [since],
  );
  return rows.map(({ id }) => id);
}

/** Keeps what was found, and lets go of what was found earlier and is in order now. Answers what is new. */
export async function keepFlags(em: EntityManager, now: Date, findings: readonly Finding[]): Promise<Finding[]> {
  return await em.transactional(async (tx) => {
    const known = new Set((await tx.find(LedgerFlag, {})).map(({ subject }) => subject));
    const seen = { foundAt: now, seenAt: now };
    const each = [...new Map(findings.map((one) => [one.subject, one])).values()];
    for (const one of each) await tx.upsert(LedgerFlag, { ...one, ...seen }, { onConflictExcludeFields: ['foundAt'] });
    await tx.nativeDelete(LedgerFlag, { subject: { $nin: each.map(({ subject }) => subject) } });
    return each.filter(({ subject }) => !known.has(subject));
  });
}
