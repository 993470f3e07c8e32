/** The activities of `settlePayment`: they poll the provider and update the rows. */

import type { Settled } from '#db/deadlines.ts';
import { recordCharge } from '#db/payments/charges.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { checkoutRequest } from '#db/payments/subject.ts';
import { closeCheckoutSession, expirePayment, recordOpenSession } from '#db/payments/transitions.ts';
import { credentialsOf } from '#db/payouts/credentials.ts';
import { type PaymentCredentials, PaymentsFault } from '#providers/payments.ts';
import { paymentStatusAt, unsettledAttempts } from '#rules/states.ts';
import { hourMs, minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { withHeartbeat } from './heartbeat.ts';

/** The next poll is due after a quarter of the time since the last activity in a checkout session, within these bounds. */
const pollIntervalMs = { least: 2_000, most: 10 * minuteMs };
/** How long after a session's expiry to retry while the provider does not respond. */
const giveUpAfterMs = hourMs;
/** How long to leave a session to the process that is creating it. */
const creatingMs = 30_000;

type SettlingDeps = Pick<Deps, 'em' | 'clock' | 'config' | 'payments' | 'log'>;

export function paymentActivities(deps: SettlingDeps) {
  return {
    /** Polls every checkout session of the payment that may still be paid, and closes them if the payment is over. */
    settlePayment: (id: string): Promise<Settled> => withHeartbeat(() => settlePayment(deps, id)),
  };
}

export async function settlePayment(deps: SettlingDeps, id: string): Promise<Settled> {
  await expirePayment(deps.em(), deps.clock, id);
  for (const attempt of await unsettledAttemptsOf(deps, id)) await settleAttempt(deps, attempt.id);
  const payment = await deps.em().findOne(Payment, { id });
  if (!payment) return { settled: true, status: 'gone' };
  const unsettled = await unsettledAttemptsOf(deps, id);
  const now = deps.clock.now();
  const status = paymentStatusAt(payment, now);
  if (unsettled.length === 0 && status !== 'open') return { settled: true, status };
  const untilExpiryMs = payment.status === 'open' ? Math.max(0, payment.expiresAt.getTime() - now.getTime()) : Infinity;
  return {
    settled: false,
    status,
    leftMs: Math.min(untilExpiryMs, unsettled.length > 0 ? nextPollMs(payment, unsettled, now) : Infinity),
  };
}

const unsettledAttemptsOf = (deps: SettlingDeps, payment: string) =>
  deps.em().find(PaymentAttempt, { payment, status: { $in: [...unsettledAttempts] } }, { orderBy: { id: 'asc' } });

function nextPollMs(payment: Payment, unsettled: PaymentAttempt[], now: Date): number {
  const endedAt =
    payment.status === 'open' ? [] : [Math.min(payment.expiresAt.getTime(), payment.paidAt?.getTime() ?? Infinity)];
  const activity = [
    payment.returnedAt?.getTime() ?? 0,
    payment.closeRequestedAt?.getTime() ?? 0,
    ...unsettled.map(({ openedAt }) => openedAt.getTime()),
    ...endedAt,
  ];
  const passedMs = now.getTime() - Math.max(...activity);
  return Math.min(pollIntervalMs.most, Math.max(pollIntervalMs.least, passedMs / 4));
}

/** Polls one checkout session. On a provider fault its row is unchanged, until it can no longer have been paid. */
export async function settleAttempt(deps: SettlingDeps, id: string): Promise<void> {
  const { clock } = deps;
  const attempt = await deps.em().findOneOrFail(PaymentAttempt, { id }, { populate: ['payment.payoutAccount'] });
  const { payment } = attempt;
  const isOver = paymentStatusAt(payment, clock.now()) !== 'open' || payment.closeRequestedAt != null;
  try {
    const credentials = credentialsOf(deps, payment.payoutAccount);
    const sessionId = attempt.sessionId ?? (await recoverSession(deps, credentials, attempt, isOver));
    if (sessionId === null) return;
    if (sessionId === 'none') return await closeCheckoutSession(deps.em(), clock, attempt);
    const payments = requirePayments(deps);
    const session = isOver
      ? await payments.closeSession(credentials, sessionId)
      : await payments.readSession(credentials, sessionId);
    if (session.charge)
      await recordCharge(
        deps.em(),
        deps,
        { id, payment: { id: payment.id }, sessionId, email: session.email },
        session.charge,
      );
    else if (session.status === 'expired') await closeCheckoutSession(deps.em(), clock, attempt);
  } catch (error) {
    if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
    deps.log.warn({ err: error, paymentId: payment.id }, 'the status of a checkout session could not be read');
    const sinceExpiryMs = clock.now().getTime() - attempt.endsAt.getTime();
    if (sinceExpiryMs > giveUpAfterMs && attempt.status !== 'unasked')
      await closeCheckoutSession(deps.em(), clock, attempt, 'unasked');
  }
}

/**
 * The id of a checkout session whose creation was interrupted. The same idempotency key returns the same session, which
 * no payer has received yet. Null while another process may be creating it; `none` if the provider refuses to create it.
 */
async function recoverSession(
  deps: SettlingDeps,
  credentials: PaymentCredentials,
  attempt: PaymentAttempt,
  isOver: boolean,
): Promise<string | 'none' | null> {
  const now = deps.clock.now().getTime();
  if (!isOver && now - attempt.openedAt.getTime() < creatingMs) return null;
  // It has expired by now, so it can no longer be paid.
  if (attempt.endsAt.getTime() <= now) return 'none';
  try {
    const em = deps.em();
    const payment = await em.findOneOrFail(Payment, { id: attempt.payment.id });
    const request = await checkoutRequest(em, deps.config, payment, attempt);
    const session = await requirePayments(deps).openSession(credentials, request);
    await recordOpenSession(deps.em(), attempt.id, session.id);
    return session.id;
  } catch (error) {
    if (error instanceof PaymentsFault && error.reason === 'refused') return 'none';
    throw error;
  }
}

export function requirePayments({ payments }: Pick<Deps, 'payments'>) {
  if (payments) return payments;
  throw new PaymentsFault('unanswered', 'no payment provider is configured');
}
