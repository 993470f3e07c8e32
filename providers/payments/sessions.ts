/** The request for a checkout session: always the same for the same attempt, so that its idempotency key holds. Pure. */
import type { NewCheckoutSession } from '#providers/payments.ts';

type Asked = { id: string; idempotencyKey: string; endsAt: Date };
type Payable = { id: string; amount: number; currency: string; site: { name: string } };

export function sessionFor(
  { baseUrl, baseDomain }: { baseUrl: string; baseDomain: string },
  payment: Payable,
  attempt: Asked,
): NewCheckoutSession {
  const { id, amount, currency, site } = payment;
  return {
    idempotencyKey: attempt.idempotencyKey,
    payment: id,
    attempt: attempt.id,
    amount,
    currency,
    title: `Payment to ${site.name}.${baseDomain}`,
    endsAt: attempt.endsAt,
    returnUrl: `${baseUrl}/pay/${id}/return`,
    cancelUrl: `${baseUrl}/pay/${id}/cancelled`,
  };
}
