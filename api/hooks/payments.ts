/**
 * Webhooks of the payment provider, about connected accounts. Only the signature is trusted. Each event is handled
 * once: it makes the payment's workflow query the provider, or the account's state is read from it.
 */

import type { Api } from '#api/api.ts';
import { Payment } from '#db/payments/payment.ts';
import { signalSettlePayment } from '#db/payments/transitions.ts';
import { payoutAccountChanged } from '#db/payouts/provider-status.ts';
import type { PaymentEvent } from '#providers/payments.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { signedMessage } from './signed.ts';

export function paymentHooks(app: Api, deps: Deps): void {
  const { config, payments } = deps;
  app.post('/hooks/payments', { config: { operation: 'hook.payments' }, schema: { hide: true } }, async (request) => {
    if (!payments || !config.payouts?.webhookSecret) throw errors.not_found('Webhooks are not enabled.');
    const event = signedMessage(request, (body, signature) => payments.readEvent(body, signature, deps.clock.now()));
    await refreshAccount(deps, event);
    await recordEvent(deps, event);
    return { heard: true };
  });
}

/** An event about the account itself: its state is read from the provider before the event is acknowledged. */
async function refreshAccount(deps: Deps, { account, payment }: PaymentEvent): Promise<void> {
  if (payment !== null || account === null || (await payoutAccountChanged(deps, account))) return;
  throw errors.provider_error('The payout account could not be retrieved from the payment provider.', {
    retryable: true,
  });
}

async function recordEvent(deps: Deps, { id, payment }: PaymentEvent): Promise<void> {
  await deps.em().transactional(async (tx) => {
    const recorded = await tx.execute<unknown[]>(
      'insert into payment_event (id, received_at) values (?, ?) on conflict do nothing returning id',
      [id, deps.clock.now()],
    );
    if (recorded.length === 0 || payment === null) return;
    if ((await tx.count(Payment, { id: payment })) > 0) signalSettlePayment(tx, deps.clock, payment);
  });
}
