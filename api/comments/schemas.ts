import { z } from 'zod';
import type { Person } from '#api/access.ts';
import { pageQuery } from '#api/pagination.ts';
import { instant, moment, plainName } from '#api/schemas.ts';
import type { Account } from '#db/accounts/account.ts';
import type { CommentThread } from '#db/comments/comment-thread.ts';
import { containsAddress } from '#rules/addresses-in-text.ts';
import { commentStatuses } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';

const noteLengthMax = 500;
const bodyLengthMax = 4000;

export const typedBody = z.string().trim().min(1).max(bodyLengthMax);
/** The name that a reviewer types: it must not look like a link to those who read it. */
export const typedName = plainName(60).refine((name) => !containsAddress(name));
const share = z.number().min(0).max(1);
const pixels = z.number().min(-1_000_000).max(1_000_000);
const side = z.number().int().min(1).max(100_000);

/** A path of the site as it appears in a URL. Resolved against any host, it stays on that host. */
export const typedPage = z
  .string()
  .max(2048)
  .regex(/^\/(?![/\\])[^\\?#\p{C}\s]*$/u, 'a page must be a path that begins with a single slash, such as /about/');

export const positionInput = z.strictObject({
  selector: z.string().min(1).max(1000).nullish().describe('A CSS selector for the element that the comment is about.'),
  quote: z
    .string()
    .max(300)
    .nullish()
    .describe('The text at this position. It is used to find the position if the selector no longer matches.'),
  x: pixels.nullish().describe('CSS pixels from the left edge of the page.'),
  y: pixels.nullish().describe('CSS pixels from the top edge of the page.'),
  within: z
    .strictObject({ x: share, y: share })
    .nullish()
    .describe('The position within the selected element, as fractions of its width and height.'),
  viewport: z.strictObject({ width: side, height: side }).nullish(),
});

export const typedPicture = z.string().min(4).describe('A PNG, JPEG or WebP screenshot of the page, in base64.');

/** The fields that start a thread and those that change one; a call sends only one of the two groups. */
export const commentInput = z.strictObject({
  page: typedPage
    .optional()
    .describe('The path of the page to comment on, such as `/about/`. Required for a new thread.'),
  body: typedBody.optional().describe(`The comment, 1 to ${bodyLengthMax} characters. Required for a new thread.`),
  position: positionInput.optional(),
  screenshot_base64: typedPicture.optional(),
  thread_id: z.string().optional().describe('The id of the thread to resolve or reopen.'),
  action: z.enum(['resolve', 'reopen']).optional(),
  note: z
    .string()
    .trim()
    .max(noteLengthMax)
    .optional()
    .describe(`The reason for the change, at most ${noteLengthMax} characters.`),
});
export type CommentInput = z.output<typeof commentInput>;

export const replyInput = z.strictObject({ message: typedBody });

export const commentQuery = pageQuery.extend({
  status: z.enum(commentStatuses).optional(),
  since: instant.optional().describe('Only threads that changed at or after this time.'),
});

const messageSchema = z.object({
  id: z.string(),
  author: z.string(),
  author_kind: z
    .enum(['owner', 'collaborator', 'agent'])
    .describe('`agent` for a message sent with a token; otherwise the role of the person who wrote it in a browser.'),
  author_name: z
    .string()
    .nullable()
    .describe(
      'The name that a reviewer typed, unverified, or the name of the agent’s token. Other accounts get null in place of the name of a token.',
    ),
  body: z.string(),
  created_at: moment,
});

export const threadSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    status: z.enum(commentStatuses),
    page: z.string(),
    position: z
      .object({
        selector: z.string().nullable(),
        quote: z.string().nullable(),
        x: z.number().nullable(),
        y: z.number().nullable(),
        within: z.object({ x: z.number(), y: z.number() }).nullable(),
        viewport: z.object({ width: z.number(), height: z.number() }).nullable(),
      })
      .nullable(),
    deployment_id: z.string().nullable().describe('The deployment that the comment is about.'),
    screenshot: z.union([
      z.object({ url: z.string() }),
      z.object({ missing: z.string().describe('Why there is no screenshot.') }),
    ]),
    messages: z.array(messageSchema),
    created_at: moment,
    changed_at: moment,
    resolved_at: moment.nullable(),
  })
  .meta({ id: 'CommentThread' });

/** The thread, loaded with its messages and their accounts, as the account of `reader` sees it. */
export function threadView(
  thread: CommentThread,
  { baseUrl }: Pick<Config, 'baseUrl'>,
  reader: Pick<Person, 'accountId'>,
): z.output<typeof threadSchema> {
  return {
    id: thread.id,
    site_id: thread.site.id,
    status: thread.status,
    page: thread.page,
    position: thread.position ?? null,
    deployment_id: thread.deploymentId ?? null,
    screenshot:
      thread.pictureMissing == null
        ? { url: `${baseUrl}/v1/comments/${thread.id}/screenshot` }
        : { missing: thread.pictureMissing },
    messages: thread.messages.getItems().map(({ id, account, authorKind, authorName, body, createdAt }) => ({
      id,
      author: (account as Account).name,
      author_kind: authorKind,
      author_name: authorKind === 'agent' && account.id !== reader.accountId ? null : (authorName ?? null),
      body,
      created_at: createdAt,
    })),
    created_at: thread.createdAt,
    changed_at: thread.changedAt,
    resolved_at: thread.resolvedAt ?? null,
  };
}
