/** What the provider of payments answers, as we speak of it. Pure. */
import type Stripe from 'stripe';

/** `charge` is there once money was taken. A page that is `complete` without one waits for a slow way of paying. */
export type HostedPage = { id: string; status: 'open' | 'complete' | 'expired'; charge: string | null };

export type Charge = {
  id: string;
  /** Ours, as they were written on it. */
  payment: string | null;
  attempt: string | null;
  isPaid: boolean;
  isRefunded: boolean;
};

export function pageOf(session: Stripe.Checkout.Session): HostedPage {
  const { id, status, payment_status, payment_intent } = session;
  const intent = typeof payment_intent === 'string' ? payment_intent : (payment_intent?.id ?? null);
  const isOver = status === 'complete' || status === 'expired';
  return {
    id,
    status: isOver ? (status as 'complete' | 'expired') : 'open',
    charge: payment_status === 'paid' ? intent : null,
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
