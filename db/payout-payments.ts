/** What becomes of payments that are open where no money is to land any more: nothing is paid any more, and pages are closed. */
import type { Clock } from '../clock.ts';
import { Payment } from './entities/payment.ts';
import { PaymentAttempt } from './entities/payment-attempt.ts';
import type { EntityManager } from './orm.ts';
import { endPayment, withPayment } from './payments.ts';
import { unsettledAttempts } from './states.ts';

type Where = { payoutAccount: string; site?: string };

/** Call it after the agreement has ended, outside of its transaction: each payment is locked in its own order. */
export async function endOpenPayments(em: EntityManager, clock: Clock, where: Where): Promise<void> {
  const open = await em.find(Payment, { ...where, status: 'open' }, { fields: ['id'] });
  for (const { id } of open) {
    await withPayment(em.fork(), id, async ({ tx, payment }) => endPayment(tx, clock, payment));
  }
}

/**
 * Ends, with a block and in its transaction, what is open to be paid: on the site; or on all sites of the account, and into its payout accounts
 * on others'. Call it last: it locks payments, and whoever has them waits for nothing that a block holds.
 */
export async function endPaymentsOf(
  tx: EntityManager,
  clock: Clock,
  { site, account }: { site?: string; account?: string },
): Promise<void> {
  await tx.flush();
  const rows = await tx.execute<{ id: string }[]>(
    `select id from payment where status = 'open' and (site_id in (select id from site where id = ? or account_id = ?)
       or payout_account_id in (select id from payout_account where account_id = ?)) order by id for update`,
    [site ?? null, account ?? null, account ?? null],
  );
  const open = await tx.find(Payment, { id: { $in: rows.map(({ id }) => id) } }, { refresh: true });
  for (const payment of open) endPayment(tx, clock, payment);
}

/** Whether somebody may still pay on a page of the account. */
export async function hasOpenPages(em: EntityManager, payoutAccount: string): Promise<boolean> {
  const open = { payment: { payoutAccount }, status: { $in: [...unsettledAttempts] } };
  return (await em.count(PaymentAttempt, open)) > 0;
}
