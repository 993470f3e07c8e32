/** What the provider of payments answers, as we speak of it. Pure. */
import type Stripe from 'stripe';

/** `charge` is there once money was taken. A page that is `complete` without one waits for a slow way of paying. */
export type HostedPage = { id: string; status: 'open' | 'complete' | 'expired'; charge: string | null };

/** What was paid on one page. The provider has more than one object for it; ours has the id of the one that stands for all tries (its "intent"). */
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

/** One that failed has left the money where it was. */
export function refundStatus({ status }: Pick<Stripe.Refund, 'status'>): 'done' | 'pending' | 'failed' {
  if (status === 'succeeded') return 'done';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'pending';
}
