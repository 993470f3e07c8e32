/** Refunds, up to the available balance. */
import { allOf, find, keep, newName, Refusal, type Route, type StoredObject, seconds } from './state.ts';

export const refundRoutes: Route[] = [
  {
    method: 'POST',
    path: /^\/v1\/refunds$/,
    run(stub, { input, account }) {
      const intent = find(stub, 'payment_intent', String(input.payment_intent), account);
      const charge = intent.latest_charge as StoredObject;
      const left = Number(charge.amount) - Number(charge.amount_refunded);
      if (left === 0) throw new Refusal(400, 'charge_already_refunded', 'The charge has already been refunded.');
      const amount = input.amount === undefined ? left : Number(input.amount);
      if (!Number.isInteger(amount) || amount < 1)
        throw new Refusal(400, 'parameter_invalid_integer', 'Invalid integer.');
      if (amount > left)
        throw new Refusal(400, 'amount_too_large', 'The refund exceeds the remaining refundable amount.');
      if (stub.knobs.failRefunds) throw new Refusal(400, 'balance_insufficient', 'The account’s balance is too low.');
      charge.amount_refunded = Number(charge.amount_refunded) + amount;
      charge.refunded = charge.amount_refunded === charge.amount;
      stub.sendEvent('charge.refunded', { ...charge, metadata: intent.metadata });
      const { id: payment_intent, currency } = intent;
      const rest = {
        amount,
        currency,
        payment_intent,
        charge: charge.id,
        metadata: input.metadata ?? {},
        status: stub.knobs.holdRefunds ? 'pending' : 'succeeded',
      };
      return keep(stub, { id: newName('re'), object: 'refund', account, created: seconds(stub), ...rest });
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/refunds$/,
    run(stub, { input, account }) {
      const data = allOf(stub, 'refund', account).filter((one) => one.payment_intent === input.payment_intent);
      if (!stub.knobs.holdRefunds) for (const refund of data) refund.status = 'succeeded';
      return { object: 'list', url: '/v1/refunds', has_more: false, data };
    },
  },
];
