/** Converts the payment provider's responses into our types. Pure. */
import type Stripe from 'stripe';

/** `charge` is set once the session is paid. A session that is `complete` without one waits for a slow payment method. */
export type CheckoutSession = {
  id: string;
  status: 'open' | 'complete' | 'expired';
  charge: string | null;
  /** Where it is paid, while it is open. */
  url: string | null;
};

/** The payment made in one checkout session. `id` is that of the provider's payment intent, which covers all attempts to pay. */
export type Charge = {
  id: string;
  /** Our ids, as written in its metadata. */
  payment: string | null;
  attempt: string | null;
  isPaid: boolean;
  isRefunded: boolean;
};

export function sessionOf(session: Stripe.Checkout.Session): CheckoutSession {
  const { id, status, payment_status, payment_intent } = session;
  const intent = typeof payment_intent === 'string' ? payment_intent : (payment_intent?.id ?? null);
  const isOver = status === 'complete' || status === 'expired';
  return {
    id,
    status: isOver ? (status as 'complete' | 'expired') : 'open',
    charge: payment_status === 'paid' ? intent : null,
    url: isOver ? null : session.url,
  };
}

export function chargeOf(intent: Stripe.PaymentIntent): Charge {
  const latest = intent.latest_charge;
  const isRefunded = latest !== null && typeof latest === 'object' && latest.refunded;
  return {
    id: intent.id,
    payment: intent.metadata.payment ?? null,
    attempt: intent.metadata.attempt ?? null,
    isPaid: intent.status === 'succeeded',
    isRefunded,
  };
}

/** A failed refund has moved no money. */
export function refundStatus({ status }: Pick<Stripe.Refund, 'status'>): 'done' | 'pending' | 'failed' {
  if (status === 'succeeded') return 'done';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'pending';
}
