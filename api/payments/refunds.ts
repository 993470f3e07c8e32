/** Refunds of a payment, whole or in parts. */

import { type Actor, requireOwner } from '#api/access.ts';
import { recordAct } from '#db/history/recording.ts';
import { loadUntil } from '#db/notifications.ts';
import type { EntityManager } from '#db/orm.ts';
import { refundCaptured } from '#db/payments/charges.ts';
import { refundableAmount, startPartialRefund } from '#db/payments/partial-refunds.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentRefund } from '#db/payments/payment-refund.ts';
import { type Locked, withPayment } from '#db/payments/transitions.ts';
import { credentialsOf } from '#db/payouts/credentials.ts';
import { call } from '#rules/calls/calls.ts';
import { partFault, written } from '#rules/currencies.ts';
import { paymentStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { loadPayment, type WholePayment } from './rules.ts';

/** A part of a payment; `id` is that of its refund. */
export type Part = { id: string; amount: number };

/** Partial refunds of one payment, failed ones included. */
const partsMax = 50;

/**
 * Starts the refund of a part, or of all that is left. Throws `owner_only`, `nothing_paid`, `invalid_payment`,
 * `payout_account_gone`, `payout_key_unreadable`.
 */
export async function refundPayment(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  id: string,
  part: Part | null,
): Promise<void> {
  const payment = await loadPayment(em, actor, id);
  const { site } = payment;
  requireOwner(site, actor, 'refund a payment');
  const status = paymentStatusAt(payment, deps.clock.now());
  if (status === 'open' || status === 'expired') {
    throw errors.nothing_paid('This payment has not been made, so there is nothing to refund.');
  }
  if (status === 'paid') requireReachable(deps, payment);
  else if (!part) return;
  await withPayment(deps.em(), id, async (locked) => {
    const { amount: whole, currency } = locked.payment;
    const rest = refundableAmount(locked.payment);
    if (part ? await isStarted(locked, part) : rest === 0) return;
    if (part) {
      await requirePart(locked, part, rest);
      await startPartialRefund(locked, deps.clock, part);
    } else await refundCaptured(locked, deps.clock, 'asked');
    const detail = { amount: part?.amount ?? rest, of: whole, currency };
    recordAct(locked.tx, deps.clock, actor, 'payment.refunded', { site, subject: { id, name: null }, detail });
  });
}

/** Whether an earlier request with the same idempotency key started this refund. */
const isStarted = async ({ tx }: Locked, { id }: Part) => (await tx.count(PaymentRefund, { id })) > 0;

async function requirePart({ tx, payment }: Locked, { amount }: Part, rest: number): Promise<void> {
  const { currency } = payment;
  const fault = partFault({ amount, currency });
  if (fault !== undefined) throw errors.invalid_payment(fault);
  if (amount > rest) {
    throw errors.invalid_payment(
      rest === 0
        ? 'All of this payment is refunded or being refunded.'
        : `Only ${written({ amount: rest, currency })} of this payment is left to refund.`,
      { nextAction: `Call ${call('payment.read', { id: payment.id })}: refunded_amount says what was refunded.` },
    );
  }
  if ((await tx.count(PaymentRefund, { attempt: { payment: payment.id } })) < partsMax) return;
  throw errors.invalid_payment(`A payment can be refunded in at most ${partsMax} parts.`, {
    nextAction: `Call ${call('payment.refund', { id: payment.id })} without an amount to refund all that is left.`,
  });
}

/** The payment once its refund, or that part, has ended; or as it is after the timeout. */
export async function waitForRefund(deps: Deps, id: string, part: Part | null, waitMs: number): Promise<Payment> {
  const load = async () => {
    const em = deps.em();
    const refund = part && (await em.findOne(PaymentRefund, { id: part.id }));
    return { payment: await em.findOneOrFail(Payment, { id }), refund };
  };
  const { payment } = await loadUntil(
    deps.notifications,
    { channel: 'payment_changed', id },
    load,
    ({ payment: { status }, refund }) => (refund ? !!(refund.refundedAt || refund.failedAt) : status !== 'refunding'),
    waitMs,
  );
  return payment;
}

/** A refund must come from the payout account that received the charge. */
function requireReachable(deps: Deps, { payoutAccount: account }: WholePayment): void {
  if (account.status === 'gone') {
    throw errors.payout_account_gone(
      `The payout account that received this payment (${account.name}) is no longer connected, so the platform cannot refund it. ` +
        'The account’s owner can refund it in their payment provider’s dashboard.',
      { nextAction: 'Ask the owner of that payout account to issue the refund in their payment provider’s dashboard.' },
    );
  }
  credentialsOf(deps, account);
}
