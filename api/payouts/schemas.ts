import { z } from 'zod';
import { moment, plainName } from '#api/schemas.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import { call } from '#rules/calls/calls.ts';
import { payoutRails } from '#rules/states.ts';

const secretKey = z
  .string()
  .trim()
  .max(500)
  .describe('A restricted key from your payment provider’s dashboard. It is encrypted and never shown again.');

/** Exactly one of `secret_key` and `rail` is required; the validation explains that. */
export const payoutAccountInput = z.strictObject({
  name: plainName(100).optional(),
  secret_key: secretKey.optional(),
  rail: z.literal('connect').optional().describe('Send this instead of a key to connect the account through a link.'),
});
export const renameInput = z.strictObject({ name: plainName(100) });
export const keyInput = z.strictObject({ secret_key: secretKey });

export const payoutAccountSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    rail: z.enum(payoutRails),
    key_last_four: z.string().nullable(),
    status: z.enum(['ready', 'pending', 'gone']),
    currency: z.string().nullable().describe('An ISO 4217 code; null while the currency is unknown.'),
    waiting_for: z.array(z.string()).describe('What the account still needs before it can accept payments.'),
    sites: z.number().int().describe('Number of sites that use this payout account.'),
    created_at: moment,
    next_action: z.string().optional(),
  })
  .meta({ id: 'PayoutAccount' });

export const onboardingSchema = z
  .object({
    url: z
      .string()
      .describe(
        'The link for the owner to open in a browser. Anyone who has the link can use it, so treat it as a secret.',
      ),
    expires_at: moment,
    next_action: z.string(),
  })
  .meta({ id: 'PayoutOnboarding' });

export function payoutAccountView(account: PayoutAccount, sites: number): z.output<typeof payoutAccountSchema> {
  const { id, name, rail, keyLastFour, status, currency, waitingFor, createdAt } = account;
  const nextAction = remedy(account, sites);
  return {
    id,
    name,
    rail,
    key_last_four: keyLastFour ?? null,
    status,
    currency: currency ?? null,
    waiting_for: waitingFor,
    sites,
    created_at: createdAt,
    ...(nextAction === undefined ? {} : { next_action: nextAction }),
  };
}

function remedy({ id, rail, status, currency }: PayoutAccount, sites: number): string | undefined {
  if (status === 'gone') return undefined;
  if (status === 'pending' && rail === 'connect') {
    return `Call ${call('payout.onboard', { id })} and give the link to the owner.`;
  }
  if (status === 'pending') {
    return `The owner needs to complete the missing details in their payment provider’s dashboard, or send a new key with ${call('payout.replace_key', { id })}.`;
  }
  if (!currency)
    return `The owner needs to set a currency in their payment provider’s dashboard; then call ${call('payout.list')} again.`;
  return sites === 0
    ? `Attach this payout account to a site with ${call('payout_agreement.attach', { payout_account_id: id })}.`
    : undefined;
}
