/** Schemas that several resources share. */
import { z } from 'zod';
import { catalog, type ErrorCode } from '#runtime/errors.ts';

/** A timestamp in a response: RFC 3339 in UTC. */
export const moment = z.date();

const notInstant =
  'must be an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00 (in a URL, send %2B for the plus sign)';
const isoInstant = z.iso.datetime({ offset: true });
const leapSecond = /:60(?=[.Z+-])/;

/** The offset may move a time out of the years that PostgreSQL reads. */
const [earliest, latest] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'].map(Date.parse) as [number, number];

/**
 * A time in a request: RFC 3339 in either letter case. JavaScript has no leap seconds: one is the second before it. Times
 * before the year 1 and after 9999 are the first and the last of these years.
 */
export const instant = z
  .string({ error: ({ input }) => (input === undefined ? undefined : notInstant) })
  .transform((text) => text.toUpperCase())
  .refine(
    (text) => /T\d\d:\d\d:\d\d/.test(text) && isoInstant.safeParse(text.replace(leapSecond, ':59')).success,
    notInstant,
  )
  .transform((text) => Math.min(latest, Math.max(earliest, Date.parse(text.replace(leapSecond, ':59')))))
  .transform((time) => new Date(time))
  .meta({ format: 'date-time' });

/** A name that may appear in e-mails to strangers: one line of plain text. */
export function plainName(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(
      (text) => !/[\p{C}\p{Zl}\p{Zp}]|:\/\//u.test(text),
      'a name must be a single line of text without a web address',
    );
}

/** One line of text for people who may be strangers. */
export function plainText(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), 'must be a single line of text');
}

/** How something came about. */
export const via = z.object({
  kind: z
    .enum(['token', 'person', 'git', 'platform'])
    .describe('A program with a token, a person in a browser, a git push, or the service itself.'),
  name: z.string().nullable().describe('The name of the token; null to every account but its own.'),
});

/** The input of an operation without input: no body, or `{}`. */
export const noInput = z.strictObject({});

/** The path of an operation on one resource. The rule that loads the resource validates the id. */
export const idParams = z.object({ id: z.string() });

/** The body of every error response. */
export const errorAnswer = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(catalog) as [ErrorCode, ...ErrorCode[]]).describe('Machine-readable and stable.'),
      message: z.string().describe('Human-readable. Relay it to the owner.'),
      retryable: z.boolean().describe('Whether the same request can succeed later.'),
      next_action: z.string().optional().describe('The next API call to make, if a call can fix the problem.'),
      request_id: z
        .string()
        .optional()
        .describe('Present only if the code is `internal`. Include this id when you report the problem.'),
      detail: z.string().optional().describe('Present only for a failed build: the end of the build log.'),
    }),
  })
  .meta({ id: 'Error', description: 'The body of every error response. `GET /errors` lists the codes.' });
