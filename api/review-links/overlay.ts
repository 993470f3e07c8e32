/**
 * The API of the overlay's frame, with the link's secret in `x-review`. Cookies are ignored: other scripts in the page could make the
 * browser send them. A link reads and writes comments of its site and nothing else.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { actorOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { changeThreadStatus, loadThread, openThread, replyTo } from '#api/comments/rules.ts';
import { positionInput, threadView, typedBody, typedName, typedPage, typedPicture } from '#api/comments/schemas.ts';
import { idParams } from '#api/schemas.ts';
import { CommentThread } from '#db/comments/comment-thread.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { type Reviewer, reviewerOf } from './links.ts';
import { reviewTargetOf } from './slots.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The reviewer. Set on every call of the overlay's frame. */
    reviewer: Reviewer | null;
  }
}

const threadsMax = 500;
const reasons = {
  slow: 'The screenshot took too long.',
  large: 'The screenshot was too large.',
  failed: 'The browser could not capture the page.',
} as const;

const newThread = z.strictObject({
  author_name: z.string().max(1000).optional(),
  page: typedPage,
  body: typedBody,
  position: positionInput,
  screenshot_base64: typedPicture.optional(),
  missing: z.enum(['slow', 'large', 'failed']).optional(),
});
const change = z.strictObject({
  author_name: z.string().max(1000).optional(),
  message: typedBody.optional(),
  action: z.enum(['resolve', 'reopen']).optional(),
});

/** Before the routes: authenticates by the secret. */
export function requireReview(scope: Api, deps: Deps): void {
  scope.decorateRequest('reviewer', null);
  scope.addHook('onRequest', async (request) => {
    const secret = request.headers['x-review'];
    request.em = deps.em();
    request.reviewer = await reviewerOf(request.em, deps, typeof secret === 'string' ? secret : '');
    request.actor = actorOf(request.reviewer.author.accountId, request.reviewer.link.id);
  });
}

export function overlayRoutes(app: Api, deps: Deps): void {
  const { config } = deps;

  app.get('/review/threads', { config: { operation: 'review.threads' }, schema: { hide: true } }, async (request) => {
    const { site, author } = reviewer(request);
    const where = { site: site.id };
    const options = { orderBy: { id: 'desc' }, limit: threadsMax, populate: ['messages.account'] } as const;
    const threads = await request.em.find(CommentThread, where, options);
    return { threads: threads.map((thread) => threadView(thread as CommentThread, config, author)) };
  });

  app.post(
    '/review/threads',
    {
      config: { operation: 'review.comment', makes: 'thread', invalid: { body: 'invalid_body' }, replay: one },
      schema: { hide: true, body: newThread },
    },
    async (request) => {
      const { site, author, link } = reviewer(request);
      const { missing, screenshot_base64: picture, author_name, ...words } = request.body;
      const { deploymentId } = await reviewTargetOf(request.em, deps, site, link.slot ?? null);
      const thread = await openThread(request.em, deps, { ...author, name: readName(author_name) }, site.id, {
        id: request.newId('thread'),
        messageId: request.newId('msg'),
        ...words,
        // Without file storage the comment is stored without its screenshot.
        ...(config.files ? { screenshot_base64: picture } : {}),
        missing: config.files ? missing && reasons[missing] : 'This platform does not store screenshots.',
        deploymentId,
      });
      request.answeredId = thread.id;
      return { thread: threadView(thread, config, author) };
    },
  );

  app.post(
    '/review/threads/:id',
    {
      config: { operation: 'review.answer', invalid: { message: 'invalid_body' }, replay: one },
      schema: { hide: true, params: idParams, body: change },
    },
    async (request) => {
      const { em, params, body } = request;
      const { author, site } = reviewer(request);
      const { message, action } = body;
      if ((await loadThread(em, author, params.id)).site.id !== site.id) await loadThread(em, author, '');
      if ((message === undefined) === (action === undefined)) {
        throw errors.invalid_json('Send either a message or an action, but not both.');
      }
      const messageId = request.newId('msg');
      const thread = action
        ? await changeThreadStatus(em, deps, author, params.id, { messageId, action })
        : await replyTo(em, deps, { ...author, name: readName(body.author_name) }, params.id, {
            messageId,
            message: message ?? '',
          });
      request.answeredId = thread.id;
      return { thread: threadView(thread, config, author) };
    },
  );

  async function one(request: FastifyRequest, id: string) {
    const { author } = reviewer(request);
    return { thread: threadView(await loadThread(request.em, author, id), config, author) };
  }
}

/** Throws `invalid_visitor`, in words for the reviewer. */
function readName(typed: string | undefined): string | undefined {
  const read = typedName.optional().safeParse(typed);
  if (read.success) return read.data;
  throw errors.invalid_visitor(
    'Enter a name of at most 60 characters, in one line and without a web or e-mail address.',
  );
}

function reviewer({ reviewer }: FastifyRequest): Reviewer {
  if (!reviewer) throw errors.not_found('There is no review at this address.');
  return reviewer;
}
