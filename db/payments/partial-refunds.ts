/** State transitions of partial refunds. The payment is locked in each, so that together they never exceed it. */
import type { EntityManager } from '#db/orm.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { capturedCharge } from './charges.ts';
import { type MailDeps, queueRefundFailed, queueRefundMail } from './mails.ts';
import type { Payment } from './payment.ts';
import type { PaymentAttempt } from './payment-attempt.ts';
import { PaymentRefund } from './payment-refund.ts';
import { type Locked, withPayment } from './transitions.ts';

/** Neither done nor given up. */
const unfinished = { refundedAt: null, failedAt: null };

/** What of a paid payment is neither refunded nor being refunded. */
export function refundableAmount(payment: Pick<Payment, 'status' | 'amount' | 'refundedAmount' | 'refundingAmount'>) {
  return payment.status === 'paid' ? payment.amount - payment.refundedAmount - payment.refundingAmount : 0;
}

/** Starts the refund of a part of the captured charge. The payment is locked, and the caller has checked the amount. */
export async function startPartialRefund(
  { tx, payment }: Pick<Locked, 'tx' | 'payment'>,
  clock: Clock,
  { id, amount }: { id: string; amount: number },
): Promise<void> {
  const attempt = await capturedCharge(tx, payment.id);
  tx.create(PaymentRefund, { id, attempt, amount, beganAt: clock.now() });
  payment.refundingAmount += amount;
  payment.refundFailedAt = null;
  const about = { summary: 'Refund (a part)', resource: payment.id };
  startWorkflow(tx, clock, 'refundPayment', { attemptId: attempt.id, refundKey: id }, about);
}

/** The unfinished partial refunds of a charge, oldest first. */
export async function unfinishedRefunds(em: EntityManager, attemptId: string): Promise<PaymentRefund[]> {
  return await em.find(PaymentRefund, { attempt: attemptId, ...unfinished }, { orderBy: { id: 'asc' } });
}

/** Runs `act` with an unfinished refund and its locked payment. False where the refund is finished. */
async function withRefund(
  em: EntityManager,
  { id, attempt }: { id: string; attempt: Pick<PaymentAttempt, 'payment'> },
  act: (locked: Locked, refund: PaymentRefund) => void | Promise<void>,
): Promise<boolean> {
  return await withPayment(em, attempt.payment.id, async (locked) => {
    const whole = { populate: ['attempt'], refresh: true } as const;
    const refund = await locked.tx.findOneOrFail(PaymentRefund, { id }, whole);
    if (refund.refundedAt || refund.failedAt) return false;
    locked.payment.refundingAmount -= refund.amount;
    await act(locked, refund);
    // The status may stay, so the trigger does not notify the call that waits.
    await locked.tx.execute("select pg_notify('payment_changed', ?)", [attempt.payment.id]);
    return true;
  });
}

type Refunding = Parameters<typeof withRefund>[1];

/** Records that a part was refunded, and tells the payer. The last part makes the payment refunded. */
export async function recordPartialRefund(
  em: EntityManager,
  deps: MailDeps,
  refunding: Refunding,
  email: string | null,
): Promise<void> {
  const { clock } = deps;
  await withRefund(em, refunding, async ({ tx, payment }, refund) => {
    refund.refundedAt = clock.now();
    refund.fault = null;
    addRefunded(clock, payment, refund.attempt as PaymentAttempt, refund);
    await queueRefundMail(tx, deps, payment, { email, amount: refund.amount });
  });
}

/** Records why a partial refund failed. `isKept`: as in `recordRefundFailure`. */
export async function recordPartialFailure(
  em: EntityManager,
  { id, refusals }: Pick<PaymentRefund, 'id' | 'refusals'>,
  { why, isKept }: { why: string; isKept: boolean },
): Promise<void> {
  const fault = { fault: why, ...(isKept ? { refusals: refusals + 1 } : {}) };
  await em.nativeUpdate(PaymentRefund, { id, ...unfinished }, fault);
}

/** Gives up a partial refund that is impossible: its amount can be refunded again. False where it is finished. */
export async function abandonPartialRefund(em: EntityManager, deps: MailDeps, refunding: Refunding): Promise<boolean> {
  return await withRefund(em, refunding, async ({ tx, payment }, refund) => {
    refund.failedAt = deps.clock.now();
    payment.refundFailedAt = refund.failedAt;
    await queueRefundFailed(tx, deps, payment, refund.amount);
  });
}

/** Records what the owner refunded in the provider's dashboard, unless one of the platform's refunds is unfinished. */
export async function recordForeignRefund(
  em: EntityManager,
  clock: Clock,
  charged: Pick<PaymentAttempt, 'id' | 'payment'>,
  refundedInAll: number,
): Promise<void> {
  await withPayment(em, charged.payment.id, async ({ tx, payment }) => {
    const amount = refundedInAll - payment.refundedAmount;
    if (payment.status !== 'paid' || payment.refundingAmount > 0 || amount <= 0) return;
    const attempt = await capturedCharge(tx, payment.id);
    const now = clock.now();
    const refund = { id: newId('ref'), attempt, amount, beganAt: now, refundedAt: now };
    addRefunded(clock, payment, attempt, tx.create(PaymentRefund, refund));
  });
}

/** The whole amount in parts is like a whole refund, whose key is that of the last part. */
function addRefunded(clock: Clock, payment: Payment, attempt: PaymentAttempt, { id, amount, beganAt }: PaymentRefund) {
  payment.refundedAmount += amount;
  payment.refundFailedAt = null;
  if (payment.refundedAmount < payment.amount || attempt.refundReason) return;
  const now = clock.now();
  Object.assign(attempt, { refundReason: 'asked', refundKey: id, refundBeganAt: beganAt, refundedAt: now });
  Object.assign(payment, { status: 'refunded', refundedAt: now });
}
