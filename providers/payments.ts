/**
 * The payment provider: checkout sessions, charges and refunds on the account that receives the money. Callers never see
 * which provider it is: its responses are translated into our own terms.
 */
import type Stripe from 'stripe';
import { toProvider } from '#rules/currencies.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { waitingFor } from './payments/accounts.ts';
import { openClient, readSigned, translateFaults } from './payments/client.ts';
import { type PaymentsFault, translate } from './payments/faults.ts';
import { refundsOn } from './payments/refunds.ts';
import { type Charge, type CheckoutSession, chargeOf, sessionOf } from './payments/responses.ts';

export { PaymentsFault } from './payments/faults.ts';
export type { Charge, CheckoutSession, RefundStatus } from './payments/responses.ts';

/** The account to act for: with the owner's own key, or with ours for a connected account. Never logged. */
export type PaymentCredentials = { rail: 'own_key'; key: string } | { rail: 'connect'; providerAccount: string };

/** The state of an account at the provider. `waitingFor` is in our words; empty if nothing is missing. */
export type AccountState = {
  providerAccount: string;
  chargesEnabled: boolean;
  /** ISO 4217; null if the provider gives none. */
  currency: string | null;
  waitingFor: string[];
};

export type NewCheckoutSession = {
  idempotencyKey: string;
  /** Our id, written on the charge so that it can be found from the provider's side. */
  payment: string;
  attempt: string;
  /** In the minor unit of the currency. */
  amount: number;
  currency: string;
  /** What is paid for, and to whom, as the payer reads it. */
  title: string;
  business: string;
  /** 30 minutes to 24 hours from now. */
  endsAt: Date;
  returnUrl: string;
  cancelUrl: string;
};

/** The subject of a signed message. Its content is not trusted: callers read the current state again. */
export type PaymentEvent = { id: string; type: string; payment: string | null; account: string | null };

export type Payments = ReturnType<typeof openPayments>;

