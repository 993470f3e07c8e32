/** Refunds of charges, whole or in parts. */
import type Stripe from 'stripe';
import type { PaymentCredentials } from '#providers/payments.ts';
import { toProvider } from '#rules/currencies.ts';
import { translateFaults } from './client.ts';
import { type RefundStatus, refundStatus } from './responses.ts';

export type PartialRefund = {
  charge: string;
  /** Our id, written on the refund so that it is found again. */
  id: string;
  /** In the minor unit of the currency. */
  amount: number;
  currency: string;
  idempotencyKey: string;
};

type On = (credentials: PaymentCredentials) => { api: Stripe; account: Stripe.RequestOptions };

/** The calls for refunds; `on` opens the account that received the charge. */
export function refundsOn(on: On) {
  return {
    /**
     * Refunds what is left of the charge. The idempotency key must be new after each call that failed. Returns `done`
     * also if someone else has refunded it, and `pending` while the provider processes it.
     */
    refund: (
      credentials: PaymentCredentials,
      { charge, idempotencyKey }: { charge: string; idempotencyKey: string },
    ): Promise<{ status: RefundStatus }> =>
      translateFaults(async () => {
        const { api, account } = on(credentials);
        try {
          const refund = await api.refunds.create({ payment_intent: charge }, { ...account, idempotencyKey });
          return { status: refundStatus(refund) };
        } catch (error) {
          if (codeOf(error) !== 'charge_already_refunded') throw error;
          const { data } = await api.refunds.list({ payment_intent: charge, limit: 100 }, account);
          return { status: data.some((refund) => refundStatus(refund) === 'pending') ? 'pending' : 'done' };
        }
      }),

    /**
     * Refunds a part of a charge, once for each `id`: the provider forgets idempotency keys after a day, so its list is
     * read first. The idempotency key must be new after each call that failed. Returns `impossible` if the charge has
     * less left, because its owner has refunded it elsewhere.
     */
    refundPart: (
      credentials: PaymentCredentials,
      input: PartialRefund,
    ): Promise<{ status: RefundStatus | 'impossible' }> =>
      translateFaults(async () => {
        const { api, account } = on(credentials);
        const { charge, id, idempotencyKey } = input;
        for await (const refund of api.refunds.list({ payment_intent: charge, limit: 100 }, account)) {
          const status = refundStatus(refund);
          if (refund.metadata?.refund === id && status !== 'failed') return { status };
        }
        const part = { payment_intent: charge, amount: toProvider(input), metadata: { refund: id } };
        try {
          return { status: refundStatus(await api.refunds.create(part, { ...account, idempotencyKey })) };
        } catch (error) {
          if (!['charge_already_refunded', 'amount_too_large'].includes(codeOf(error))) throw error;
          return { status: 'impossible' };
        }
      }),
  };
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? '';
