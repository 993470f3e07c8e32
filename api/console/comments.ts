/** Comment threads of a site: reply, resolve, reopen. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { loadThread, readPicture } from '#api/comments/rules.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { liveDeploymentOf } from '#db/sites/transitions.ts';
import { errors } from '#runtime/errors.ts';
import { commentsPage, type ThreadShown } from '#web/console/comments.ts';
import type { Refused } from '#web/console/frame.ts';
import { sitePath } from '#web/console/tabs.ts';
import { action } from './actions.ts';
import { type Console, consolePage, type Named, siteFrameOf, siteOfPage } from './frame.ts';
import { pageTitles } from './page-titles.ts';
import { cursorOf, type Listed, read } from './reading.ts';

const threadsShown = 20;
type OfThread = { Params: { id: string; thread: string } };

export function commentPages(console: Console): void {
  const { app, deps } = console;
  const path = sitePath(':id', 'comments');
  app.get<Named>(path, consolePage('comments'), (request, reply) => show(request, reply, null));

  app.get<OfThread>(`${path}/:thread/picture`, consolePage('comment_picture'), async (request, reply) => {
    await requireThread(request);
    const { bytes, type } = await readPicture(request.em, deps, request.actor, request.params.thread);
    const headers = {
      'cache-control': 'private, max-age=3600',
      'content-security-policy': "sandbox; default-src 'none'",
    };
    return reply.headers(headers).type(type).send(bytes);
  });

  action(console, {
    path: `${path}/:thread/reply`,
    operation: 'comment.reply',
    input: (request, { field }) => ({ id: threadOf(request), message: field('message') ?? '' }),
    done: (_answer, request) => ({ to: placeOf(request), notice: 'Your reply is added to the comment.' }),
    show,
  });

  for (const [verb, notice] of [
    ['resolve', 'The comment is resolved.'],
    ['reopen', 'The comment is open again.'],
  ] as const) {
    action(console, {
      path: `${path}/:thread/${verb}`,
      operation: 'comment.write',
      input: (request) => ({ id: request.params.id, thread_id: threadOf(request), action: verb }),
      done: (_answer, request) => ({ to: sitePath(request.params.id, 'comments'), notice }),
      show,
    });
  }

  async function show(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { site, frame } = await siteFrameOf(request, reply, deps, refused);
    const { status: asked, ...part } = request.query as { status?: unknown; cursor?: unknown };
    const status = asked === 'resolved' ? 'resolved' : 'open';
    const { items, next_cursor } = await read<Listed<ThreadShown>>(console, request, 'comment.list', {
      id: site.id,
      status,
      limit: threadsShown,
      ...cursorOf(part),
    });
    const pages = items.map(({ page }) => page);
    const titles = await pageTitles(deps, await liveDeploymentOf(request.em, site), pages);
    const shown = { status, query: queryOf(request), threads: items, titles, next: next_cursor } as const;
    return sendPage(reply, commentsPage(frame, shown), refused?.status);
  }
}

const threadOf = (request: FastifyRequest<Named>) => (request.params as OfThread['Params']).thread;
/** Which part of which list is shown, or was when a reply was typed. */
const queryOf = ({ url }: FastifyRequest): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '');
/** The thread in the list in which the reply was typed. */
const placeOf = (request: FastifyRequest<Named>) =>
  `${sitePath(request.params.id, 'comments')}${queryOf(request)}#${threadOf(request)}`;

/** Throws `not_found` if the thread is not of the site in the path. */
async function requireThread(request: FastifyRequest<OfThread>): Promise<void> {
  const site = await siteOfPage(request);
  const thread = await loadThread(request.em, request.actor, request.params.thread);
  if (thread.site.id !== site.id) throw errors.not_found('There is no such comment on this website.');
}
