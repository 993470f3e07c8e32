/** Payments of a site: created by its people, and read. */

import type { Loaded } from '@mikro-orm/core';
import { type Actor, loadSite, requireAccessible, requireActive, requireSiteNotBlocked } from '#api/access.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { startPayment } from '#db/payments/transitions.ts';
import { lockAgreement } from '#db/payouts/credentials.ts';
import { lockSiteForShare } from '#db/sites/transitions.ts';
import { amountFault } from '#rules/currencies.ts';
import type { PaymentStatus } from '#rules/states.ts';
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
    await loadSite(tx, actor, siteId);
    const site = await lockSiteForShare(tx, siteId);
    requireActive(site);
    requireSiteNotBlocked(site, 'accept payments');
    await lockAgreement(tx, site);
    const destination = await payoutDestination(tx, deps, site);
    if ('refusal' in destination) throw destination.refusal;
    const fault = amountFault(input);
    if (fault !== undefined) {
      throw errors.invalid_payment(fault, {
        nextAction: 'Send the amount in the minor unit of its currency: 1250 means €12.50, ¥1,250 or KWD 1.250.',
      });
    }
    const { amount, currency, reference = null, description = null } = input;
    const expiresAt = new Date(clock.now().getTime() + openForMs);
    recordAct(tx, clock, actor, 'payment.created', { site, subject: { id, name: null }, detail: { amount, currency } });
    return startPayment(tx, clock, {
      id,
      siteId,
      payoutAccountId: destination.account.id,
      amount,
      currency,
      reference,
      description,
      expiresAt,
    });
  });
}

export type WholePayment = Loaded<Payment, 'site' | 'payoutAccount'>;

/** The payment, if the caller may act on its site. Throws `not_found`. */
export async function loadPayment(em: EntityManager, actor: Actor, id: string): Promise<WholePayment> {
  const relations = { populate: ['site', 'payoutAccount'] } as const;
  const payment = isId('pay', id) ? await em.findOne(Payment, { id }, relations) : null;
  return await requireAccessible(em, actor, payment, { what: 'payment', list: 'payment.list' });
}

/** The condition of a query for payments that have this status now. */
export function paymentsWithStatus(status: PaymentStatus, now: Date) {
  if (status === 'open') return { status, expiresAt: { $gt: now } };
  if (status === 'expired') return { $or: [{ status }, { status: 'open' as const, expiresAt: { $lte: now } }] };
  return { status };
}

/** The condition of a query for payments of which all or a part was refunded. */
export const somethingRefunded = { $or: [{ status: 'refunded' as const }, { refundedAmount: { $gt: 0 } }] };
