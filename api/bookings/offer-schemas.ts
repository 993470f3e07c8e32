/** Prices and places of services, in requests and responses. */
import { z } from 'zod';
import { plainName } from '#api/schemas.ts';

export const price = z.strictObject({
  amount: z.int().min(1).max(100_000_000).describe('In the currency’s minor unit: 2500 means €25.00.'),
  currency: z.string().describe('An ISO 4217 code, such as EUR.'),
  per: z
    .enum(['seat', 'booking'])
    .default('seat')
    .describe('Whether the amount is for each seat or for the whole booking.'),
});
export const moneyAnswer = z.object({ amount: z.number().int(), currency: z.string() });
export const priceAnswer = moneyAnswer.extend({ per: z.enum(['seat', 'booking']) }).nullable();

export const whereabouts = {
  place: plainName(200)
    .nullable()
    .default(null)
    .describe('Where it takes place, such as a street address. Visitors see it before they book.'),
  link: z
    .string()
    .max(2000)
    .nullable()
    .default(null)
    .describe(
      'An https URL at which it takes place. Only a confirmed booking, its e-mails and its calendar file show it.',
    ),
};
export const whereaboutsAnswer = { place: z.string().nullable(), link: z.string().nullable() };
