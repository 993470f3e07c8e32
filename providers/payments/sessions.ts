/** The request for a checkout session: always the same for the same attempt, so that its idempotency key holds. Pure. */
import type { NewCheckoutSession } from '#providers/payments.ts';

type Asked = { id: string; idempotencyKey: string; endsAt: Date };
type Payable = { id: string; amount: number; currency: string; description: string | null };
type Business = { title: string; hostname: string };

export function sessionFor(
  { baseUrl }: { baseUrl: string },
  { id, amount, currency, description }: Payable,
  attempt: Asked,
  { title, hostname }: Business,
): NewCheckoutSession {
  const business = `${title} (${hostname})`;
  return {
    idempotencyKey: attempt.idempotencyKey,
    payment: id,
    attempt: attempt.id,
    amount,
    currency,
    title: description ?? `Payment to ${title}`,
    business,
    endsAt: attempt.endsAt,
    returnUrl: `${baseUrl}/pay/${id}/return`,
    cancelUrl: `${baseUrl}/pay/${id}/cancelled`,
  };
}
