/** Parts that the schemas of several resources are made of. */
import { z } from 'zod';
import { catalog, type ErrorCode } from '#runtime/errors.ts';

/** A moment in an answer: RFC 3339 in UTC. */
export const moment = z.date();

/** `since` of a list: what came after this moment. Codes `invalid_since`. */
export const sinceQuery = z.iso
  .datetime({
    offset: true,
    error: 'it has to be an RFC 3339 timestamp such as 2026-11-21T10:00:00Z, with a plus sign written as %2B',
  })
  .transform((text) => new Date(text));

/** A name that is put into mails to people who have not asked for one: one line of plain words. */
export function plainName(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/[\p{C}\p{Zl}\p{Zp}]|:\/\//u.test(text), 'a name is one line of text, without an address in it');
}

/** The input of a call without input: no body, or `{}`. */
export const noInput = z.strictObject({});

/** The path of a call on one resource. Which ids exist, and for whom, is decided by the rule that loads it. */
export const idParams = z.object({ id: z.string() });

/** Body of every error answer. */
export const errorAnswer = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(catalog) as [ErrorCode, ...ErrorCode[]]).describe('For programs; does not change.'),
      message: z.string().describe('For a reader; written to be relayed to an owner.'),
      retryable: z.boolean().describe('Whether the same request can succeed later.'),
      next_action: z.string().optional().describe('The remedy, where a call mends it.'),
      request_id: z.string().optional().describe('Of `internal` alone: send it with feedback.'),
      detail: z.string().optional().describe('Of a build that failed: the end of its log.'),
    }),
  })
  .meta({ id: 'Error', description: 'Every error answer. The codes are listed at `GET /errors`.' });
