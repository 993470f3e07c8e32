/** A paid payment, to refund in parts. */
import { randomUUID } from 'node:crypto';
import { PaymentRefund } from '#db/payments/payment-refund.ts';
import type { StoredObject } from '#tools/local/payments/state.ts';
import type { PayingFixture } from './fixture.ts';

/** A payment that was paid, the calls that refund it, and what the provider has refunded. */
export async function newPaid(fixture: PayingFixture, ...given: Parameters<PayingFixture['newPayment']>) {
  const made = await fixture.newPayment(...given);
  await fixture.press((await fixture.openLink(made.payUrl)).page);
  const refund = (amount?: number, headers: Record<string, string> = { 'idempotency-key': randomUUID() }) =>
    made.owner.call('POST', `/v1/payments/${made.id}/refund`, {
      body: amount === undefined ? {} : { amount },
      headers,
    });
  const parts = () =>
    fixture.deps.em().find(PaymentRefund, { attempt: { payment: made.id } }, { orderBy: { id: 'asc' } });
  const atProvider = () =>
    [...fixture.stub.stub.objects.values()]
      .filter((one) => one.object === 'refund' && fixture.chargesOf(made.id).some((charge) => isOf(charge, one)))
      .map(({ amount }) => amount);
  return { ...made, refund, parts, atProvider };
}
const isOf = (charge: object, { charge: id }: StoredObject) => 'id' in charge && charge.id === id;
