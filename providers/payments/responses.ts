/** Converts the payment provider's responses into our types. Pure. */
import type Stripe from 'stripe';
import { fromProvider } from '#rules/currencies.ts';

/** `charge` is set once the session is paid. A session that is `complete` without one waits for a slow payment method. */
export type CheckoutSession = {
  id: string;
  status: 'open' | 'complete' | 'expired';
  charge: string | null;
  /** Where it is paid, while it is open. */
  url: string | null;
  /** The payer's address, which the payer typed there; never stored but in an e-mail to it. */
  email: string | null;
};

/** The payment made in one checkout session. `id` is that of the provider's payment intent, which covers all attempts to pay. */
export type Charge = {
  id: string;
  /** Our ids, as written in its metadata. */
  payment: string | null;
  attempt: string | null;
  isPaid: boolean;
  isRefunded: boolean;
  /** In the minor unit of its currency. */
  refunded: number;
};

export type RefundStatus = 'done' | 'pending' | 'failed';

export function sessionOf(session: Stripe.Checkout.Session): CheckoutSession {
  const { id, status, payment_status, payment_intent } = session;
  const intent = typeof payment_intent === 'string' ? payment_intent : (payment_intent?.id ?? null);
  const isOver = status === 'complete' || status === 'expired';
  return {
    id,
    status: isOver ? (status as 'complete' | 'expired') : 'open',
    charge: payment_status === 'paid' ? intent : null,
    url: isOver ? null : session.url,
    email: plainAddress(session.customer_details?.email),
  };
}

/** Only what can stand in the header of an e-mail as one address. */
function plainAddress(text: string | null | undefined): string | null {
  return text && text.length <= 254 && /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/.test(text) ? text : null;
}

export function chargeOf(intent: Stripe.PaymentIntent): Charge {
  const latest = intent.latest_charge;
  const charge = latest !== null && typeof latest === 'object' ? latest : null;
  const currency = intent.currency.toUpperCase();
  return {
    id: intent.id,
    payment: intent.metadata.payment ?? null,
    attempt: intent.metadata.attempt ?? null,
    isPaid: intent.status === 'succeeded',
    isRefunded: charge?.refunded ?? false,
    refunded: fromProvider({ amount: charge?.amount_refunded ?? 0, currency }),
  };
}

/** A failed refund has moved no money. */
export function refundStatus({ status }: Pick<Stripe.Refund, 'status'>): RefundStatus {
  if (status === 'succeeded') return 'done';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'pending';
}
