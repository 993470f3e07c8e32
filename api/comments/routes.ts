import type { FilterQuery } from '@mikro-orm/core';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { loadSite, roleOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { byId, listOf, newestFirst, page } from '#api/pagination.ts';
import { idParams } from '#api/schemas.ts';
import { CommentThread } from '#db/comments/comment-thread.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { type Author, changeThreadStatus, findThread, loadThread, openThread, readPicture, replyTo } from './rules.ts';
import { type CommentInput, commentInput, commentQuery, replyInput, threadSchema, threadView } from './schemas.ts';

/** Comment threads for agents. */
export function commentRoutes(app: Api, deps: Deps): void {
  const { config } = deps;
  const replay = async ({ em, actor }: FastifyRequest, id: string) =>
    threadView(await loadThread(em, actor, id), config, actor);

  app.get(
    '/v1/sites/:id/comments',
    {
      config: { operation: 'comment.list', needs: 'read' },
      schema: {
        summary: 'List a site’s comment threads',
        params: idParams,
        querystring: commentQuery,
        response: { 200: listOf(threadSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const { status, since } = query;
      const where: FilterQuery<CommentThread> = {
        site: site.id,
        ...(status ? { status } : {}),
        ...(since ? { changedAt: { $gte: since } } : {}),
      };
      const list = ['comments', site.id, status ?? '', since?.toISOString() ?? ''];
      const { rows, next_cursor } = await page(config.secret, list, query, newestFirst(em, CommentThread, where), byId);
      await em.populate(rows, ['messages.account']);
      return { items: rows.map((thread) => threadView(thread, config, actor)), next_cursor };
    },
  );

  app.post(
    '/v1/sites/:id/comments',
    {
      config: {
        operation: 'comment.write',
        needs: 'write',
        makes: 'thread',
        invalid: { body: 'invalid_body', note: 'note_too_long' },
        replay,
      },
      schema: {
        summary: 'Start, resolve or reopen a comment thread',
        description:
          'Send `page` and `body` to start a thread, or `thread_id` and `action` to change one. `note` gives the reason for the change.',
        params: idParams,
        body: commentInput,
        response: { 200: threadSchema },
      },
    },
    async (request) => threadView(await write(request, request.params.id, request.body), config, request.actor),
  );

  app.post(
    '/v1/comments/:id/reply',
    {
      config: { operation: 'comment.reply', needs: 'write', invalid: { message: 'invalid_body' }, replay },
      schema: {
        summary: 'Reply to a comment thread',
        params: idParams,
        body: replyInput,
        response: { 200: threadSchema },
      },
    },
    async (request) => {
      const { em, params, body } = request;
      const input = { messageId: request.newId('msg'), message: body.message };
      const thread = await findThread(em, request.actor, params.id);
      const author = await authorOf(request, thread.site.id);
      return threadView(await replyTo(em, deps, author, params.id, input), config, author);
    },
  );

  app.get(
    '/v1/comments/:id/screenshot',
    {
      config: { operation: 'comment.screenshot', needs: 'read', answers: ['image/png', 'image/jpeg', 'image/webp'] },
      schema: {
        summary: 'Read a thread’s screenshot',
        params: idParams,
        response: { 200: z.any().describe('A PNG, JPEG or WebP image.') },
      },
    },
    async ({ em, actor, params }, reply) => {
      const { bytes, type } = await readPicture(em, deps, actor, params.id);
      return reply
        .headers({ 'content-type': type, 'content-security-policy': "sandbox; default-src 'none'" })
        .send(bytes);
    },
  );

  async function write(request: FastifyRequest, siteId: string, input: CommentInput) {
    const { em } = request;
    const { thread_id, action, note, page, body, ...rest } = input;
    const messageId = request.newId('msg');
    if (thread_id === undefined && action === undefined) {
      const author = await authorOf(request, siteId);
      if (note !== undefined) throw mixed('A note requires thread_id and action.');
      if (body === undefined) throw errors.invalid_body('A new thread requires body, the text of the comment.');
      if (page === undefined) throw mixed('A new thread requires page, the path of the page to comment on.');
      return await openThread(em, deps, author, siteId, {
        id: request.newId('thread'),
        messageId,
        page,
        body,
        ...rest,
      });
    }
    const thread = await findThread(em, request.actor, thread_id ?? '');
    if (thread.site.id !== siteId) await findThread(em, request.actor, '');
    if (action === undefined) throw mixed('To change a thread, set action to resolve or reopen.');
    if (page !== undefined || body !== undefined || Object.keys(rest).length > 0) {
      throw mixed('A call that changes a thread accepts only thread_id, action and note.');
    }
    return await changeThreadStatus(em, deps, await authorOf(request, siteId), thread.id, { messageId, action, note });
  }
}

const mixed = (text: string) =>
  errors.invalid_json(text, {
    nextAction: `Send page and body to start a thread, or thread_id and action to change one. To reply, call ${call('comment.reply')} with a message.`,
  });

/** A caller with a token comments as an agent, a person in the console in their own name. Throws `not_found`. */
async function authorOf({ em, actor }: FastifyRequest, siteId: string): Promise<Author> {
  const site = await loadSite(em, actor, siteId);
  return { ...actor, kind: actor.isSession ? roleOf(site, actor) : 'agent' };
}
