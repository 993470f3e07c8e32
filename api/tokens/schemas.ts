import { z } from 'zod';
import type { Actor } from '#api/access.ts';
import { moment } from '#api/schemas.ts';
import type { Token } from '#db/auth/token.ts';

const name = z.string().trim().min(1).max(100).describe('A name that helps the owner recognise the token.');

export const tokenInput = z.strictObject({
  name,
  expires_at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      'When the token expires; must be in the future, and not later than the token that you are using. If omitted, it expires with that token, or never if that does not expire.',
    ),
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
    current: z.boolean().describe('Whether this token was used to make this call.'),
  })
  .meta({ id: 'Token' });
export const newTokenSchema = tokenSchema.extend({
  access_token: z.string().describe('The token itself. It is shown only once.'),
});

export const revokedTokenSchema = tokenSchema.extend({ revoked_at: moment }).meta({ id: 'RevokedToken' });

export function tokenView(token: Token, actor: Actor): z.output<typeof tokenSchema> {
  return {
    id: token.id,
    name: token.name,
    last_four: token.lastFour,
    created_at: token.createdAt,
    last_used_at: token.lastUsedAt ?? null,
    expires_at: token.expiresAt ?? null,
    current: token.id === actor.tokenId,
  };
}
