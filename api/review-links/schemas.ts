import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { ReviewLink } from '#db/review-links/review-link.ts';
import { daySeconds } from '#rules/time.ts';
import type { Config } from '#runtime/config.ts';
import { type LinkStatus, statusOf } from './links.ts';

export const reviewLinkInput = z.strictObject({
  slot: z.number().int().optional().describe('The preview slot to review. The default is the live site.'),
  expires_in_seconds: z
    .number()
    .int()
    .min(60)
    .max(30 * daySeconds)
    .optional()
    .describe(
      'Lifetime of the link: 1 minute to 30 days, and not longer than that of your token. The default is one week.',
    ),
});

export const reviewLinkSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    slot: z.number().int().nullable(),
    status: z.enum(['open', 'expired', 'ended'] satisfies LinkStatus[]),
    created_at: moment,
    expires_at: moment,
    ended_at: moment.nullable(),
  })
  .meta({ id: 'ReviewLink' });

export const newReviewLinkSchema = reviewLinkSchema
  .extend({
    url: z
      .string()
      .describe(
        'The link for the owner to open in a browser. Anyone who has the link can comment. It is shown only once.',
      ),
  })
  .meta({ id: 'NewReviewLink' });

export function reviewLinkView(link: ReviewLink, now: Date): z.output<typeof reviewLinkSchema> {
  return {
    id: link.id,
    site_id: link.site.id,
    slot: link.slot ?? null,
    status: statusOf(link, now),
    created_at: link.createdAt,
    expires_at: link.expiresAt,
    ended_at: link.endedAt ?? null,
  };
}

export function newReviewLinkView(link: ReviewLink, secret: string, { baseUrl }: Config, now: Date) {
  return { ...reviewLinkView(link, now), url: `${baseUrl}/review/${secret}` };
}