/** `key` and `webhookSecret` are ours, for connected accounts; empty if that rail is off. */
export function openPayments({ key, url, webhookSecret }: { key: string; url: string; webhookSecret: string }) {
  const open = (secret: string) => openClient(secret, url);

  const on = (credentials: PaymentCredentials) => {
    if (credentials.rail === 'own_key') return { api: open(credentials.key), account: {} };
    return { api: open(key), account: { stripeAccount: credentials.providerAccount } };
  };

  return {
    /** The account of an owner's own key. Throws PaymentsFault: `invalid_credentials` if the key is not accepted. */
    readKey: (ownKey: string): Promise<AccountState> =>
      translateFaults(async () => accountOf(await open(ownKey).accounts.retrieveCurrent())),

    readAccount: (credentials: PaymentCredentials): Promise<AccountState> =>
      translateFaults(async () =>
        accountOf(
          credentials.rail === 'own_key'
            ? await open(credentials.key).accounts.retrieveCurrent()
            : await open(key).accounts.retrieve(credentials.providerAccount),
        ),
      ),

    /** Creates a connected account, which its owner completes on the provider's own pages. */
    createAccount: ({ idempotencyKey }: { idempotencyKey: string }): Promise<AccountState> =>
      translateFaults(async () => accountOf(await open(key).accounts.create({ type: 'standard' }, { idempotencyKey }))),

    /** A link where the owner completes the account. Single-use and short-lived, so never stored, logged or mailed. */
    mintOnboardingLink: (providerAccount: string, urls: { returnUrl: string; refreshUrl: string }): Promise<string> =>
      translateFaults(async () => {
        const { returnUrl, refreshUrl } = urls;
        const link = await open(key).accountLinks.create({
          account: providerAccount,
          type: 'account_onboarding',
          return_url: returnUrl,
          refresh_url: refreshUrl,
        });
        return link.url;
      }),

    /** A hosted checkout session in which one payer pays once. The same `idempotencyKey` returns the same session. */
    openSession: (
      credentials: PaymentCredentials,
      input: NewCheckoutSession,
    ): Promise<CheckoutSession & { url: string }> =>
      translateFaults(async () => {
        const { api, account } = on(credentials);
        const { idempotencyKey, returnUrl, cancelUrl, endsAt } = input;
        const metadata = { payment: input.payment, attempt: input.attempt };
        const session = await api.checkout.sessions.create(
          {
            mode: 'payment',
            // Only payment methods that settle during the session: a seat is reserved meanwhile.
            allowed_payment_method_types: ['card'],
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: input.currency.toLowerCase(),
                  unit_amount: toProvider(input),
                  product_data: { name: input.title, description: input.business },
                },
              },
            ],
            client_reference_id: input.payment,
            metadata,
            payment_intent_data: { metadata, description: `${input.title} – ${input.business}` },
            success_url: returnUrl,
            cancel_url: cancelUrl,
            expires_at: Math.floor(endsAt.getTime() / 1000),
          },
          { ...account, idempotencyKey },
        );
        return { ...sessionOf(session), url: session.url ?? '' };
      }),

    readSession: (credentials: PaymentCredentials, sessionId: string): Promise<CheckoutSession> =>
      translateFaults(async () => {
        const { api, account } = on(credentials);
        return sessionOf(await api.checkout.sessions.retrieve(sessionId, {}, account));
      }),

    /** Expires a session so that it cannot be paid any more. Returns its state: it may have been paid a moment before. */
    closeSession: (credentials: PaymentCredentials, sessionId: string): Promise<CheckoutSession> =>
      translateFaults(async () => {
        const { api, account } = on(credentials);
        const was = sessionOf(await api.checkout.sessions.retrieve(sessionId, {}, account));
        if (was.status !== 'open') return was;
        try {
          return sessionOf(await api.checkout.sessions.expire(sessionId, {}, account));
        } catch (error) {
          // It was paid in between.
          if (translate(error).reason !== 'refused') throw error;
          return sessionOf(await api.checkout.sessions.retrieve(sessionId, {}, account));
        }
      }),

    ...refundsOn(on),

    readCharge: (credentials: PaymentCredentials, charge: string): Promise<Charge> =>
      translateFaults(async () => {
        const { api, account } = on(credentials);
        return chargeOf(await api.paymentIntents.retrieve(charge, { expand: ['latest_charge'] }, account));
      }),

    /** Charges on the account since then that came from our checkout sessions; the owner's other charges are skipped. */
    async *listCharges(credentials: PaymentCredentials, since: Date): AsyncGenerator<Charge> {
      const { api, account } = on(credentials);
      const created = { gte: Math.floor(since.getTime() / 1000) };
      try {
        const intents = api.paymentIntents.list({ created, limit: 100, expand: ['data.latest_charge'] }, account);
        for await (const intent of intents) if (intent.metadata.attempt) yield chargeOf(intent);
      } catch (error) {
        throw translate(error);
      }
    },

    /** Throws unless the message was signed with our secret within five minutes of `now`. */
    readEvent(body: Buffer, signature: string, now: Date): PaymentEvent {
      const event = readSigned(body, signature, webhookSecret, now);
      const about = event.data.object as { metadata?: Record<string, string> | null };
      return {
        id: event.id,
        type: event.type,
        payment: about.metadata?.payment ?? null,
        account: event.account ?? null,
      };
    },
  };
}

function accountOf(account: Stripe.Account): AccountState {
  return {
    providerAccount: account.id,
    chargesEnabled: account.charges_enabled === true,
    currency: account.default_currency?.toUpperCase() ?? null,
    waitingFor: waitingFor(account.requirements?.currently_due ?? [], account.charges_enabled === true),
  };
}

/** The API error for a fault of the provider. `what` names the part of the platform that failed. */
export function providerError(fault: PaymentsFault, what = 'The payment provider'): AppError {
  const unanswered = fault.reason === 'unanswered';
  return errors.provider_error(`${what} did not respond, or rejected the request.`, {
    retryable: unanswered,
    cause: fault,
    ...(unanswered ? { nextAction: 'Send the same request again in a minute.' } : {}),
  });
}
