import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { Ssl } from '#db/certificates/transitions.ts';
import type { Domain } from '#db/domains/domain.ts';
import { displayName } from '#rules/dns/names.ts';
import { domainModes, domainStatuses, recordTypes } from '#rules/states.ts';
import type { Advice } from './responsible-party.ts';

export const domainInput = z.strictObject({
  domain: z
    .string()
    .max(1000)
    .describe('A registered domain or one of its subdomains, such as example.com or shop.example.com.'),
  mode: z.string().describe('One of the account’s `domain_onboarding.modes`.'),
});

export const attachInput = z.strictObject({
  site_id: z.string(),
  primary: z
    .boolean()
    .optional()
    .describe(
      'Whether the site’s other addresses redirect to this domain. A site’s first domain becomes primary automatically.',
    ),
});

const setupSchema = z.object({
  type: z.enum(['NS', 'TXT', 'CNAME', 'A', 'AAAA']),
  name: z.string().describe('The full name of the record.'),
  value: z.string(),
  found: z.boolean(),
  optional: z
    .boolean()
    .describe(
      'Whether this record is optional: true if another address record (A or AAAA) is enough for the domain to work.',
    ),
  seen: z.array(z.string()).describe('The values that the last DNS check found.'),
});

const sslSchema = z.object({
  status: z.enum(['pending', 'validating', 'issuing', 'active', 'failed', 'expired']),
  expires_at: moment.nullable(),
});

export const domainSchema = z
  .object({
    id: z.string(),
    domain: z.string().describe('The name in ASCII (Punycode), as in the DNS.'),
    unicode: z.string().describe('The name in Unicode, for display.'),
    mode: z.enum(domainModes),
    status: z.enum(domainStatuses),
    ssl: sslSchema,
    setup: z
      .array(setupSchema)
      .describe(
        'The records that the owner must set in the mode of the domain, and the values found in the DNS. `nameservers`: NS. `cname`: TXT, which proves that the domain is theirs, with CNAME for a subdomain, or with A and AAAA for a domain without one, which cannot have a CNAME.',
      ),
    problems: z.array(z.string()).describe('Other problems that the owner must fix.'),
    waiting_on: z
      .enum(['owner', 'platform', 'operator'])
      .nullable()
      .describe('Who needs to act next; null if no action is needed.'),
    site_id: z.string().nullable(),
    primary: z.boolean(),
    checked_at: moment.nullable(),
    next_check_at: moment.nullable(),
    created_at: moment,
    next_action: z.string().optional(),
  })
  .meta({ id: 'Domain' });

/** Certificates and advice are loaded for all domains of a response at once. */
export function domainView(
  domain: Domain,
  { ssl, advice }: { ssl: Ssl; advice: Advice },
): z.output<typeof domainSchema> {
  const { setup, problems, waitingOn, nextAction } = advice;
  return {
    id: domain.id,
    domain: domain.name,
    unicode: displayName(domain.name),
    mode: domain.mode,
    status: domain.status,
    ssl: { status: ssl.status, expires_at: ssl.expiresAt },
    setup,
    problems,
    waiting_on: waitingOn,
    site_id: domain.site?.id ?? null,
    primary: domain.isPrimary,
    checked_at: domain.checkedAt ?? null,
    next_check_at: domain.nextCheckAt ?? null,
    created_at: domain.createdAt,
    ...(nextAction === null ? {} : { next_action: nextAction }),
  };
}

export const recordInput = z.strictObject({
  type: z.string().describe(`One of ${recordTypes.join(', ')}.`),
  name: z
    .string()
    .max(1000)
    .default('@')
    .describe('`@` for the domain itself, the part before the domain, or the full name.'),
  content: z
    .string()
    .max(10_000)
    .describe('An address, a name or text. For SRV: weight, port and host. For CAA: flags, tag and value.'),
  ttl: z.number().int().min(60).max(604_800).optional().describe('In seconds. The default is 3600.'),
  priority: z.number().int().min(0).max(65_535).optional().describe('Only for MX (the default is 10) and SRV.'),
});

export const recordSchema = z
  .object({
    record_id: z.string(),
    type: z.enum(recordTypes),
    name: z.string(),
    content: z.string(),
    ttl: z.number().int(),
    priority: z.number().int().optional(),
    managed: z.boolean().describe('Whether the record belongs to the platform and cannot be removed.'),
  })
  .meta({ id: 'DomainRecord' });
export type RecordView = z.output<typeof recordSchema>;
