import { z } from 'zod';
import { capabilities, capabilitiesOf } from '#api/capabilities.ts';
import { type PayoutsOfAccount, payoutsSchema, payoutsView } from '#api/payouts/account-view.ts';
import { moment, plainName } from '#api/schemas.ts';
import type { Account } from '#db/accounts/account.ts';
import type { EmailChange } from '#db/accounts/email-change.ts';
import { sandboxKinds } from '#providers/sandbox/sandbox.ts';
import { call } from '#rules/calls/calls.ts';
import { type LimitName, type Limits, limitNames } from '#rules/limit-names.ts';
import { limitsOf, planOf, planStatusOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { waitingFor } from './address-change.ts';
import type { Usage } from './rules.ts';

const limitSchema = z
  .object({
    value: z.number().int(),
    used: z.number().int().optional(),
    resets_at: moment.optional(),
  })
  .meta({ id: 'Limit' });

const pendingSchema = z.object({
  email: z.string(),
  waiting_for: z.enum(['old', 'new']).describe('The address that has to confirm next.'),
  expires_at: moment,
});

export const pendingView = (change: EmailChange): z.output<typeof pendingSchema> => ({
  email: change.email,
  waiting_for: waitingFor(change),
  expires_at: change.expiresAt,
});

export const accountSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    pending_email: z.string().nullable(),
    pending: pendingSchema.nullable().describe('A change of the address that awaits confirmation; otherwise null.'),
    created_at: moment,
    counts: z.object({ sites: z.number().int(), archived_sites: z.number().int(), domains: z.number().int() }),
    limits: z.record(z.enum(limitNames), limitSchema).describe('All of the account’s limits.'),
    billing: z.object({
      enabled: z.boolean().describe('Whether plans are sold here. If not, the platform charges nothing.'),
      plan: z.string(),
      status: z.enum(['free', 'granted', 'active', 'past_due']),
    }),
    payouts: payoutsSchema,
    domain_onboarding: z.object({ modes: z.array(z.enum(['nameservers', 'cname'])) }),
    skill: z.string().describe(`The version of the skill. ${call('skill.list')} lists its files.`),
    base_domain: z.string(),
    offers_to_answer: z.number().int(),
    capabilities: z.record(z.enum(capabilities), z.boolean()),
    sandboxes: z
      .array(z.enum(sandboxKinds))
      .describe(
        'The sandboxes of the running workers, each kind once. `unprotected` means that builds have no sandbox. Empty if no running worker builds sites.',
      ),
  })
  .meta({ id: 'Account' });

export const accountChange = z.strictObject({
  name: plainName(100).optional(),
  email: z
    .string()
    .optional()
    .describe('The new address, which replaces the current one once both have confirmed with an e-mailed code.'),
});

export const accountChangedSchema = z.object({
  changed: z.array(z.enum(['name', 'pending_email'])).describe('The fields that changed.'),
  pending: pendingSchema.nullable().describe('The new address while it awaits confirmation; otherwise null.'),
  account: accountSchema,
  status: z.literal('pending').optional(),
  next_action: z.string().optional(),
});

/** Values of disabled features are empty: no metering, no payments, no domains. */
type AccountContext = {
  usage: Usage;
  pending: EmailChange | null;
  deps: Pick<Deps, 'clock' | 'config'>;
  builders: boolean;
  sandboxes: string[];
  payouts: PayoutsOfAccount;
  skill: string;
};

export function accountView(
  account: Account,
  { usage, pending, deps, builders, sandboxes, payouts, skill }: AccountContext,
): z.output<typeof accountSchema> {
  const { config } = deps;
  const on = capabilitiesOf(config);
  return {
    id: account.id,
    name: account.name,
    email: account.email,
    pending_email: pending?.email ?? null,
    pending: pending && pendingView(pending),
    created_at: account.createdAt,
    counts: { sites: usage.sites, archived_sites: usage.archivedSites, domains: usage.domains },
    limits: limitsView(limitsOf(deps.config, account, deps.clock.now()), {
      sites: { used: usage.sites },
      tokens: { used: usage.tokens },
      files_per_day: { used: usage.files.used, resets_at: usage.files.resetsAt },
      ...hourlyView(usage.hourly),
      domains: { used: usage.domains },
      sketches: { used: usage.sketches },
    }),
    billing: {
      enabled: config.billing !== undefined,
      plan: planOf(deps.config, account, deps.clock.now()).name,
      status: planStatusOf(deps.config, account, deps.clock.now()),
    },
    payouts: payoutsView(payouts, config),
    domain_onboarding: { modes: config.domains.modes },
    skill,
    base_domain: config.baseDomain,
    offers_to_answer: payouts.offersToAnswer,
    capabilities: { ...on, builds: on.builds && builders },
    // A newer worker may have a kind that this version does not know.
    sandboxes: sandboxKinds.filter((kind) => sandboxes.includes(kind)),
  };
}

function hourlyView(hourly: Usage['hourly']): Partial<Record<LimitName, Used>> {
  const entries = Object.entries(hourly).map(([name, { used, resetsAt }]) => [name, { used, resets_at: resetsAt }]);
  return Object.fromEntries(entries);
}

type Used = { used: number; resets_at?: Date | undefined };

function limitsView(limits: Limits, used: Partial<Record<LimitName, Used>>) {
  const entries = limitNames.map((name) => [name, { value: limits[name], ...used[name] }]);
  return Object.fromEntries(entries) as Record<LimitName, z.output<typeof limitSchema>>;
}
