/**
 * The payment provider for plans: customers, checkout sessions, subscriptions. It receives the price of a plan but never
 * decides what an account may do. Faults are those of `payments.ts`.
 */
import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import { toProvider } from '#rules/currencies.ts';
import { openClient, readSigned, translateFaults } from './payments/client.ts';
import { translate } from './payments/faults.ts';

export type BillingSession = {
  id: string;
  status: 'open' | 'complete' | 'expired';
  /** Where to pay, while the session is open. */
  url: string | null;
  /** The subscription that was bought in it. */
  subscription: string | null;
};

export type SubscriptionState = {
  status: 'active' | 'past_due' | 'ended';
  /** When it ends, if its owner has cancelled it. */
  cancelsAt: Date | null;
};

export type NewBillingSession = {
  /** Our id: names the purchase, and is the idempotency key of the call. */
  id: string;
  customer: string;
  title: string;
  price: { amount: number; currency: string; interval: 'month' | 'year' };
  /** At least 30 minutes from now. */
  endsAt: Date;
  returnUrl: string;
};

/** The subject of a signed message. Its content is not trusted: callers read the current state again. */
export type BillingEvent = { id: string; customer: string | null };

export type Billing = ReturnType<typeof openBilling>;

export function openBilling({ key, url, webhookSecret }: { key: string; url: string; webhookSecret: string }) {
  const api = openClient(key, url);
  const readSession = (sessionId: string): Promise<BillingSession> =>
    translateFaults(async () => sessionOf(await api.checkout.sessions.retrieve(sessionId)));

  return {
    /** The account's customer at the provider. The same account with the same address is created once. */
    createCustomer: (account: { id: string; name: string; email: string }, idempotencyKey: string): Promise<string> =>
      translateFaults(async () => {
        const { id, name, email } = account;
        return (await api.customers.create({ name, email, metadata: { account: id } }, { idempotencyKey })).id;
      }),

    /** Creates a session in which the customer subscribes, at the price of our catalog. */
    openSession: ({ id, customer, title, price, endsAt, returnUrl }: NewBillingSession): Promise<BillingSession> =>
      translateFaults(async () => {
        const session = await api.checkout.sessions.create(
          {
            mode: 'subscription',
            // Only payment methods that settle during the session: a plan starts when it is paid, not days before.
            allowed_payment_method_types: ['card'],
            customer,
            client_reference_id: id,
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: price.currency.toLowerCase(),
                  unit_amount: toProvider(price),
                  recurring: { interval: price.interval },
                  product_data: { name: title },
                },
              },
            ],
            subscription_data: { metadata: { subscription: id } },
            success_url: returnUrl,
            cancel_url: returnUrl,
            expires_at: Math.floor(endsAt.getTime() / 1000),
          },
          { idempotencyKey: id },
        );
        return sessionOf(session);
      }),

    readSession,

    /** Expires a session so that it accepts no more subscriptions. Returns its state: it may just have been completed. */
    closeSession: (sessionId: string): Promise<BillingSession> =>
      translateFaults(async () => {
        const was = sessionOf(await api.checkout.sessions.retrieve(sessionId));
        if (was.status !== 'open') return was;
        try {
          return sessionOf(await api.checkout.sessions.expire(sessionId, {}, { idempotencyKey: `close:${sessionId}` }));
        } catch (error) {
          if (translate(error).reason !== 'refused') throw error;
          return sessionOf(await api.checkout.sessions.retrieve(sessionId));
        }
      }),

    readSubscription: (subscription: string): Promise<SubscriptionState> =>
      translateFaults(async () => stateOf(await api.subscriptions.retrieve(subscription))),

    /** Ends it at once; the unused part of the paid period is credited to the customer. */
    endSubscription: (subscription: string): Promise<SubscriptionState> =>
      translateFaults(async () => {
        const was = stateOf(await api.subscriptions.retrieve(subscription));
        if (was.status === 'ended') return was;
        const idempotencyKey = `end:${subscription}`;
        return stateOf(
          await api.subscriptions.cancel(subscription, { prorate: true, invoice_now: true }, { idempotencyKey }),
        );
      }),

    /** Where the customer cancels, changes the card and finds the invoices. Valid for minutes, so never stored. */
    openPortal: (customer: string, returnUrl: string, idempotencyKey: string): Promise<string> =>
      translateFaults(async () => {
        const portal = { customer, return_url: returnUrl };
        return (await api.billingPortal.sessions.create(portal, { idempotencyKey })).url;
      }),

    /** Throws unless the message was signed with our secret within five minutes of `now`. */
    readEvent(body: Buffer, signature: string, now: Date): BillingEvent {
      const event = readSigned(body, signature, webhookSecret, now);
      const { customer } = event.data.object as { customer?: string | { id: string } | null };
      return { id: event.id, customer: typeof customer === 'string' ? customer : (customer?.id ?? null) };
    },
  };
}

function sessionOf({ id, status, url, subscription }: Stripe.Checkout.Session): BillingSession {
  const bought = typeof subscription === 'string' ? subscription : (subscription?.id ?? null);
  const known = (['complete', 'expired'] as const).find((one) => one === status) ?? 'open';
  return { id, status: known, url, subscription: bought };
}

function stateOf({ status, cancel_at, cancel_at_period_end, items }: Stripe.Subscription): SubscriptionState {
  const periodEnd = items.data[0]?.current_period_end;
  const cancels = cancel_at ?? (cancel_at_period_end ? periodEnd : undefined);
  return { status: meanings[status] ?? 'past_due', cancelsAt: cancels ? new Date(cancels * 1000) : null };
}

/** Any status that waits for money counts as overdue: the grace period decides how long. */
const meanings: Record<string, SubscriptionState['status']> = {
  active: 'active',
  trialing: 'active',
  canceled: 'ended',
  incomplete_expired: 'ended',
};

/** An idempotency key that stays the same only for the same content. */
export function digestOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
