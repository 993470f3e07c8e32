import { z } from 'zod';
import { moment, plainName } from '#api/schemas.ts';
import { tokenSchema } from '#api/tokens/schemas.ts';

export const accessRequestInput = z.strictObject({
  email: z.string().describe('Address of the owner. The link to approve is mailed there.'),
  agent_name: plainName(60).describe('What the owner reads: who asks. It becomes the name of the token.'),
  account_name: plainName(100).optional().describe('Name of the account, should this approval open one.'),
});

export const accessRequestSchema = z
  .object({
    id: z.string(),
    status: z.literal('pending'),
    user_code: z
      .string()
      .describe('Eight letters. Show them to the owner, who types them on the page that the mail links to.'),
    secret: z.string().describe('For redeeming; shown once. Keep it to yourself.'),
    interval_seconds: z.number().int().describe('Time to wait between two polls.'),
    expires_at: moment,
    next_action: z.string(),
  })
  .meta({ id: 'AccessRequest' });

export const redeemInput = z.strictObject({ secret: z.string().max(200).describe('The `secret` of the request.') });

export const redeemedSchema = z.discriminatedUnion('status', [
  z.object({
    id: z.string(),
    status: z.literal('pending').describe('The owner has not answered yet.'),
    interval_seconds: z.number().int(),
    expires_at: moment,
    next_action: z.string(),
  }),
  z.object({
    id: z.string(),
    status: z.literal('approved'),
    access_token: z.string().describe('The bearer token. It is shown this once.'),
    token: tokenSchema,
  }),
]);
