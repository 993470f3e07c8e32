/** Payments of a site: created by its people, read, refunded. */

import type { Loaded } from '@mikro-orm/core';
import { type Actor, findSite, loadSite, requireActive, requireNotBlocked, requireOwner } from '#api/access.ts';
import { recordAct } from '#db/history/recording.ts';
import { loadUntil } from '#db/notifications.ts';
import type { EntityManager } from '#db/orm.ts';
import { refundCaptured } from '#db/payments/charges.ts';
import { Payment } from '#db/payments/payment.ts';
import { startPayment, withPayment } from '#db/payments/transitions.ts';
import { credentialsOf, lockAgreement } from '#db/payouts/credentials.ts';
import { amountFault } from '#rules/currencies.ts';
import { type PaymentStatus, paymentStatusAt } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { payoutDestination } from './payout-destination.ts';
import type { PaymentInput } from './schemas.ts';

/** The lifetime of a payment link. */
const openForMs = 30 * dayMs;

/**
 * Creates a payment. Throws `no_payout_account`, `payout_account_pending`, `payout_account_no_currency`,
 * `payout_account_gone`, `invalid_payment`, `site_archived`.
 */
export async function createPayment(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, siteId, input }: { id: string; siteId: string; input: PaymentInput },
): Promise<Payment> {
  const { clock } = deps;
  return await em.transactional(async (tx) => {
    const site = await loadSite(tx, actor, siteId);
    requireActive(site);
    requireNotBlocked(site, 'accept payments');
    await lockAgreement(tx, site);
    const destination = await payoutDestination(tx, deps, site);
    if ('refusal' in destination) throw destination.refusal;
    const fault = amountFault(input);
    if (fault !== undefined) {
      throw errors.invalid_payment(fault, {
        nextAction: 'Send the amount in the minor unit of its currency: 1250 means 12.50 EUR, or 1250 JPY.',
      });
    }
    const { amount, currency, reference = null } = input;
    const expiresAt = new Date(clock.now().getTime() + openForMs);
    recordAct(tx, clock, actor, 'payment.created', { site, subject: { id, name: null }, detail: { amount, currency } });
    return startPayment(tx, clock, {
      id,
      siteId,
      payoutAccountId: destination.account.id,
      amount,
      currency,
      reference,
      expiresAt,
    });
  });
}

type WholePayment = Loaded<Payment, 'site' | 'payoutAccount'>;

/** The payment, if the caller may act on its site. Throws `not_found`. */
export async function loadPayment(em: EntityManager, actor: Actor, id: string): Promise<WholePayment> {
  const relations = { populate: ['site', 'payoutAccount'] } as const;
  const payment = isId('pay', id) ? await em.findOne(Payment, { id }, relations) : null;
  if (payment && (await findSite(em, actor, payment.site.id))) return payment;
  throw errors.not_found('No payment with this id is accessible with this token.', {
    nextAction: 'Call GET /v1/sites/{id}/payments to list a site’s payments.',
  });
}

/**
 * Starts the refund of the whole amount. Throws `owner_only`, `nothing_paid`, `payout_account_gone`,
 * `payout_key_unreadable`.
 */
export async function refundPayment(em: EntityManager, deps: Deps, actor: Actor, id: string): Promise<void> {
  const payment = await loadPayment(em, actor, id);
  requireOwner(payment.site, actor, 'refund a payment');
  const status = paymentStatusAt(payment, deps.clock.now());
  if (status === 'open' || status === 'expired') {
    throw errors.nothing_paid('This payment has not been made, so there is nothing to refund.');
  }
  if (status === 'paid') {
    requireReachable(deps, payment);
    await withPayment(deps.em(), id, async (locked) => {
      if (locked.payment.status !== 'paid') return;
      await refundCaptured(locked, deps.clock, 'asked');
      recordAct(locked.tx, deps.clock, actor, 'payment.refunded', { site: payment.site, subject: { id, name: null } });
    });
  }
}

/** The payment once its refund has ended, or as it is after the timeout. */
export async function waitForRefund(deps: Deps, id: string, waitMs: number): Promise<Payment> {
  const load = () => deps.em().findOneOrFail(Payment, { id });
  return await loadUntil(
    deps.notifications,
    { channel: 'payment_changed', id },
    load,
    (loaded) => loaded.status !== 'refunding',
    waitMs,
  );
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

/** The condition of a query for payments that have this status now. */
export function paymentsWithStatus(status: PaymentStatus, now: Date) {
  if (status === 'open') return { status, expiresAt: { $gt: now } };
  if (status === 'expired') return { $or: [{ status }, { status: 'open' as const, expiresAt: { $lte: now } }] };
  return { status };
}
