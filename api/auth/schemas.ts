import { z } from 'zod';
import { moment, plainName } from '#api/schemas.ts';
import { tokenSchema } from '#api/tokens/schemas.ts';

export const accessRequestInput = z.strictObject({
  email: z.string().describe('The owner’s e-mail address, to which the approval link is sent.'),
  agent_name: plainName(60).describe('Your name. It is shown to the owner and becomes the token’s name.'),
  account_name: plainName(100)
    .optional()
    .describe('A name for the new account, if the address does not have an account yet.'),
});

export const accessRequestSchema = z
  .object({
    id: z.string(),
    status: z.literal('pending'),
    user_code: z
      .string()
      .describe('A code of eight letters. Show it to the owner, who enters it on the page linked in the e-mail.'),
    secret: z.string().describe('The secret that redeems the request. It is returned only once, so store it securely.'),
    interval_seconds: z.number().int().describe('Seconds to wait between polls.'),
    expires_at: moment,
    next_action: z.string(),
  })
  .meta({ id: 'AccessRequest' });

export const redeemInput = z.strictObject({
  secret: z.string().max(200).describe('The `secret` that was returned when the request was created.'),
});

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
    access_token: z.string().describe('The bearer token, returned only once.'),
    token: tokenSchema,
  }),
]);
