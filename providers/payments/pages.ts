/** The request for a hosted page: always the same for the same attempt, so that its idempotency key holds. Pure. */
import type { NewPage } from '#providers/payments.ts';

type Asked = { id: string; idempotencyKey: string; endsAt: Date };
type Payable = { id: string; amount: number; currency: string; site: { name: string } };

export function pageFor(
  { baseUrl, baseDomain }: { baseUrl: string; baseDomain: string },
  payment: Payable,
  attempt: Asked,
): NewPage {
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
