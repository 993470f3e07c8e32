/** Where the provider says that something has moved. What it says is not believed: it makes us ask. */
import { hearOfCustomer } from '../../db/billing.ts';
import type { Deps } from '../../deps.ts';
import { errors } from '../../errors.ts';
import type { BillingEvent } from '../../providers/billing.ts';
import type { Api } from '../api.ts';
import { missing } from '../capabilities.ts';

/** `POST /hooks/billing`: signed over its very bytes, so they are taken as they come. */
export function billingHooks(app: Api, deps: Deps): void {
  app.post(
    '/hooks/billing',
    { config: { operation: 'billing.hear' }, schema: { hide: true } },
    async ({ body, headers }) => {
      const event = readEvent(deps, body, headers['stripe-signature']);
      await hearOfCustomer(deps.em(), deps.clock, event);
      return { received: true };
    },
  );
}

function readEvent({ billing, config, clock }: Deps, body: unknown, signature: unknown): BillingEvent {
  if (!billing || !config.billing?.webhookSecret) {
    throw missing(config, 'billing') ?? errors.not_found('Nothing is heard here.');
  }
  try {
    if (Buffer.isBuffer(body) && typeof signature === 'string') return billing.readEvent(body, signature, clock.now());
  } catch {
    // Whatever is wrong with it, it was not signed by who knows the secret.
  }
  throw errors.invalid_input('This message is not signed as it should be.');
}
