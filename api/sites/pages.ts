/** Restoring a site in a signed-in browser: the page behind the mailed link, and its button. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findSite, roleOf } from '#api/access.ts';
import { action, showRefusal } from '#api/console/actions.ts';
import type { Console } from '#api/console/frame.ts';
import { formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { html } from '#web/html.ts';
import { confirmationPage } from '#web/pages/confirmation.ts';
import { noticePage } from '#web/pages/notice.ts';
import { day } from '#web/times.ts';

type Named = { Params: { id: string } };

/** All routes require a session. Opening the page restores nothing. */
export function sitePages(console: Console): void {
  const { app, deps } = console;
  app.get<Named>('/account/sites/:id/restore', pageOptions('site.show_deletion', 'email_signin'), (request, reply) =>
    showDeletion(request, reply, deps),
  );

  action(console, {
    path: '/account/sites/:id/restore',
    operation: 'site.restore',
    input: ({ params: { id } }) => ({ id }),
    done: () => ({
      to: '/account',
      notice: 'The website is restored, but still archived. Put it online to show it to visitors again.',
    }),
    show: showRefusal,
  });
}

async function showDeletion(request: FastifyRequest<Named>, reply: FastifyReply, deps: Deps) {
  const { em, actor, params } = request;
  const site = await findSite(em, actor, params.id);
  if (!site || roleOf(site, actor) !== 'owner') return sendPage(reply, notFound, 404);
  if (!site.deleteAt) return sendPage(reply, restored);
  const page = confirmationPage({
    form: formsFor(request, reply, deps),
    action: `/account/sites/${site.id}/restore`,
    title: `Keep ${siteHostname(deps.config, site.name)}?`,
    lead: html`This website is offline, and will be deleted on <strong>${day(site.deleteAt)}</strong>. If you restore it, it is archived again, with everything that it had. You or your agent can then put it online.`,
    button: 'Restore',
    hint: 'To let it be deleted, go back; nothing will change.',
  });
  return sendPage(reply, page);
}

const toAccount = { href: '/account', text: 'Your account' };

const notFound = noticePage({
  title: 'We can’t find this website',
  text: 'It has been deleted for good, or it belongs to a different account. If it is yours, sign out and sign in with its owner’s address.',
  link: toAccount,
});

const restored = noticePage({
  title: 'This website is not being deleted',
  text: 'There is nothing to restore.',
  lit: true,
  link: toAccount,
});
