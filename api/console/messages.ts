/** Messages: the submissions of a site's forms. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { markDone, unfinished } from '#api/inbox/done.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { Submission } from '#db/forms/submission.ts';
import type { Refused } from '#web/console/frame.ts';
import {
  type FormShown,
  type MessageShown,
  messageDeletionPage,
  messagePage,
  messagesPage,
} from '#web/console/messages.ts';
import { sitePath } from '#web/console/tabs.ts';
import { action } from './actions.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';
import { cursorOf, type Listed, read, readAll, requireOfSite, sendFile } from './reading.ts';

const base = '/account/sites/:id/messages';
type Asked = Named & { Querystring: { form?: unknown; spam?: unknown; cursor?: unknown } };
type OneOf = { Params: { id: string; message: string } };

export function messagePages(console: Console): void {
  const { app, deps } = console;

  app.get<Asked>(base, consolePage('messages'), (request, reply) => showList(request, reply, null));

  app.get<Asked>(`${base}/file`, consolePage('messages_file'), async (request, reply) => {
    const { id = '' } = (await formsOf(request)).chosen ?? {};
    const spam = request.query.spam === 'true' ? '&spam=true' : '';
    return await sendFile(console, request, reply, `/v1/forms/${id}/submissions?format=csv${spam}`);
  });

  app.get<OneOf>(`${base}/:message`, consolePage('message'), (request, reply) => showOne(request, reply, null));

  app.get<OneOf>(`${base}/:message/delete`, consolePage('message_delete'), (request, reply) =>
    showDeletion(request, reply, null),
  );

  action(console, {
    path: `${base}/read`,
    operation: 'inbox.done',
    input: (_request, { all }) => ({ items: all('id').map((id) => ({ kind: 'new_submission', id })) }),
    done: (_answer, { params }) => ({ to: sitePath(params.id, 'messages'), notice: 'Marked as read.' }),
    show: showList,
  });

  action(console, {
    path: `${base}/:message/spam`,
    operation: 'submission.update',
    input: (request, { field }) => ({ id: messageId(request), spam: field('spam') === 'yes' }),
    done: ({ spam }, request) => ({
      to: `${sitePath(request.params.id, 'messages')}/${messageId(request)}`,
      notice: spam ? 'Marked as spam.' : 'It is back among your messages.',
    }),
    show: showOne,
  });

  action(console, {
    path: `${base}/:message/delete`,
    operation: 'submission.delete',
    input: (request) => ({ id: messageId(request), confirm: 'true' }),
    done: ({ form_id: form, spam }, { params }) => ({
      to: `${sitePath(params.id, 'messages')}?form=${form}${spam ? '&spam=true' : ''}`,
      notice: 'The message is deleted.',
    }),
    show: showDeletion,
  });

  async function formsOf(request: FastifyRequest<Asked>) {
    const { items: forms } = await readAll<FormShown>(console, request, 'form.list', { id: request.params.id });
    const asked = forms.find(({ id }) => id === request.query.form);
    return { forms, chosen: asked ?? forms[0] ?? null };
  }

  /** Which of these messages wait in the person's inbox. */
  async function unreadOf({ em, actor }: FastifyRequest, messages: readonly MessageShown[]): Promise<Set<string>> {
    const waiting = {
      id: { $in: messages.map(({ id }) => id) },
      form: { site: { status: 'active' as const } },
      spam: false,
      [unfinished(actor.accountId, { kind: 'new_submission', at: 'created_at' })]: [],
    };
    const found = await em.find(Submission, waiting, { fields: ['id'] });
    return new Set(found.map(({ id }) => id));
  }

  async function showList(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame } = await siteFrameOf(request, reply, deps, refused);
    const asked = request as FastifyRequest<Asked>;
    const { forms, chosen } = await formsOf(asked);
    const spam = asked.query.spam === 'true';
    const { items, next_cursor: cursor } = chosen
      ? await read<Listed<MessageShown>>(console, request, 'form.submissions', {
          id: chosen.id,
          spam: String(spam),
          ...cursorOf(asked.query),
        })
      : { items: [], next_cursor: null };
    const unread = await unreadOf(request, items);
    return sendPage(
      reply,
      messagesPage(frame, { forms, chosen, spam, messages: items, unread, cursor }),
      refused?.status,
    );
  }

  /** Throws `not_found` for a message of another site. */
  async function messageOf(request: FastifyRequest<Named>): Promise<{ chosen: FormShown; message: MessageShown }> {
    const message = await read<MessageShown>(console, request, 'submission.read', { id: messageId(request) });
    const chosen = await read<FormShown & { site_id: string }>(console, request, 'form.read', { id: message.form_id });
    requireOfSite(request, chosen);
    return { chosen, message };
  }

  /** A message that was opened is read. */
  async function showOne(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame } = await siteFrameOf(request, reply, deps, refused);
    const found = await messageOf(request);
    const { id, created_at: at } = found.message;
    const isNew = (await unreadOf(request, [found.message])).has(id);
    if (isNew && request.method === 'GET') {
      const read = { kind: 'new_submission', id, at: new Date(at) } as const;
      await markDone(request.em, request.actor.accountId, [read], deps.clock.now());
    }
    return sendPage(reply, messagePage(frame, found), refused?.status);
  }

  async function showDeletion(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { frame } = await siteFrameOf(request, reply, deps, refused);
    return sendPage(reply, messageDeletionPage(frame, await messageOf(request)), refused?.status);
  }
}

const messageId = ({ params }: FastifyRequest): string => (params as OneOf['Params']).message;
