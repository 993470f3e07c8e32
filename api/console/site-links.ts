/** Upload links and review links of a site: created and closed on the page of its settings. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from '#runtime/errors.ts';
import { type LinkShown, linkEndPage, newLinkPage } from '#web/console/site-settings.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Action, action, askedAction } from './actions.ts';
import { type Console, type Named, siteFrameOf } from './frame.ts';
import { readAll } from './reading.ts';

export const base = '/account/sites/:id/settings';
/** The id of a form or link in the path. */
export const thing = ({ params }: FastifyRequest): string => (params as { thing: string }).thing;
export const settings = ({ params }: FastifyRequest<Named>) => sitePath(params.id, 'settings');

/** `show`: the page of the settings. */
export function siteLinkPages(console: Console, show: Action['show']): void {
  const { deps } = console;
  const once = async (
    request: FastifyRequest<Named>,
    reply: FastifyReply,
    link: Parameters<typeof newLinkPage>[1],
  ) => ({
    page: newLinkPage((await siteFrameOf(request, reply, deps)).frame, link),
  });

  action(console, {
    path: `${base}/uploads`,
    operation: 'upload.create',
    input: ({ params: { id } }, { field }) => ({ id, max_files: Number(field('max_files') ?? '') }),
    done: ({ url }, request, _form, reply) =>
      once(request, reply, {
        title: 'Your upload link',
        hint: 'It is shown only once. Anyone who has it can send photos for a week.',
        url: String(url),
      }),
    show,
  });

  action(console, {
    path: `${base}/reviews`,
    operation: 'review.create',
    input: ({ params: { id } }, { field }) => {
      const slot = field('slot') ?? '';
      return { id, ...(slot === '' ? {} : { slot: Number(slot) }) };
    },
    done: ({ url }, request, _form, reply) =>
      once(request, reply, {
        title: 'Your review link',
        hint: 'It is shown only once. Anyone who has it can comment for a week.',
        url: String(url),
      }),
    show,
  });

  for (const [path, operation] of [
    ['uploads', 'upload.end'],
    ['reviews', 'review.end'],
  ] as const) {
    askedAction(console, {
      page: `${path}_end`,
      path: `${base}/${path}/:thing/end`,
      operation,
      async ask(request, reply, refused) {
        const { frame } = await siteFrameOf(request, reply, deps, refused);
        const list = operation === 'upload.end' ? 'upload.list' : 'review.list';
        const { items } = await readAll<LinkShown>(console, request, list, { id: request.params.id });
        if (!items.some(({ id }) => id === thing(request)))
          throw errors.not_found('There is no such link on this site.');
        return linkEndPage(frame, { kind: path, id: thing(request) });
      },
      input: (request) => ({ id: thing(request) }),
      done: (_answer, request) => ({ to: settings(request), notice: 'The link is closed.' }),
    });
  }
}
