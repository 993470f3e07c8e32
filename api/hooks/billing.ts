/** Webhooks of the billing provider. Their content is not trusted: an event only makes us query the provider. */

import type { Api } from '#api/api.ts';
import { missing } from '#api/capabilities.ts';
import { recordProviderEvent } from '#db/billing/transitions.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { signedMessage } from './signed.ts';

export function billingHooks(app: Api, deps: Deps): void {
  const { billing, clock, config } = deps;
  app.post('/hooks/billing', { config: { operation: 'hook.billing' }, schema: { hide: true } }, async (request) => {
    if (!billing || !config.billing?.webhookSecret) {
      throw missing(config, 'billing') ?? errors.not_found('Webhooks are not enabled.');
    }
    const event = signedMessage(request, (body, signature) => billing.readEvent(body, signature, clock.now()));
    await recordProviderEvent(deps.em(), clock, event);
    return { heard: true };
  });
}
