/**
 * The provider that takes money for plans: customers, pages to subscribe on, subscriptions. It is told what a plan costs and is never asked what
 * one may do. Faults are those of `payments.ts`, in our words.
 */
import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import { toProvider } from '#rules/currencies.ts';
import { openClient, readSigned, translateFaults } from './payments/client.ts';
import { translate } from './payments/faults.ts';

export type CheckoutPage = {
  id: string;
  status: 'open' | 'complete' | 'expired';
  /** Where to pay, while it is open. */
  url: string | null;
  /** What was bought on it. */
  subscription: string | null;
};

export type SubscriptionState = {
  status: 'active' | 'past_due' | 'ended';
  /** When it ends, where its owner has cancelled it. */
  cancelsAt: Date | null;
};

export type NewCheckout = {
  /** Ours: names what is bought, and makes the call the same one however often it is made. */
  id: string;
  customer: string;
  title: string;
  price: { amount: number; currency: string; interval: 'month' | 'year' };
  /** At least 30 minutes from now. */
  endsAt: Date;
  returnUrl: string;
};

/** What a signed message is about; what it says is not believed, but asked for anew. */
export type BillingEvent = { id: string; customer: string | null };

export type Billing = ReturnType<typeof openBilling>;

export function openBilling({ key, url, webhookSecret }: { key: string; url: string; webhookSecret: string }) {
  const api = openClient(key, url);
  const readCheckout = (page: string): Promise<CheckoutPage> =>
    translateFaults(async () => pageOf(await api.checkout.sessions.retrieve(page)));

  return {
    /** The account as the provider's customer. The same account with the same address is made once. */
    createCustomer: (account: { id: string; name: string; email: string }, idempotencyKey: string): Promise<string> =>
      translateFaults(async () => {
        const { id, name, email } = account;
        return (await api.customers.create({ name, email, metadata: { account: id } }, { idempotencyKey })).id;
      }),

    /** A page on which the customer subscribes, at the price of our catalog. */
    openCheckout: ({ id, customer, title, price, endsAt, returnUrl }: NewCheckout): Promise<CheckoutPage> =>
      translateFaults(async () => {
        const session = await api.checkout.sessions.create(
          {
            mode: 'subscription',
            // Methods that are settled on the page: a plan is in force when it is paid, not days before.
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
        return pageOf(session);
      }),

    readCheckout,

    /** Ends a page so that nobody subscribes on it any more. Answers what it is now: somebody may have, a moment before. */
    closeCheckout: (page: string): Promise<CheckoutPage> =>
      translateFaults(async () => {
        const was = pageOf(await api.checkout.sessions.retrieve(page));
        if (was.status !== 'open') return was;
        try {
          return pageOf(await api.checkout.sessions.expire(page, {}, { idempotencyKey: `close:${page}` }));
        } catch (error) {
          if (translate(error).reason !== 'refused') throw error;
          return pageOf(await api.checkout.sessions.retrieve(page));
        }
      }),

    readSubscription: (subscription: string): Promise<SubscriptionState> =>
      translateFaults(async () => stateOf(await api.subscriptions.retrieve(subscription))),

    /** Ends it at once; what was paid beyond today is credited to the customer. */
    endSubscription: (subscription: string): Promise<SubscriptionState> =>
      translateFaults(async () => {
        const was = stateOf(await api.subscriptions.retrieve(subscription));
        if (was.status === 'ended') return was;
        const idempotencyKey = `end:${subscription}`;
        return stateOf(
          await api.subscriptions.cancel(subscription, { prorate: true, invoice_now: true }, { idempotencyKey }),
        );
      }),

    /** Where the customer cancels, changes the card, and finds the invoices. Minutes long, so never stored. */
    openPortal: (customer: string, returnUrl: string, idempotencyKey: string): Promise<string> =>
      translateFaults(async () => {
        const portal = { customer, return_url: returnUrl };
        return (await api.billingPortal.sessions.create(portal, { idempotencyKey })).url;
      }),

    /** Throws where the message was not signed with our secret within five minutes of `now`. */
    readEvent(body: Buffer, signature: string, now: Date): BillingEvent {
      const event = readSigned(body, signature, webhookSecret, now);
      const { customer } = event.data.object as { customer?: string | { id: string } | null };
      return { id: event.id, customer: typeof customer === 'string' ? customer : (customer?.id ?? null) };
    },
  };
}

function pageOf({ id, status, url, subscription }: Stripe.Checkout.Session): CheckoutPage {
  const bought = typeof subscription === 'string' ? subscription : (subscription?.id ?? null);
  const known = status === 'complete' ? 'complete' : status === 'expired' ? 'expired' : 'open';
  return { id, status: known, url, subscription: bought };
}

function stateOf({ status, cancel_at, cancel_at_period_end, items }: Stripe.Subscription): SubscriptionState {
  const periodEnd = items.data[0]?.current_period_end;
  const cancels = cancel_at ?? (cancel_at_period_end ? periodEnd : undefined);
  return { status: meanings[status] ?? 'past_due', cancelsAt: cancels ? new Date(cancels * 1000) : null };
}

/** Whatever waits for money counts as overdue: the grace decides how long. */
const meanings: Record<string, SubscriptionState['status']> = {
  active: 'active',
  trialing: 'active',
  canceled: 'ended',
  incomplete_expired: 'ended',
};

/** A key for a write that is the same one only with the very same content. */
export function digestOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
