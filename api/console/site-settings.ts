/** The settings of a site, its links for others, its export, archive and deletion. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireOwner } from '#api/access.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { sendPage } from '#api/plugins/browser.ts';
import type { EntityManager } from '#db/orm.ts';
import { contentsOfSite } from '#db/sites/contents.ts';
import { heldOfSite, pendingOfSite } from '#db/sites/pending.ts';
import { deletionDelay } from '#rules/periods.ts';
import type { Refused } from '#web/console/frame.ts';
import {
  type ArchiveView,
  archivePage,
  type ReviewLinkShown,
  type SiteSettingsView,
  siteDeletionPage,
  siteSettingsPage,
  type UploadLinkShown,
} from '#web/console/site-settings.ts';
import { sitePath } from '#web/console/tabs.ts';
import { action } from './actions.ts';
import { timetableOf } from './bookings.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';
import { read, readAll, sendFile } from './reading.ts';
import { base, settings, siteLinkPages, thing } from './site-links.ts';

type Show = (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) => Promise<unknown>;

export function siteSettingPages(console: Console): void {
  const { app } = console;
  const show: Show = (request, reply, refused) => showSettings(console, { request, reply, refused });
  app.get<Named>(base, consolePage('site_settings'), (request, reply) => show(request, reply, null));
  app.get<Named & { Querystring: { visitors?: unknown } }>(
    `${base}/export`,
    consolePage('site_export'),
    async (request, reply) => {
      const visitors = request.query.visitors === 'false' ? '?visitors=false' : '';
      return await sendFile(console, request, reply, `/v1/sites/${request.params.id}/export${visitors}`);
    },
  );
  changePages(console, show);
  siteLinkPages(console, show);
  endingPages(console, show);
}

function changePages(console: Console, show: Show): void {
  action(console, {
    path: `${base}/title`,
    operation: 'site.update',
    input: ({ params: { id } }, { field }) => ({ id, title: field('title') ?? '' }),
    done: (_answer, request) => ({ to: settings(request), notice: 'The title is saved.' }),
    show,
  });

  action(console, {
    path: `${base}/name`,
    operation: 'site.update',
    input: ({ params: { id } }, { field }) => ({ id, name: (field('name') ?? '').trim() }),
    done: ({ address }, request) => ({
      to: settings(request),
      notice: `The address is now ${address}. Publish the site, so that its pages name it.`,
    }),
    show,
  });

  action(console, {
    path: `${base}/bookings/notify`,
    operation: 'bookable.update',
    input: ({ params: { id } }, { field }) => ({ id, notify_to: field('notify_to') ?? '' }),
    done: ({ notify_to: to }, request) => ({ to: settings(request), notice: `E-mails about bookings go to ${to}.` }),
    show,
  });

  for (const [path, notice] of [
    ['enable', 'The form is switched on. Visitors can send it again.'],
    ['disable', 'The form is switched off.'],
  ] as const) {
    action(console, {
      path: `${base}/forms/:thing/${path}`,
      operation: `form.${path}`,
      input: (request) => ({ id: thing(request) }),
      done: (_answer, request) => ({ to: settings(request), notice }),
      show,
    });
  }

  action(console, {
    path: `${base}/forms/:thing/notify`,
    operation: 'form.update',
    input: (request, { field }) => ({ id: thing(request), notify_to: field('notify_to') ?? '' }),
    done: ({ name, notify_to: to }, request) => ({
      to: settings(request),
      notice: `E-mails about “${name}” go to ${to}.`,
    }),
    show,
  });
}

function endingPages(console: Console, show: Show): void {
  const { app, deps } = console;
  const showArchive: Show = async (request, reply, refused) => {
    const { site, frame } = await siteFrameOf(request, reply, deps, refused);
    requireOwner(site, request.actor, 'archive it');
    return sendPage(
      reply,
      archivePage(frame, await archiveView(request.em, deps.clock.now(), site.id)),
      refused?.status,
    );
  };
  const showDeletion: Show = async (request, reply, refused) => {
    const { site, frame } = await siteFrameOf(request, reply, deps, refused);
    requireOwner(site, request.actor, 'delete it');
    const open = refused?.code === 'confirm_required' ? refused.text : null;
    return sendPage(reply, siteDeletionPage(open ? { ...frame, refused: null } : frame, open), refused?.status);
  };
  app.get<Named>(`${base}/archive`, consolePage('site_archive'), (request, reply) => showArchive(request, reply, null));
  app.get<Named>(`${base}/delete`, consolePage('site_delete'), (request, reply) => showDeletion(request, reply, null));

  action(console, {
    path: `${base}/archive`,
    operation: 'site.archive',
    input: ({ params: { id } }) => ({ id }),
    done: (_answer, request) => ({
      to: settings(request),
      notice: 'The site is archived. You can put it online again at any time.',
    }),
    show: showArchive,
  });

  action(console, {
    path: `${base}/unarchive`,
    operation: 'site.unarchive',
    input: ({ params: { id } }) => ({ id }),
    done: (_answer, request) => ({ to: sitePath(request.params.id), notice: 'The site is online again.' }),
    show,
  });

  action(console, {
    path: `${base}/delete`,
    operation: 'site.delete',
    input: ({ params: { id } }, { field }) => ({
      id,
      confirm: 'true',
      ...(field('discard') === 'yes' ? { discard: 'true' } : {}),
    }),
    done: ({ title }) => ({
      to: '/account',
      notice: `${title} is being deleted. You can restore it for ${deletionDelay}.`,
    }),
    show: showDeletion,
  });
}

async function archiveView(em: EntityManager, now: Date, siteId: string): Promise<ArchiveView> {
  const { bookings, paid_bookings: paidBookings, payments } = await pendingOfSite(em, now, siteId);
  const held = await heldOfSite(em, now, siteId);
  const { forms } = await contentsOfSite(em, now, siteId);
  // Each booking that is held has an open payment of its own, which ends with it.
  return { bookings: bookings - held, paidBookings, held, links: Math.max(0, payments - held), forms };
}

type Asking = { request: FastifyRequest<Named>; reply: FastifyReply; refused: Refused | null };

async function showSettings(console: Console, { request, reply, refused }: Asking) {
  const { deps } = console;
  const { frame } = await siteFrameOf(request, reply, deps, refused);
  const asked = { id: request.params.id };
  const site = await read<{ name: string; former_hostnames: SiteSettingsView['formerHostnames'] }>(
    console,
    request,
    'site.read',
    asked,
  );
  const { items: forms } = capabilitiesOf(deps.config).forms
    ? await readAll<SiteSettingsView['forms'][number]>(console, request, 'form.list', asked)
    : { items: [] };
  const timetable = capabilitiesOf(deps.config).bookings ? await timetableOf(console, request) : null;
  const { items: uploads } = await readAll<UploadLinkShown>(console, request, 'upload.list', asked);
  const { items: reviews } = await readAll<ReviewLinkShown>(console, request, 'review.list', asked);
  const previews =
    deps.config.previews && deps.repositories
      ? (await read<{ items: { slot: number; address: string | null }[] }>(console, request, 'preview.list', asked))
          .items
      : [];
  const view = {
    name: site.name,
    baseDomain: deps.config.baseDomain,
    formerHostnames: site.former_hostnames,
    forms,
    bookings: timetable?.status === 'open' ? timetable : null,
    uploads,
    reviews,
    // Only what is shown can be reviewed.
    slots: previews.filter(({ address }) => address !== null).map(({ slot }) => slot),
  };
  return sendPage(reply, siteSettingsPage(frame, view), refused?.status);
}
