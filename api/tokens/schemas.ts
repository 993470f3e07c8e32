import { z } from 'zod';
import type { Actor } from '#api/access.ts';
import { instant, moment } from '#api/schemas.ts';
import type { Token } from '#db/auth/token.ts';
import { scopeSitesMax } from '#rules/scopes.ts';

const name = z.string().trim().min(1).max(100).describe('A name that helps the owner recognise the token.');

const sites = z
  .union([
    z.literal('all'),
    z
      .array(z.string())
      .min(1)
      .max(scopeSitesMax)
      .refine((ids) => new Set(ids).size === ids.length, 'it must not repeat a site'),
  ])
  .describe('`all`, with sites that are created later, or a list of site ids.');
const access = z.enum(['read', 'write']).describe('Whether the token may change and publish the sites.');
const payouts = z
  .boolean()
  .describe('Whether it may decide where money goes: payout accounts, offers, the account’s plan.');
const account = z
  .boolean()
  .describe('Whether it may change the account: its name and address, its tokens, deletion of sites.');

const scopeSchema = z
  .object({ sites: z.union([z.literal('all'), z.array(z.string())]), access, payouts, account })
  .meta({ id: 'Scope', description: 'What a token may do.' });
const scopeInput = z
  .strictObject({ sites, access, payouts, account })
  .partial()
  .describe(
    'What the token may do; at most what the token that you are using may do. Each part that you omit is the same as that token’s, but `payouts` and `account` are then false.',
  );

export const tokenInput = z.strictObject({
  name,
  expires_at: instant
    .optional()
    .describe(
      'When the token expires; must be in the future, and not later than the token that you are using. If omitted, it expires with that token, or never if that does not expire.',
    ),
  scope: scopeInput.optional(),
});
export const tokenChange = z.strictObject({ name });

export const tokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    last_four: z.string(),
    created_at: moment,
    last_used_at: moment.nullable(),
    expires_at: moment.nullable(),
    scope: scopeSchema,
    current: z.boolean().describe('Whether this token was used to make this call.'),
  })
  .meta({ id: 'Token' });
export const newTokenSchema = tokenSchema.extend({
  access_token: z.string().describe('The token itself. It is shown only once.'),
});

export const revokedTokenSchema = tokenSchema.extend({ revoked_at: moment }).meta({ id: 'RevokedToken' });

export function tokenView(token: Token, actor: Pick<Actor, 'tokenId'>): z.output<typeof tokenSchema> {
  return {
    id: token.id,
    name: token.name,
    last_four: token.lastFour,
    created_at: token.createdAt,
    last_used_at: token.lastUsedAt ?? null,
    expires_at: token.expiresAt ?? null,
    scope: token.scope,
    current: token.id === actor.tokenId,
  };
}
